"""From an engine's name to the engine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ultracrawl.errors import MissingExtraError, UserError
from ultracrawl.index.engine import IndexEngine
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute

ENGINES = ("whoosh", "tantivy", "memory")
"""The names of all engines; the first is the default."""


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
    """Open the index; the first change creates it. Raises `UserError` for an unknown engine."""
    attributes = {attribute.name: attribute for attribute in config.attributes}
    if config.engine == "memory":
        from ultracrawl.index.memory import MemoryIndex  # noqa: PLC0415 - as the other engines

        return MemoryIndex(attributes)
    if config.engine == "whoosh":
        from ultracrawl.index.whoosh import WhooshIndex  # noqa: PLC0415 - an engine's library loads when it is used

        return WhooshIndex(config.path, attributes)
    if config.engine == "tantivy":
        require_engine("tantivy")
        from ultracrawl.index.tantivy import TantivyIndex  # noqa: PLC0415 - an extra that may be missing

        return TantivyIndex(config.path, attributes)
    raise UserError(f"unknown index engine {config.engine!r}; known are: {', '.join(ENGINES)}")


def require_engine(engine: str) -> None:
    """Raise `MissingExtraError` if an engine cannot be used for want of its library; nothing is loaded."""
    if engine == "tantivy" and find_spec("tantivy") is None:
        raise MissingExtraError("the index engine tantivy", "tantivy")
