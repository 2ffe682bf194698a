"""Fills a new index from what an old one stores, while others write to the old one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from ultracrawl.index.engine import IndexDocument, Json
from ultracrawl.index.opensearch.aliases import NewIndex, change_numbers
from ultracrawl.index.opensearch.fields import (
    WHOLE,
    Row,
    bulk_lines,
    new_document,
    stored_document,
    stored_parts,
)
from ultracrawl.index.opensearch.scanning import Scan
from ultracrawl.index.opensearch.server import Servers
from ultracrawl.rules.attributes.schema import SearchAttribute

AT_ONCE = 200
"""Documents that are copied, or compared, at once."""


class Filling:
    """The way of documents, with their versions, from an old index into a new one."""

    def __init__(
        self, servers: Servers, old: str, new: NewIndex, attributes: Mapping[str, SearchAttribute]
    ) -> None:
        self._servers = servers
        self._old = old
        self._new = new
        self._attributes = attributes
        self._from = 0
        """The number of the first change that is not copied, in the shard that has least."""

    def copy(self) -> None:
        """Copy all documents; what is written to the old index meanwhile may be missing."""
        numbers = change_numbers(self._servers, self._old).values()
        self._from = 1 + min(number for copies in numbers for number in copies)
        self._copy({"match_all": {}})

    def catch_up(self) -> int:
        """Copy what was changed, and remove what was deleted, since `copy`; returns how many documents there are.

        Nobody may write to the old index.
        """
        self._copy({"range": {"_seq_no": {"gte": self._from}}})
        if self._count(self._old) != self._count(self._new.name):
            self._remove_deleted()
        return self._count(self._new.name)

    def _copy(self, query: Json) -> None:
        self._servers.ask("POST", f"/{self._old}/_refresh")
        rows: list[Row] = []
        for hit in Scan(self._servers, self._old, query, WHOLE):
            if (document := readable(hit)) is not None:
                rows.append((hit["_id"], new_document(document, self._attributes), int(hit["_version"])))
            if len(rows) >= AT_ONCE:
                self._write(rows)
                rows.clear()
        self._write(rows)
        self._servers.ask("POST", f"/{self._new.name}/_refresh")

    def _remove_deleted(self) -> None:
        """Delete the documents that only the new index has."""
        keys: list[Json] = []
        for hit in Scan(self._servers, self._new.name, {"match_all": {}}, {"_source": False}):
            keys.append(hit["_id"])
            if len(keys) >= AT_ONCE:
                self._remove_missing(keys)
                keys.clear()
        self._remove_missing(keys)
        self._servers.ask("POST", f"/{self._new.name}/_refresh")

    def _remove_missing(self, keys: list[Json]) -> None:
        if keys:
            body: Json = {"ids": keys}
            found = self._servers.ask("POST", f"/{self._old}/_mget", body, _source="false")["docs"]
            self._write([(one["_id"], None, 0) for one in found if not one["found"]])

    def _write(self, rows: Iterable[Row]) -> None:
        self._new.renew()
        self._servers.write(bulk_lines(self._new.alias, rows), by_alias=True)

    def _count(self, index: str) -> int:
        return int(self._servers.ask("POST", f"/{index}/_count")["count"])


def readable(hit: Mapping[str, Any]) -> IndexDocument | None:
    """Return a stored document; None for one that is damaged."""
    with suppress(ValueError, KeyError, TypeError):
        return stored_document(stored_parts(hit))
    return None
