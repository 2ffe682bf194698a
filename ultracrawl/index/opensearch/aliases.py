"""The alias of an index, and the indexes behind it: they are made, filled behind it, and replaced in one step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase

from ultracrawl.errors import IndexStoreError, UserError
from ultracrawl.index.engine import Json
from ultracrawl.index.opensearch.fields import MARK, attributes_of, mapping, settings
from ultracrawl.index.opensearch.server import Servers, StatusError
from ultracrawl.index.stored_fields import SCHEMA_VERSION
from ultracrawl.rules.attributes.schema import SearchAttribute


@dataclass(frozen=True, slots=True)
class CurrentIndex:
    """The index behind the alias."""

    name: str
    schema: int
    attributes: Mapping[str, SearchAttribute]


class Alias:
    """The alias that searches and writers use, on its servers."""

    def __init__(self, servers: Servers, options: Mapping[str, Json]) -> None:
        self._servers = servers
        self._options = options
        self._known: CurrentIndex | None = None

    def known(self) -> CurrentIndex | None:
        """Return what `current` found last, or asks for; another process may have replaced it since."""
        return self._known or self.current()

    def forget(self) -> None:
        """Ask anew what is behind the alias."""
        self._known = None

    def current(self) -> CurrentIndex | None:
        """Return the index behind the alias; None if there is none. Raises `UserError` if it is not ours."""
        self._known = None
        found = self._servers.find("GET", f"/{self._servers.name}/_mapping")
        if not found:
            return None
        known = [(name, one["mappings"].get("_meta", {}).get(MARK)) for name, one in found.items()]
        (name, meta), *others = known
        if others or meta is None or name == self._servers.name:
            raise UserError(f"{self._servers.where} is not one that ultracrawl made; choose another `name`")
        self._known = CurrentIndex(name, int(meta["schema"]), attributes_of(meta["attributes"]))
        return self._known

    def blocks(self, index: CurrentIndex) -> list[str]:
        """Return the blocks of an index: `write` before it is replaced, `read_only_allow_delete` on a full disk."""
        found = self._servers.find("GET", f"/{index.name}/_settings/index.blocks.*", flat_settings="true")
        blocks = found[index.name]["settings"] if found else {}
        return [name.removeprefix("index.blocks.") for name, value in blocks.items() if value == "true"]

    def create_first(self, attributes: Mapping[str, SearchAttribute]) -> CurrentIndex:
        """Create the index with its alias, and return it; that of another process, if that was earlier."""
        try:
            self._create("0", attributes, {self._servers.name: {}})
        except StatusError as error:
            if error.status != 400:
                raise
            made = self.current()
            if made is None:
                raise
            return made
        made = self.current()
        assert made is not None
        return made

    def create(self, attributes: Mapping[str, SearchAttribute]) -> str:
        """Create an index that no alias names yet, and return its name."""
        return self._create(datetime.now(UTC).strftime("%Y%m%d%H%M%S%f"), attributes, {})

    def _create(
        self, suffix: str, attributes: Mapping[str, SearchAttribute], aliases: dict[str, Json]
    ) -> str:
        name = f"{self._servers.name}-{SCHEMA_VERSION}-{suffix}"
        self._refuse_templates(name)
        shards, replicas = (
            int(str(self._options.get(one, least))) for one, least in (("shards", 1), ("replicas", 1))
        )
        body: dict[str, Json] = {"settings": settings(shards, replicas), "mappings": mapping(attributes)}
        body["aliases"] = aliases
        self._servers.ask("PUT", f"/{name}", body, wait_for_active_shards=1)
        return name

    def _refuse_templates(self, name: str) -> None:
        """Raise `UserError` if a template of others, apart from those for all indexes, would change this one."""
        with suppress(StatusError):  # who may not read templates may not have made one, either
            composed = self._servers.ask("GET", "/_index_template")["index_templates"]
            found = {one["name"]: one["index_template"]["index_patterns"] for one in composed}
            former = self._servers.ask("GET", "/_template").items()
            found |= {other: one["index_patterns"] for other, one in former}
            for template, patterns in found.items():
                if any(pattern != "*" and fnmatchcase(name, pattern) for pattern in patterns):
                    raise UserError(
                        f"{self._servers.where} would be changed by the template {template!r}, which ultracrawl did "
                        "not make; choose another `name`"
                    )

    def turn(self, name: str, former: CurrentIndex) -> None:
        """Let the alias name an index, and delete the former one, in one step."""
        actions: list[Json] = [
            {"add": {"index": name, "alias": self._servers.name}},
            {"remove_index": {"index": former.name}},
        ]
        self._servers.ask("POST", "/_aliases", {"actions": actions})
        self.forget()

    @contextmanager
    def blocked(self, index: CurrentIndex) -> Iterator[None]:
        """Let nobody write to an index; what was being written is in it."""
        path = f"/{index.name}/_settings"
        self._servers.ask("PUT", f"/{index.name}/_block/write")
        try:
            yield
        except BaseException:
            with suppress(IndexStoreError):
                self._servers.ask("PUT", path, {"index.blocks.write": None})
            raise

    def refresh(self, name: str) -> None:
        """Let searches find what was written."""
        self._servers.ask("POST", f"/{name}/_refresh")
