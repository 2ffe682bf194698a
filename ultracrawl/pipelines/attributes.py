"""Document attributes become search attributes."""

from __future__ import annotations

from dataclasses import fields

from itemadapter import ItemAdapter

from ultracrawl.extensions import Visit
from ultracrawl.model import Document
from ultracrawl.pipelines.base import DocumentPipeline

_FIELDS = frozenset(field.name for field in fields(Document))


class AttributePipeline(DocumentPipeline):
    """Fills `search_attributes` by the attribute map of the source (Ultra Search 5.2, 5.3)."""

    def process(self, item: ItemAdapter, visit: Visit) -> None:
        """Map the attributes of one document; values that do not fit their type are left out and counted."""
        known = {name: value for name, value in item.items() if name in _FIELDS}
        document = item.item if isinstance(item.item, Document) else Document(**{**_identity(visit), **known})
        mapped = self.session.rules.attributes.map(document)
        values = mapped.values
        for name, value in item.get("search_attributes", {}).items():
            values[name] = value
        item["search_attributes"] = values
        self.session.report.dropped_values += len(mapped.dropped)


def _identity(visit: Visit) -> dict[str, str]:
    return {"url": visit.shown_url, "access_url": visit.url, "source": visit.record.source}
