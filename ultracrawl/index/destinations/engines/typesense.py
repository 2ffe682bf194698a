"""Typesense as a destination: imports of lines of JSON, each with an answer of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import ClassVar
from urllib.parse import quote

from ultracrawl.index.destinations.engines.engine_destination import EngineServer, line_of
from ultracrawl.index.destinations.http_client import TRANSIENT_STATUSES
from ultracrawl.index.engine import Json

SCHEMA = {
    "enable_nested_fields": True,
    "fields": [
        *({"name": name, "type": "string", "facet": True} for name in ("document", "source")),
        {"name": "acl", "type": "string[]", "facet": True},
        {"name": "public", "type": "bool", "facet": True},
        {"name": ".*", "type": "auto"},
    ],
}


class TypesenseDestination(EngineServer):
    """A collection of Typesense."""

    KEY_HEADER: ClassVar = ("X-TYPESENSE-API-KEY", "{}")

    def prepare_collection(self) -> None:
        """Make the collection, or check that records can be removed by document."""
        status, found = self.request("GET", f"/collections/{self.collection}", accept=(404,))
        if status == 404:
            self.request("POST", "/collections", {"name": self.collection, **SCHEMA})
        elif "document" not in (field["name"] for field in found["fields"]):
            raise self.client.failure(
                f"the collection {self.collection} was made by something else; name another"
            )

    def remove_documents(self, keys: Sequence[str]) -> None:
        """Remove records by their document."""
        condition = quote(f"document:=[{','.join(keys)}]")
        self.request("DELETE", f"/collections/{self.collection}/documents?filter_by={condition}")

    def put_records(self, records: Iterable[dict[str, Json]]) -> None:
        """Add or replace records; those that the server is too busy for fail the delivery."""
        path = f"/collections/{self.collection}/documents/import?action=upsert&dirty_values=coerce_or_drop"
        for body, answer in self.send_lines(path, map(line_of, records)):
            for line, result in zip(body.splitlines(), map(json.loads, answer.splitlines()), strict=True):
                if result.get("success"):
                    continue
                if result.get("code") in TRANSIENT_STATUSES:
                    raise self.client.failure(f"a record was not stored: {result.get('error')}")
                self.leave_out(json.loads(line)["id"], result.get("error"))
