"""Opens an index by the name of its engine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from ultracrawl.index.engine import IndexEngine, OpenEngine
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute
from ultracrawl.system.plugins import ENGINES

_WHOOSH = "ultracrawl.index.whoosh:WhooshIndex"
"""The default engine: known without an import to be available, and to store its index in the configured folder."""


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """Engine, folder and search attributes of an index: all that another process needs to open it."""

    engine: str
    path: Path
    attributes: tuple[SearchAttribute, ...] = ()

    def to_json(self) -> str:
        """Return the configuration as one line of JSON."""
        attributes = [{"name": attribute.name, "type": attribute.type.value} for attribute in self.attributes]
        return json.dumps({"engine": self.engine, "path": str(self.path), "attributes": attributes})

    @classmethod
    def from_json(cls, text: str) -> IndexConfig:
        """Parse such a line; raises ValueError for anything else."""
        match json.loads(text):
            case {"engine": str(engine), "path": str(path), "attributes": list(rows)}:
                attributes = tuple(SearchAttribute(row["name"], AttributeType(row["type"])) for row in rows)
                return cls(engine, Path(path), attributes)
        raise ValueError("not the configuration of an index")


def open_index(config: IndexConfig) -> IndexEngine:
    """Open the index; the first change creates it. Raises `UserError` if its engine is not available."""
    attributes = {attribute.name: attribute for attribute in config.attributes}
    return _opener(config.engine)(path=config.path, attributes=attributes)


def is_new(config: IndexConfig) -> bool:
    """Return whether there is certainly no index yet, without opening it."""
    return ENGINES.find(config.engine).reference == _WHOOSH and not config.path.exists()


def check_engine(engine: str) -> None:
    """Raise the `UserError` that opening an index of this engine would raise."""
    if ENGINES.find(engine).reference != _WHOOSH:
        _opener(engine)


def _opener(engine: str) -> OpenEngine:
    found = ENGINES.load(engine)
    if not callable(found):
        raise ENGINES.find(engine).wrong_type_error("an ultracrawl.index.engine.OpenEngine")
    return cast(OpenEngine, found)
