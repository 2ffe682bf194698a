"""Maps document attributes to search attributes."""

from __future__ import annotations

from typing import Any

from ultracrawl.model import Document
from ultracrawl.pipelines.base import DocumentPipeline
from ultracrawl.pipelines.fields import (
    DOCUMENT_FIELDS,
    SEARCH_ATTRIBUTES,
    ItemFields,
    attributes_of,
    fill_field,
    text_of,
)
from ultracrawl.rules.attributes.mapping import listed
from ultracrawl.run import Visit

_TEXTS = frozenset({"title", "text", "language", "mimetype", "last_modified"})


class AttributePipeline(DocumentPipeline):
    """Fills `search_attributes` from the attribute map of the source (Ultra Search 5.2, 5.3).

    For a spider without a definition the map is `ULTRACRAWL_ATTRIBUTES`, and every field of an item is an attribute.
    """

    def process(self, item: ItemFields, visit: Visit) -> None:
        """Map the attributes of one document; values that do not fit their type are dropped and counted."""
        if isinstance(item.item, Document):
            document = item.item
        else:
            document = _plain_document(item, visit) if self._plain else _document(item, visit)
        rules = self._context.rules.attributes
        mapped, given = rules.map(document), item.get(SEARCH_ATTRIBUTES)
        values, dropped = mapped.values, len(mapped.dropped)
        if given:
            own = rules.typed(given)
            values, dropped = {**values, **own.values}, dropped + len(own.dropped)
        visit.note_search_attributes(values)
        fill_field(item, SEARCH_ATTRIBUTES, {name: [*several] for name, several in values.items()})
        self._context.counters.count_dropped_values(dropped)


def _document(item: ItemFields, visit: Visit) -> Document:
    """Return an item that is not a `Document` as one; its attributes may be single values."""
    known = {name: _text(name, value) for name, value in item.items() if name in DOCUMENT_FIELDS}
    attributes = item.get("attributes", {})
    known["attributes"] = {
        str(name).lower(): [str(member) for member in listed(value) if member is not None]
        for name, value in attributes.items()
    }
    return Document(**{**_identity(visit), **known})


def _plain_document(item: ItemFields, visit: Visit) -> Document:
    """Return an item of a spider without a definition as a document, whatever its fields contain."""
    texts: dict[str, Any] = {name: text_of(item.get(name)) for name in _TEXTS}
    return Document(**{**_identity(visit), **texts, "attributes": attributes_of(item)})


def _text(name: str, value: Any) -> Any:
    """Return the value of a field; numbers in text fields become strings. Raises `TypeError` for other values."""
    if name not in _TEXTS or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return str(value)
    raise TypeError(f"`{name}` of a document is {type(value).__name__}, not a text")


def _identity(visit: Visit) -> dict[str, str]:
    return {"url": visit.display_url, "access_url": visit.url, "source": visit.record.source}
