"""The alias of an index, and the indexes behind it: they are made, filled behind it, and replaced in one step.

An index that is being filled has an alias of its own, and a mark with the time (of the servers' manager) at which the
process that fills it was last at work. Both a replacement and the removal of what a killed process left behind begin
with taking that alias away, which only one of them can do: no removal, however late, meets an index in use.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from fnmatch import fnmatchcase

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import IndexStoreError, UserError
from ultracrawl.index.engine import Json
from ultracrawl.index.opensearch.fields import MAPPING_VERSION, MARK, attributes_of, mapping, marks, settings
from ultracrawl.index.opensearch.server import Servers, StatusError
from ultracrawl.index.stored_fields import SCHEMA_VERSION
from ultracrawl.rules.attributes.schema import SearchAttribute

logger = logging.getLogger(__name__)

ABANDONED_SECONDS = 900
"""Seconds without work after which an index that was being filled counts as left behind."""
_WRITE = "write"
"""The block of an index that another one is about to replace."""
_RENEWED_SECONDS = 60.0
"""Seconds after which the process that fills an index says again that it is at work."""


@dataclass(frozen=True, slots=True)
class CurrentIndex:
    """The index behind the alias."""

    name: str
    schema: int
    mapping: int
    attributes: Mapping[str, SearchAttribute]

    @property
    def is_current(self) -> bool:
        """Whether this version of the program made it; an older one is searched as it is, and not written to."""
        return (self.schema, self.mapping) == (SCHEMA_VERSION, MAPPING_VERSION)


class NewIndex:
    """An index that is filled before it takes the place of another one."""

    def __init__(self, servers: Servers, name: str, attributes: Mapping[str, SearchAttribute]) -> None:
        self._servers = servers
        self._marks = {**marks(attributes), "alias": servers.name}
        self._renewed = time.monotonic()
        self.name = name
        self.blocked = ""
        """The index that it is about to replace, and that takes no changes meanwhile."""
        self.blocked_at: dict[str, int] = {}
        """The number of the last change in each shard of that index when it was blocked."""

    @property
    def alias(self) -> str:
        """The alias under which it is filled: who writes to it does not make an index that was removed."""
        return filled_alias(self.name)

    def marked(self) -> dict[str, Json]:
        """Return what its `_meta` says now."""
        return {**self._marks, "renewed": time_of(self._servers), "blocked": self.blocked}

    def renew(self, *, at_once: bool = False) -> None:
        """Say that its process is at work, if it did not just say so. Raises `StatusError` if it was removed."""
        if at_once or time.monotonic() - self._renewed >= _RENEWED_SECONDS:
            self._servers.ask("PUT", f"/{self.name}/_mapping", {"_meta": {MARK: self.marked()}})
            self._renewed = time.monotonic()


def filled_alias(index: str) -> str:
    """Return the alias that an index has as long as it is filled."""
    return f"{index}-filling"


def time_of(servers: Servers) -> int:
    """Return the time of the servers' manager in seconds; 0 if they do not say it."""
    with suppress(StatusError, LookupError, TypeError, ValueError, AttributeError):
        found = servers.ask("GET", "/_nodes/_cluster_manager/stats/process")["nodes"]
        return max(int(one["timestamp"]) for one in found.values()) // 1000
    return 0


def change_numbers(servers: Servers, index: str) -> dict[str, list[int]]:
    """Return the number of the last change in each copy of each shard of an index."""
    shards = servers.ask("GET", f"/{index}/_stats", level="shards")["indices"][index]["shards"]
    return {shard: [int(one["seq_no"]["max_seq_no"]) for one in copies] for shard, copies in shards.items()}


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
        versions = int(meta["schema"]), int(meta.get("mapping", 1))
        self._known = CurrentIndex(name, *versions, attributes_of(meta["attributes"]))
        return self._known

    def blocks(self, index: CurrentIndex) -> list[str]:
        """Return the blocks of an index: `write` before it is replaced, `read_only_allow_delete` on a full disk."""
        found = self._servers.find("GET", f"/{index.name}/_settings/index.blocks.*", flat_settings="true")
        blocks = found[index.name]["settings"] if found else {}
        return [name.removeprefix("index.blocks.") for name, value in blocks.items() if value == "true"]

    def copies(self, index: CurrentIndex) -> tuple[int, int]:
        """Return the number of shards of an index, and of copies of each; 0 if the servers do not say it."""
        with suppress(StatusError, LookupError, TypeError, ValueError):
            path = f"/{index.name}/_settings/index.number_of_*"
            made = self._servers.ask("GET", path, flat_settings="true")[index.name]["settings"]
            return int(made["index.number_of_shards"]), int(made["index.number_of_replicas"])
        return 0, 0

    def create_first(self, attributes: Mapping[str, SearchAttribute]) -> CurrentIndex:
        """Create the index with its alias, and return it; that of another process, if that was earlier."""
        try:
            self._create(f"{self._prefix}-0", attributes, marks(attributes), self._servers.name)
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

    @property
    def _prefix(self) -> str:
        return f"{self._servers.name}-{SCHEMA_VERSION}"

    @contextmanager
    def new_index(self, attributes: Mapping[str, SearchAttribute]) -> Iterator[NewIndex]:
        """Create an index that nobody searches yet; it is removed unless it takes the place of another one.

        So is what earlier processes left behind.
        """
        self.remove_abandoned()
        suffix = datetime.now(UTC).strftime("%Y%m%d%H%M%S%f")
        made = NewIndex(self._servers, f"{self._prefix}-{suffix}", attributes)
        self._create(made.name, attributes, made.marked(), made.alias)
        try:
            yield made
        except BaseException:
            with suppress(IndexStoreError):
                self._remove(made.name)
            if made.blocked:
                with suppress(IndexStoreError):
                    self._unblock(made)
            raise

    def _create(
        self, name: str, attributes: Mapping[str, SearchAttribute], marked: dict[str, Json], alias: str
    ) -> None:
        self._refuse_templates(name)
        shards, replicas = (
            int(str(self._options.get(one, least))) for one, least in (("shards", 1), ("replicas", 1))
        )
        body: Json = {
            "settings": settings(shards, replicas),
            "mappings": mapping(attributes, marked),
            "aliases": {alias: {}},
        }
        self._servers.ask("PUT", f"/{name}", body, wait_for_active_shards=1)

    def remove_abandoned(self) -> None:
        """Remove the indexes of this alias that were being filled by processes that have not been at work for long."""
        with suppress(StatusError):  # who may not see them cannot remove them
            for index in self._filled(abandoned=True):
                logger.info(
                    "%s: %s is removed, which a killed process left behind", self._servers.where, index
                )
                self._remove(index)

    def _filled(self, *, abandoned: bool) -> dict[str, Mapping[str, Json]]:
        """Return the marks of the indexes that processes are filling, or (`abandoned`) were filling long ago."""
        name = self._servers.name
        found = self._servers.find("GET", f"/{name}-*", filter_path="*.aliases,*.mappings._meta") or {}
        marked: dict[str, Mapping[str, Json]] = {}
        for index, one in found.items():
            known = one.get("mappings", {}).get("_meta", {}).get(MARK, {})
            is_named = re.fullmatch(re.escape(name) + r"-\d+-\d+", index) is not None
            is_unused = set(one.get("aliases", ())) <= {filled_alias(index)}
            if is_named and is_unused and known.get("alias") == name and known.get("renewed"):
                marked[index] = known
        latest = time_of(self._servers) - ABANDONED_SECONDS if marked else 0
        return {
            index: known
            for index, known in marked.items()
            if (int(str(known["renewed"])) < latest) is abandoned
        }

    def _remove(self, index: str) -> None:
        """Remove an index that was being filled, unless it has taken the place of another one meanwhile."""
        alias = filled_alias(index)
        if self._servers.find("GET", f"/{index}/_alias/{alias}"):
            action: Json = {"remove": {"index": index, "alias": alias, "must_exist": True}}
            self._servers.ask("POST", "/_aliases", {"actions": [action]})
        elif self._servers.find("GET", f"/{index}/_alias/{self._servers.name}"):
            return
        self._servers.find("DELETE", f"/{index}")

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

    def turn(self, new: NewIndex, former: CurrentIndex) -> None:
        """Let the alias name a filled index, and delete the former one, in one step.

        Raises `StatusError` if one of them is gone, and `IndexStoreError` if somebody wrote to the former one since it
        was blocked, or may have.
        """
        if new.blocked and (
            _WRITE not in self.blocks(former) or self._last_changes(former) != new.blocked_at
        ):
            why = "others have written to it while it was being replaced"
            raise IndexStoreError(f"{self._servers.where}: {why}; begin anew")
        actions: list[Json] = [
            {"remove": {"index": new.name, "alias": new.alias, "must_exist": True}},
            {"add": {"index": new.name, "alias": self._servers.name}},
            {"remove_index": {"index": former.name}},
        ]
        self._servers.ask("POST", "/_aliases", {"actions": actions})
        self.forget()

    def block(self, index: CurrentIndex, new: NewIndex) -> None:
        """Let nobody write to an index that another one is about to replace; what was being written is in it.

        `new_index` takes the block away if that fails.
        """
        new.blocked = index.name
        new.renew(at_once=True)  # another one that gives up then leaves the block
        self._servers.ask("PUT", f"/{index.name}/_block/write")
        new.blocked_at = self._last_changes(index)

    def _last_changes(self, index: CurrentIndex) -> dict[str, int]:
        """Return the number of the last change in each shard: a block may be taken away and set again unseen."""
        return {shard: max(copies) for shard, copies in change_numbers(self._servers, index.name).items()}

    def _unblock(self, new: NewIndex) -> None:
        """Let others write again to the index that was not replaced, unless another process is about to."""
        with suppress(StatusError):  # who may not see the others is taken to be alone
            others = {name: mark for name, mark in self._filled(abandoned=False).items() if name != new.name}
            if any(mark.get("blocked") == new.blocked for mark in others.values()):
                return
        self._servers.ask("PUT", f"/{new.blocked}/_settings", {"index.blocks.write": None})

    def refresh(self, name: str) -> None:
        """Let searches find what was written."""
        self._servers.ask("POST", f"/{name}/_refresh")
