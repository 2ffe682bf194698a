"""Reads all hits of a query in pages, however many there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from ultracrawl.errors import IndexStoreError
from ultracrawl.index.engine import Json
from ultracrawl.index.opensearch.server import Answer, Servers, StatusError

PAGE = 500
"""Hits of one request."""
_KEPT = "5m"
"""How long the servers keep a snapshot that nobody asks for."""
_FORGOTTEN = 404
"""The status code of a request that names a snapshot that the servers no longer have."""
_WITHOUT_SNAPSHOTS = frozenset({400, 403, 404, 405, 501})
"""Status codes of servers, or of proxies before them, that make no snapshots, or not for this user."""


class Scan:
    """All hits of a query, shard by shard, in the order of their last changes, with these parts of their documents.

    The hits are those of a snapshot ("point in time"). If the servers make none, or forget it, as in a restart, it goes
    on where it was: then a document that is changed meanwhile comes once more. A shard that cannot be read is an error.
    """

    def __init__(self, servers: Servers, index: str, query: Json, parts: Mapping[str, Json]) -> None:
        self._servers = servers
        self._index = index
        self._body: dict[str, Json] = {
            "query": query,
            **parts,
            "sort": ["_seq_no"],  # unique in a shard
            "size": PAGE,
            "version": True,
            "track_total_hits": False,
        }
        self._snapshot = ""
        self._shards = 0

    def __iter__(self) -> Iterator[Answer]:
        try:
            self._open()
            for shard in range(self._shards):
                place: Json = None
                while hits := self._hits(shard, place):
                    yield from hits
                    place = hits[-1]["sort"]
        finally:
            self._close()

    def _hits(self, shard: int, place: Json) -> list[Mapping[str, Any]]:
        """Return the next hits of a shard after a place."""
        try:
            return self._page(shard, place)
        except StatusError as error:
            if error.status != _FORGOTTEN or not self._snapshot:
                raise
        self._open()
        return self._page(shard, place)

    def _page(self, shard: int, place: Json) -> list[Mapping[str, Any]]:
        body = self._body if place is None else {**self._body, "search_after": place}
        if not self._snapshot:
            path, where = f"/{self._index}/_search", {"preference": f"_shards:{shard}"}
        else:
            path, where = "/_search", {}
            body = {**body, "pit": {"id": self._snapshot, "keep_alive": _KEPT}}
            if self._shards > 1:  # as many slices as shards are the shards
                body["slice"] = {"id": shard, "max": self._shards}
        answer = self._servers.ask("POST", path, body, allow_partial_search_results="false", **where)
        self._snapshot = answer.get("pit_id", "")
        return list(answer["hits"]["hits"])

    def _open(self) -> None:
        path = f"/{self._index}/_search/point_in_time"
        try:
            made = self._servers.ask("POST", path, keep_alive=_KEPT, allow_partial_pit_creation="false")
            self._snapshot = made["pit_id"]
        except StatusError as error:
            if error.status not in _WITHOUT_SNAPSHOTS:
                raise
            self._snapshot = ""
            made = self._servers.ask("POST", f"/{self._index}/_count")
        self._shards = int(made["_shards"]["total"])

    def _close(self) -> None:
        if self._snapshot:
            with suppress(IndexStoreError):  # they forget it by themselves
                self._servers.ask("DELETE", "/_search/point_in_time", {"pit_id": [self._snapshot]})
