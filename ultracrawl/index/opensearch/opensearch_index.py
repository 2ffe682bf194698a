"""The engine: applies changes, runs searches, and fills a new index behind the alias where the mapping changes."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ultracrawl.errors import IndexDamagedError, IndexStoreError
from ultracrawl.index.changes import last_changes, with_anchors
from ultracrawl.index.engine import (
    UNLIMITED,
    Change,
    IndexDocument,
    IndexFacts,
    Json,
    Lease,
    NewAnchors,
    SearchQuery,
    SearchResult,
    ServerFacts,
)
from ultracrawl.index.opensearch.aliases import Alias, CurrentIndex
from ultracrawl.index.opensearch.fencing import Fences
from ultracrawl.index.opensearch.fields import (
    REST,
    WHOLE,
    bulk_lines,
    key_of,
    new_document,
    stored_document,
    stored_parts,
)
from ultracrawl.index.opensearch.filling import AT_ONCE, Filling, readable
from ultracrawl.index.opensearch.merging import merge_segments
from ultracrawl.index.opensearch.scanning import Scan
from ultracrawl.index.opensearch.server import GoneError, Servers, reason_of
from ultracrawl.index.stored_fields import UPGRADE_NOTICE
from ultracrawl.rules.attributes.schema import SearchAttribute
from ultracrawl.system.nouns import counted

if TYPE_CHECKING:
    from ultracrawl.index.opensearch.searches import Searches

logger = logging.getLogger(__name__)

_MOST_SOURCES = 10_000
_SOURCES_SECONDS = 5.0
"""Seconds for which the names of the sources are kept: another process may add one."""
_MARKED: dict[str, Json] = {"_source": ["identity"]}


class OpenSearchIndex:
    """An index on servers, reached by an alias; several processes may have it open and write at the same time.

    `apply` sends a batch in requests of bounded size: after a crash a part of it may be visible, and the batch is sent
    again. An index that is rebuilt is written to until another one replaces it.
    """

    def __init__(
        self,
        path: Path,
        attributes: Mapping[str, SearchAttribute],
        options: Mapping[str, Json] | None = None,
    ) -> None:
        self._servers = Servers(options or {})
        self._alias = Alias(self._servers, options or {})
        self._fences = Fences(self._servers)
        self._attributes = dict(attributes)
        self._sources: tuple[float, tuple[str, ...]] | None = None
        """The names of the sources, and until when they are kept."""
        self._is_tidy = False
        """Whether what killed processes left behind was looked for."""

    def apply(self, changes: Iterable[Change]) -> int:
        """See `IndexEngine.apply`."""
        return self.apply_version(changes, 0)

    def apply_version(self, changes: Iterable[Change], version: int, lease: Lease = UNLIMITED) -> int:
        """See `ComparesVersions.apply_version`."""
        last = {key_of(*key): change for key, change in last_changes(changes).items()}
        if not last:
            return 0
        index = self._writable()
        made = self._with_anchors(last)
        self._sources = None
        try:
            self._write(made, version, index, lease)
        except GoneError:
            if lease.holder() is None:
                raise
            self._fences.require_last(lease)
            self._write(made, version, self._writable(), lease)  # another index took its place meanwhile
        self._alias.refresh(self._servers.name)
        return sum(isinstance(change, IndexDocument) for change in last.values())

    def _write(self, made: Mapping[str, Change], version: int, index: CurrentIndex, lease: Lease) -> None:
        known = {name: one for name, one in self._attributes.items() if name in index.attributes}
        rows = (
            (key, new_document(one, known) if isinstance(one, IndexDocument) else None, version)
            for key, one in made.items()
        )
        with self._fences.alias(index.name, lease) as alias:
            self._servers.write(bulk_lines(alias, rows), by_alias=True, seconds_left=lease.seconds_left)

    def forget_holders(self, source: str) -> None:
        """See `ComparesVersions.forget_holders`."""
        if (index := self._alias.current()) is not None:
            self._fences.remove(index.name, source)

    def search(self, query: SearchQuery) -> SearchResult:
        """See `IndexEngine.search`."""
        return self._searches.search(query)

    @cached_property
    def _searches(self) -> Searches:
        from ultracrawl.index.opensearch.searches import Searches  # noqa: PLC0415 - writers need none

        return Searches(self._servers, self._alias, self._attributes)

    def count(self, source: str = "") -> int:
        """See `IndexEngine.count`."""
        query: Json = {"term": {"source": source}} if source else {"match_all": {}}
        found = self._servers.find("POST", f"/{self._servers.name}/_count", {"query": query})
        return int(found["count"]) if found else 0

    def refresh(self) -> None:
        """See `ComparesVersions.refresh`."""
        if (index := self._alias.current()) is not None:
            self._alias.refresh(index.name)

    def missing(self, source: str, urls: Sequence[str]) -> set[str]:
        """See `ComparesVersions.missing`."""
        if not urls or self._alias.current() is None:
            return set(urls)
        body: Json = {"ids": [key_of(source, url) for url in urls]}
        found = self._servers.ask("POST", f"/{self._servers.name}/_mget", body, _source="false")["docs"]
        for one in found:
            if "error" in one:
                raise IndexStoreError(f"{self._servers.where} cannot be read: {reason_of(one)}")
        return {url for url, one in zip(urls, found, strict=True) if not one["found"]}

    def sources(self) -> tuple[str, ...]:
        """See `IndexEngine.sources`; what other processes add or remove is known after five seconds."""
        if self._sources is None or self._sources[0] <= self._servers.now():
            self._sources = self._servers.now() + _SOURCES_SECONDS, tuple(self._source_counts())
        return self._sources[1]

    def urls(self, source: str = "") -> Iterator[tuple[str, str]]:
        """See `IndexEngine.urls`."""
        index = self._alias.current()
        query: Json = {"term": {"source": source}} if source else {"match_all": {}}
        for hit in Scan(self._servers, index.name, query, _MARKED) if index else ():
            owner, url = hit["_source"]["identity"]
            yield owner, url

    def documents(self) -> Iterator[IndexDocument]:
        """See `IndexEngine.documents`; the whole text of every document is stored."""
        index = self._alias.current()
        for hit in Scan(self._servers, index.name, {"match_all": {}}, WHOLE) if index else ():
            if (document := readable(hit)) is not None:
                yield document

    def maintain(self) -> None:
        """Do nothing: the servers merge segments."""

    def reclaim(self) -> bool:
        """Do nothing: the servers free the space of deleted documents when they merge."""
        return False

    def optimise(self) -> None:
        """See `IndexEngine.optimise`; it is a task of the servers, which goes on if this process ends."""
        if (index := self._alias.current()) is not None:
            merge_segments(self._servers, index.name)
            self._servers.ask("POST", f"/{index.name}/_flush")  # the disk lets go of the former segments
            self._alias.refresh(index.name)  # so do searches

    def facts(self) -> IndexFacts:
        """See `IndexEngine.facts`."""
        index = self._alias.current()
        if index is None:
            return IndexFacts("opensearch", 0, 0, 0, 0, 0, {}, server=ServerFacts(self._servers.version))
        # Servers keep the size of a folder for ten seconds; those of its files are the ones of now.
        path = f"/{index.name}/_stats/docs,segments"
        found = self._servers.ask("GET", path, include_segment_file_sizes="true")["_all"]["primaries"]
        documents, segments = found["docs"], found["segments"]
        shards, replicas = self._alias.copies(index)
        return IndexFacts(
            "opensearch",
            documents["count"],
            documents["deleted"],
            segments["count"],
            sum(kind["size_in_bytes"] for kind in segments.get("file_sizes", {}).values()),
            index.schema,
            self._source_counts(),
            server=ServerFacts(
                self._servers.version, index.name, shards, replicas, index.mapping, index.is_current
            ),
        )

    def check(self) -> list[str]:
        """See `IndexEngine.check`: health, blocks, and whether every document can be read."""
        index = self._alias.current()
        if index is None:
            return []
        problems = []
        if self._servers.ask("GET", f"/_cluster/health/{index.name}")["status"] == "red":
            problems.append(f"{self._servers.where} has lost shards")
        problems += [f"{self._servers.where} is blocked: {block}" for block in self._alias.blocks(index)]
        hits = Scan(self._servers, index.name, {"match_all": {}}, WHOLE)
        unreadable = sum(readable(hit) is None for hit in hits)
        return [*problems, *([f"{counted(unreadable, 'document')} cannot be read"] if unreadable else [])]

    def rebuild(self) -> int:
        """See `IndexEngine.rebuild`; the old index is searched until the new one replaces it."""
        index = self._alias.current()
        return 0 if index is None else self._replace(index)

    def bring_up_to_date(self) -> bool:
        """See `IndexEngine.bring_up_to_date`."""
        index = self._alias.current()
        if index is None or index.is_current:
            return False
        self._replace(index)
        return True

    def clear(self) -> None:
        """See `IndexEngine.clear`; the old index is deleted."""
        self._sources = None
        index = self._alias.current()
        if index is None:
            self._alias.create_first(self._attributes)
        else:
            with self._alias.new_index(self._attributes) as made:
                self._alias.turn(made, index)

    def close(self) -> None:
        """See `IndexEngine.close`."""
        self._servers.close()

    def _writable(self) -> CurrentIndex:
        """Return an index with a field for every attribute and the current schema version."""
        if not self._is_tidy:
            self._alias.remove_abandoned()
            self._is_tidy = True
        index = self._alias.current()
        if index is None:
            index = self._alias.create_first(self._attributes)
        missing = [name for name, one in self._attributes.items() if index.attributes.get(name) != one]
        if not index.is_current:
            logger.warning(UPGRADE_NOTICE, self._servers.where)
        elif not missing:
            return index
        self._replace(index)
        made = self._alias.current()
        assert made is not None
        return made

    def _replace(self, index: CurrentIndex) -> int:
        """Fill a new index from what the old one stores, and let it take its place; return its number of documents.

        Others may write meanwhile: they wait only while their last changes are copied.
        """
        attributes = {**index.attributes, **self._attributes}
        with self._alias.new_index(attributes) as made:
            filling = Filling(self._servers, index.name, made, attributes)
            filling.copy()
            self._alias.block(index, made)
            number = filling.catch_up()
            if not number and self.count():
                raise IndexDamagedError(f"{self._servers.where} has no document that can be read")
            self._alias.turn(made, index)
        return number

    def _with_anchors(self, changes: Mapping[str, Change]) -> dict[str, Change]:
        """Return the changes with documents in place of new anchor texts; without those that change nothing."""
        keys: list[Json] = [key for key, change in changes.items() if isinstance(change, NewAnchors)]
        found: dict[str, IndexDocument] = {}
        for start in range(0, len(keys), AT_ONCE):
            body: Json = {"ids": keys[start : start + AT_ONCE]}
            path, asked = (
                f"/{self._servers.name}/_mget",
                {"_source": "stored", "stored_fields": REST},
            )
            answer = self._servers.ask("POST", path, body, **asked)
            found |= {
                one["_id"]: stored_document(stored_parts(one)) for one in answer["docs"] if one.get("found")
            }
        made: dict[str, Change] = {}
        for key, change in changes.items():
            if not isinstance(change, NewAnchors):
                made[key] = change
            elif key in found and (changed := with_anchors(found[key], change)) != found[key]:
                made[key] = changed
        return made

    def _source_counts(self) -> dict[str, int]:
        terms: Json = {"terms": {"field": "source", "size": _MOST_SOURCES, "order": {"_key": "asc"}}}
        body: Json = {"size": 0, "aggs": {"sources": terms}}
        found = self._servers.find("POST", f"/{self._servers.name}/_search", body)
        buckets = found["aggregations"]["sources"]["buckets"] if found else []
        return {str(one["key"]): int(one["doc_count"]) for one in buckets}
