"""Solr as a destination: JSON updates, with field names of the dynamic fields of its default configuration."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from ultracrawl.index.destinations.engines.engine_destination import JSON, EngineServer, line_of
from ultracrawl.index.engine import Json
from ultracrawl.model import AttributeValue
from ultracrawl.rules.attributes.schema import with_fields

_TEXTS = ("title", "text", "content")
_STRINGS = ("document", "source", "url", "url_without_anchor", "anchor", "type")
_NUMBERS = ("depth", "position")
_NO_NAME = re.compile(r"\W")


class SolrDestination(EngineServer):
    """A core or collection of Solr; `url` ends before its name, as `http://localhost:8983/solr`."""

    def prepare_collection(self) -> None:
        """Check that there is such a core."""
        self.request("GET", f"/{self.collection}/select?q=*:*&rows=0&wt=json")

    def remove_documents(self, keys: Sequence[str]) -> None:
        """Remove records by their document."""
        query = {"delete": {"query": f"{{!terms f=document_s}}{','.join(keys)}"}}
        self.request("POST", f"/{self.collection}/update", query)

    def put_records(self, records: Iterable[dict[str, Json]]) -> None:
        """Add or replace records."""
        for body in self.client.batches(line_of(dict(_fields(record))) for record in records):
            array = b"[" + body.rstrip().replace(b"\n", b",") + b"]"
            self.client.send("POST", f"/{self.collection}/update", array, JSON)

    def finish(self) -> None:
        """Commit, so that what was sent is on disk and found."""
        self.request("POST", f"/{self.collection}/update", {"commit": {}})


def _fields(record: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """Yield the fields of a record under names whose endings say their types."""
    yield "id", record["id"]
    yield "acl_ss", record["acl"]
    yield "public_b", record["public"]
    for names, ending in ((_TEXTS, "txt"), (_STRINGS, "s"), (_NUMBERS, "i")):
        yield from ((f"{name}_{ending}", record[name]) for name in names if record.get(name) is not None)
    titles = cast(Mapping[str, Json], record.get("hierarchy") or {})
    yield from ((f"hierarchy_{level}_txt", title) for level, title in titles.items() if title is not None)
    attributes = cast(Mapping[str, list[AttributeValue]], record["attributes"])
    if weight := cast(Mapping[str, Json], record.get("weight")):
        yield from ((f"{name}_i", value) for name, value in weight.items())
        attributes = with_fields(attributes)  # META of scrapers has names of its own there
    for name, values in attributes.items():
        ending = "ss" if any(isinstance(value, str) for value in values) else "ds"
        yield f"{_NO_NAME.sub('_', name)}_{ending}", cast(Json, values)
