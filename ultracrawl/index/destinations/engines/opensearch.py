"""OpenSearch and Elasticsearch as destinations: bulk requests (`POST _bulk`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

from ultracrawl.index.destinations.engines.engine_destination import EngineServer, line_of
from ultracrawl.index.destinations.engines.records import FACETS
from ultracrawl.index.destinations.http_client import TRANSIENT_STATUSES
from ultracrawl.index.engine import Json

_KEYWORD = {"type": "keyword", "ignore_above": 8000}
_TEXT_OF_KEYWORD = {**_KEYWORD, "fields": {"text": {"type": "text"}}}
MAPPING = {
    "date_detection": False,
    "dynamic_templates": [
        {
            "texts": {
                "path_match": "attributes.*",
                "match_mapping_type": "string",
                "mapping": _TEXT_OF_KEYWORD,
            }
        },
        {"titles": {"path_match": "hierarchy*.*", "mapping": {"type": "text"}}},
        *(  # META of scrapers: a number on one page, a text on the next
            {f"{kind}s": {"match_mapping_type": kind, "path_unmatch": "*.*", "mapping": _KEYWORD}}
            for kind in ("string", "long", "double", "boolean")
        ),
    ],
    "properties": {
        **dict.fromkeys(
            (
                "id",
                "objectID",
                "document",
                "source",
                "url",
                "url_without_anchor",
                "anchor",
                "type",
                "acl",
                *FACETS,
            ),
            _KEYWORD,
        ),
        **{name: {"type": "text"} for name in ("title", "text", "content")},
        "public": {"type": "boolean"},
        "depth": {"type": "integer"},
        "position": {"type": "integer"},
    },
}


class OpenSearchDestination(EngineServer):
    """An index of OpenSearch or Elasticsearch. Each item of a bulk request has a status of its own."""

    KEY_HEADER: ClassVar = ("Authorization", "ApiKey {}")

    def prepare_collection(self) -> None:
        """Make the index with a mapping, or check its mapping."""
        status, found = self.request("GET", f"/{self.collection}/_mapping", accept=(404,))
        if status == 404:
            self.request("PUT", f"/{self.collection}", {"mappings": MAPPING})
            return
        mappings = [one.get("mappings", {}).get("properties", {}) for one in (found or {}).values()]
        if not all(one.get("document", {}).get("type") == "keyword" for one in mappings):
            raise self.client.failure(f"the index {self.collection} was made by something else; name another")

    def remove_documents(self, keys: Sequence[str]) -> None:
        """Remove records by their document; those that were just put are made visible first."""
        self.request("POST", f"/{self.collection}/_refresh")
        query = {"query": {"terms": {"document": list(keys)}}}
        _, result = self.request("POST", f"/{self.collection}/_delete_by_query?conflicts=proceed", query)
        failures = (result or {}).get("failures") or (result or {}).get("version_conflicts")
        if failures:
            raise self.client.failure(f"documents could not be removed: {failures}")

    def put_records(self, records: Iterable[dict[str, Json]]) -> None:
        """Index records; items that the server is too busy for are sent again."""
        for body, answer in self.send_lines("/_bulk", self._lines(records)):
            busy, pauses = self._busy_of(body, answer), self.client.pauses("it is too busy")
            while busy:
                next(pauses)
                ((sent, answered),) = self.send_lines("/_bulk", [busy])
                busy = self._busy_of(sent, answered)

    def _lines(self, records: Iterable[dict[str, Json]]) -> Iterator[bytes]:
        for record in records:
            action = {"index": {"_index": self.collection, "_id": record["id"]}}
            yield line_of(action) + line_of(record)

    def _busy_of(self, body: bytes, answer: bytes) -> bytes:
        """Return the lines of a bulk request to send again; refused ones are reported."""
        items: list[dict[str, Any]] = json.loads(answer).get("items", [])
        lines = body.splitlines(keepends=True)
        again = []
        for number, item in enumerate(items):
            (result,) = item.values()
            status = result.get("status", 200)
            if status in TRANSIENT_STATUSES:
                again += lines[2 * number : 2 * number + 2]
            elif status >= 400:
                self.leave_out(result.get("_id", ""), result.get("error"))
        return b"".join(again)
