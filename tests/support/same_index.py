"""Compares two indexes whole: what they keep of every document, and what their words find."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from support.project import Workspace
from ultracrawl.index import IndexEngine, SearchQuery
from ultracrawl.index.project_index import open_index
from ultracrawl.index.values import attributes_to_json, extras_to_json
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions

MOST_TOLD = 20
"""Differences that are named."""

Kept = dict[str, list[dict[str, Any]]]


def index_differences(expected: Workspace, found: Workspace) -> list[str]:
    """Return in what the index of one project differs from that of another one, which crawled the same address."""
    first, second = _open(expected), _open(found)
    try:
        wrong = [f"the index is not sound: {what}" for what in second.check()]
        kept, other = _kept(first), _kept(second)
        wrong += _of_fields(kept, other)
        wrong += _of_words(first, second, _queries(kept, other))
    finally:
        first.close()
        second.close()
    return wrong[:MOST_TOLD] + ([f"and {len(wrong) - MOST_TOLD} more"] if len(wrong) > MOST_TOLD else [])


def _open(workspace: Workspace) -> IndexEngine:
    return open_index(require(read_definitions(workspace.directory / "ultracrawl.yaml")))


def _kept(index: IndexEngine) -> Kept:
    """Return every field of every document by URL; one that is held twice stands twice."""
    found: Kept = {}
    for one in index.documents():
        fields = {
            "source": one.source,
            "title": one.title,
            "text": one.text,
            "attributes": attributes_to_json(one.attributes),
            "secret": one.secret_text,
            "anchors": list(one.anchors),
            **extras_to_json(one),
        }
        found.setdefault(one.url, []).append(fields)
    return found


def _of_fields(expected: Kept, found: Kept) -> Iterator[str]:
    for url in sorted(expected.keys() | found.keys()):
        here, there = expected.get(url, []), found.get(url, [])
        if len(here) != 1 or len(there) != 1:
            if len(here) != len(there):
                yield f"{url}: {len(there)} documents, not {len(here)}"
            continue
        for name in sorted(here[0].keys() | there[0].keys()):
            value, other = here[0].get(name), there[0].get(name)
            if other != value:
                yield f"{url}: {name} {other!r}, not {value!r}"


def _queries(*indexes: Kept) -> list[str]:
    """Return a phrase for every title and text of links, and for the beginning of every text."""
    said = (
        text
        for documents in indexes
        for (one, *_) in documents.values()
        for text in (*one["anchors"], one["title"], " ".join(one["text"].split()[:3]))
    )
    return sorted({f'"{text}"' for text in said if text and '"' not in text})


def _of_words(expected: IndexEngine, found: IndexEngine, queries: list[str]) -> Iterator[str]:
    for query in queries:
        here, there = _hits(expected, query), _hits(found, query)
        if here != there:
            yield f"{query} finds {sorted(there - here)} too, and not {sorted(here - there)}"


def _hits(index: IndexEngine, query: str) -> set[str]:
    found = index.search(SearchQuery(query, limit=1000, suggest=False))
    return {hit.url for hit in found.hits}
