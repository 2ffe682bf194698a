"""From an engine's name to the engine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from ultracrawl.index.engine import IndexEngine, OpenEngine
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute
from ultracrawl.system.plugins import ENGINES

_IN_FOLDER = "ultracrawl.index.whoosh:WhooshIndex"
"""An engine of which two things are known without importing it: it can be used, and its index lies in the folder."""


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """Which engine, where, with which search attributes: all that another process needs to open an index."""

    engine: str
    path: Path
    attributes: tuple[SearchAttribute, ...] = ()

    def to_json(self) -> str:
        """Return the configuration as one line of JSON."""
        attributes = [{"name": attribute.name, "type": attribute.type.value} for attribute in self.attributes]
        return json.dumps({"engine": self.engine, "path": str(self.path), "attributes": attributes})

    @classmethod
    def from_json(cls, text: str) -> IndexConfig:
        """Turn the line back; raises ValueError for anything else."""
        match json.loads(text):
            case {"engine": str(engine), "path": str(path), "attributes": list(rows)}:
                attributes = tuple(SearchAttribute(row["name"], AttributeType(row["type"])) for row in rows)
                return cls(engine, Path(path), attributes)
        raise ValueError("not the configuration of an index")


def open_index(config: IndexConfig) -> IndexEngine:
    """Open the index; the first change creates it. Raises `UserError` if its engine cannot be used."""
    attributes = {attribute.name: attribute for attribute in config.attributes}
    return _opener(config.engine)(path=config.path, attributes=attributes)


def is_new(config: IndexConfig) -> bool:
    """Return whether it is certain, without opening it, that there is no index yet."""
    return ENGINES.find(config.engine).reference == _IN_FOLDER and not config.path.exists()


def check_engine(engine: str) -> None:
    """Raise the `UserError` that opening an index of this engine would raise."""
    if ENGINES.find(engine).reference != _IN_FOLDER:
        _opener(engine)


def _opener(engine: str) -> OpenEngine:
    found = ENGINES.load(engine)
    if not callable(found):
        raise ENGINES.find(engine).wrong_type_error("an ultracrawl.index.engine.OpenEngine")
    return cast(OpenEngine, found)
