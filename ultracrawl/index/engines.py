"""Opens an index by the name of its engine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from inspect import Parameter, signature
from pathlib import Path
from typing import NamedTuple, cast

from ultracrawl.dataclass import dataclass, field
from ultracrawl.errors import AdvisedError, MissingExtraError, UserError
from ultracrawl.index.engine import ComparesVersions, IndexEngine, Json, OpenEngine
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute
from ultracrawl.system.compiled_core import usable_core
from ultracrawl.system.plugins import ENGINES

_WHOOSH = "ultracrawl.index.whoosh:WhooshIndex"
"""The default engine."""


class _BuiltIn(NamedTuple):
    """What is known of an engine of ours without importing it: a crawl does not, only its index process."""

    extra: str = ""
    """The extra that it needs."""
    package: str = ""
    """The package of that extra."""
    on_servers: bool = False
    """Whether it has options, and several machines write to it; else it is in the configured folder."""


_BUILT_IN = {
    _WHOOSH: _BuiltIn(),
    "ultracrawl.index.tantivy:TantivyIndex": _BuiltIn("tantivy", "tantivy"),
    "ultracrawl.index.opensearch:OpenSearchIndex": _BuiltIn("opensearch", "opensearchpy", on_servers=True),
}
"""By their references; other engines are imported where something has to be known of them."""


class EngineOptionsError(AdvisedError, UserError):
    """Options were given to an engine that has none."""


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """Engine, folder, search attributes and options of an index: all that another process needs to open it."""

    engine: str
    path: Path
    attributes: tuple[SearchAttribute, ...] = ()
    options: Mapping[str, Json] = field(default_factory=dict, repr=False)
    """The options of the engine that are not secret."""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Its secret options, in plain text."""

    @property
    def has_options(self) -> bool:
        """Whether the engine gets options."""
        return bool(self.options or self.secrets)

    def to_json(self) -> str:
        """Return the configuration as one line of JSON, which is visible in process lists: without the options."""
        attributes = [
            {"name": one.name, "type": one.type.value} | ({"searched": True} if one.searched else {})
            for one in self.attributes
        ]
        visible = {"engine": self.engine, "path": str(self.path), "attributes": attributes}
        return json.dumps(visible | ({"has_options": True} if self.has_options else {}))

    def options_to_json(self) -> str:
        """Return the options as one line of JSON, with secrets in plain text."""
        return json.dumps([self.options, self.secrets])

    def shared_name(self) -> str:
        """Return a text that is the same for all crawls that may share an index process; it depends on no secret."""
        return self.to_json() + (json.dumps(self.options, sort_keys=True) if self.options else "")

    @classmethod
    def from_json(cls, text: str, options: str | bytes = "[{}, {}]") -> IndexConfig:
        """Parse the lines of `to_json` and `options_to_json`; raises ValueError for anything else."""
        match json.loads(text), json.loads(options):
            case {"engine": str(engine), "path": str(path), "attributes": list(rows)}, [
                dict(plain),
                dict(secret),
            ]:
                attributes = tuple(
                    SearchAttribute(row["name"], AttributeType(row["type"]), row.get("searched", False))
                    for row in rows
                )
                return cls(engine, Path(path), attributes, plain, secret)
        raise ValueError("not the configuration of an index")


def open_index(config: IndexConfig) -> IndexEngine:
    """Open the index; the first change creates it.

    Raises `UserError` if its engine is not available, or does not take these options.
    """
    attributes = {attribute.name: attribute for attribute in config.attributes}
    opener = _opener(config.engine)
    if not config.has_options:
        return opener(path=config.path, attributes=attributes)
    _require_options(config.engine, opener)
    return opener(path=config.path, attributes=attributes, options={**config.options, **config.secrets})


def is_new(config: IndexConfig) -> bool:
    """Return whether there is certainly no index yet, without opening it."""
    built_in = _built_in(config.engine)
    return built_in is not None and not built_in.on_servers and not config.path.exists()


def has_cheap_commits(engine: str) -> bool:
    """Return whether a commit costs little: the compiled core writes the terms of Whoosh, and of no other engine."""
    return usable_core() is not None and ENGINES.find(engine).reference == _WHOOSH


def check_engine(engine: str, *, has_options: bool = False) -> None:
    """Raise the `UserError` that opening an index of this engine would raise."""
    built_in = _built_in(engine)
    if built_in is None:
        opener = _opener(engine)
        if has_options:
            _require_options(engine, opener)
        return
    if built_in.package and find_spec(built_in.package) is None:
        raise MissingExtraError(f"the index engine {engine}", built_in.extra)
    if has_options and not built_in.on_servers:
        raise _without_options(engine)


def compares_versions(engine: str) -> bool:
    """Return whether several machines may write to an index of this engine (`ComparesVersions`)."""
    built_in = _built_in(engine)
    if built_in is not None:
        return built_in.on_servers
    opener = _opener(engine)
    return isinstance(opener, type) and issubclass(opener, ComparesVersions)


def _built_in(engine: str) -> _BuiltIn | None:
    return _BUILT_IN.get(ENGINES.find(engine).reference)


def _require_options(engine: str, opener: OpenEngine) -> None:
    """Raise an error unless an engine takes options."""
    parameters = signature(opener).parameters.values()
    if not any(one.name == "options" or one.kind is Parameter.VAR_KEYWORD for one in parameters):
        raise _without_options(engine)


def _without_options(engine: str) -> EngineOptionsError:
    return EngineOptionsError(f"the index engine {engine!r} has no options", "remove `options` and `secrets`")


def _opener(engine: str) -> OpenEngine:
    found = ENGINES.load(engine)
    if not callable(found):
        raise ENGINES.find(engine).wrong_type_error("an ultracrawl.index.engine.OpenEngine")
    return cast(OpenEngine, found)
