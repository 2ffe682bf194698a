"""Typesense as a destination: imports of lines of JSON, each with an answer of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from ultracrawl.index.destinations.engines.engine_destination import EngineServer, line_of
from ultracrawl.index.destinations.engines.records import DOCSEARCH, FACETS, LISTS
from ultracrawl.index.destinations.http_client import TRANSIENT_STATUSES
from ultracrawl.index.engine import Json
from ultracrawl.model.page import SECTION_LEVELS

SCHEMA: dict[str, Any] = {
    "enable_nested_fields": True,
    "fields": [
        *({"name": name, "type": "string", "facet": True} for name in ("document", "source")),
        {"name": "acl", "type": "string[]", "facet": True},
        {"name": "public", "type": "bool", "facet": True},
        {"name": ".*", "type": "auto"},
    ],
}

_TITLES = [
    {"name": f"{group}.lvl{level}", "type": "string", "optional": True, "facet": True}
    for group in ("hierarchy", "hierarchy_radio")
    for level in range(SECTION_LEVELS)
]
SCHEMA_OF_SCRAPERS = {
    **SCHEMA,
    "fields": [
        *SCHEMA["fields"][:-1],
        {"name": "url", "type": "string", "facet": True},
        {"name": "item_priority", "type": "int64"},
        *(
            {"name": name, "type": "string[]" if name in LISTS else "string", "facet": True, "optional": True}
            for name in ("type", *FACETS)
        ),
        *({"name": name, "type": "string", "optional": True} for name in ("anchor", "content")),
        *_TITLES,
        {"name": ".*", "type": "auto"},
    ],
    "default_sorting_field": "item_priority",
}
"""That of typesense-docsearch-scraper: its box groups by `url` and sorts by `item_priority`."""


class TypesenseDestination(EngineServer):
    """A collection of Typesense."""

    KEY_HEADER: ClassVar = ("X-TYPESENSE-API-KEY", "{}")

    def prepare_collection(self) -> None:
        """Make the collection, or check that records can be removed by document."""
        status, found = self.request("GET", f"/collections/{self.collection}", accept=(404,))
        schema = SCHEMA_OF_SCRAPERS if self.form == DOCSEARCH else SCHEMA
        if status == 404:
            self.request("POST", "/collections", {"name": self.collection, **schema})
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
        made = map(_with_priority, records) if self.form == DOCSEARCH else records
        for body, answer in self.send_lines(path, map(line_of, made)):
            for line, result in zip(body.splitlines(), map(json.loads, answer.splitlines()), strict=True):
                if result.get("success"):
                    continue
                if result.get("code") in TRANSIENT_STATUSES:
                    raise self.client.failure(f"a record was not stored: {result.get('error')}")
                self.leave_out(json.loads(line)["id"], result.get("error"))


def _with_priority(record: Mapping[str, Json]) -> dict[str, Json]:
    """Return a record with one number for its weight: rank of the page, level, and earlier before later ones."""
    weight: Any = record["weight"]
    place = max(0, 999 - weight["position"])
    return {**record, "item_priority": weight["page_rank"] * 10**9 + weight["level"] * 1000 + place}
