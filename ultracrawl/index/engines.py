"""From an engine's name to the engine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from ultracrawl.index.engine import IndexEngine, OpenEngine
from ultracrawl.plugins import ENGINES
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute


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
    return engine_opener(config.engine)(path=config.path, attributes=attributes)


def engine_opener(engine: str) -> OpenEngine:
    """Return what opens indexes of an engine. Raises `UserError` if it cannot be used."""
    found = ENGINES.load(engine)
    if not callable(found):
        raise ENGINES.find(engine).unfit("an ultracrawl.index.engine.OpenEngine")
    return cast(OpenEngine, found)
