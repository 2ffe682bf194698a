"""Document attributes become search attributes."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from itemadapter import ItemAdapter

from ultracrawl.crawl import Visit
from ultracrawl.model import Document
from ultracrawl.pipelines.base import DocumentPipeline
from ultracrawl.rules.attributes.mapping import listed

_FIELDS = frozenset(field.name for field in fields(Document))
_TEXTS = frozenset({"title", "text", "language", "mimetype", "last_modified"})


class AttributePipeline(DocumentPipeline):
    """Fills `search_attributes` by the attribute map of the source (Ultra Search 5.2, 5.3)."""

    def process(self, item: ItemAdapter, visit: Visit) -> None:
        """Map the attributes of one document; values that do not fit their type are left out and counted."""
        document = item.item if isinstance(item.item, Document) else _document(item, visit)
        rules = self._context.rules.attributes
        mapped, own = rules.map(document), rules.typed(item.get("search_attributes", {}))
        item["search_attributes"] = {**mapped.values, **own.values}
        self._context.counters.count_dropped_values(len(mapped.dropped) + len(own.dropped))


def _document(item: ItemAdapter, visit: Visit) -> Document:
    """Return an item of another kind as a document; its attributes may be written as single values."""
    known = {name: _text(name, value) for name, value in item.items() if name in _FIELDS}
    attributes = item.get("attributes", {})
    known["attributes"] = {
        str(name).lower(): [str(one) for one in listed(value) if one is not None]
        for name, value in attributes.items()
    }
    return Document(**{**_identity(visit), **known})


def _text(name: str, value: Any) -> Any:
    """Return the value of a field, a number as a text where a text belongs. Raises `TypeError` for anything else."""
    if name not in _TEXTS or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return str(value)
    raise TypeError(f"`{name}` of a document is {type(value).__name__}, not a text")


def _identity(visit: Visit) -> dict[str, str]:
    return {"url": visit.shown_url, "access_url": visit.url, "source": visit.record.source}
