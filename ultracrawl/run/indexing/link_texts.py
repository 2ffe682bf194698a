"""Compares the texts of links that an index has of documents with those that pages have."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice

from ultracrawl.index import IndexEngine
from ultracrawl.model import UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.stores import LinkTexts, Store

PAGE = 2000
"""Documents that are compared at once."""


def indexed_texts(index: IndexEngine, sources: Collection[str]) -> Iterator[tuple[str, dict[str, LinkTexts]]]:
    """Yield sources with the texts of links to their documents by display URL, some at a time."""
    rows = (
        (
            document.source,
            document.url,
            LinkTexts(
                tuple(sorted(document.anchors)),
                tuple(sorted((part, text) for part, text in document.section_anchors)),
            ),
        )
        for document in index.documents()
        if document.source in sources
    )
    while page := list(islice(rows, PAGE)):
        by_source: dict[str, dict[str, LinkTexts]] = {}
        for source, url, texts in page:
            by_source.setdefault(source, {})[url] = texts
        yield from by_source.items()


def differing_texts(state: Store, indexed: Mapping[str, LinkTexts]) -> list[int]:
    """Return the keys of documents whose texts in an index are not those that the store counts.

    Those that are due are left out: the next run sends them.
    """
    records = state.records.get_records([url_key(url) for url in indexed])
    urls = {key: url for url in indexed if (key := _key_of(state, records, url)) is not None}
    wanted = state.links.anchor_texts(urls)
    different = [key for key, url in urls.items() if indexed[url] != wanted.get(key, LinkTexts())]
    return [key for key in sorted(different) if not _is_due(state, key)]


def _key_of(state: Store, records: Mapping[int, UrlRecord], url: str) -> int | None:
    """Return the key of the URL that stands for a document; None if none does."""
    record = records.get(url_key(url))
    if record is None or not record.searchable or record.shown_url != url:
        record = next((one for one in state.records.with_display_url(url) if one.searchable), None)
    return None if record is None else url_key(record.url)


def _is_due(state: Store, key: int) -> bool:
    return key in state.links.documents_due(key - 1, 1)
