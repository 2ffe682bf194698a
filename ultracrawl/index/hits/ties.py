"""Orders equal matches by URL, so that answers do not depend on the order in which documents were added."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby, islice
from typing import TypeVar

from ultracrawl.index.engine import IndexDocument
from ultracrawl.index.stored_fields import SORT_KEY_LIMIT, values_of_type
from ultracrawl.model import AttributeValue
from ultracrawl.rules.attributes.schema import SearchAttribute

RERANK_LIMIT = 50
"""Number of best matches that are reranked, and whose ties are ordered by URL."""

Place = TypeVar("Place")
Match = tuple[float, Place]
"""A match with its score."""


def rounded_score(score: float) -> float:
    """Return a score in five digits: what differs behind them depends on the order in which it was added up."""
    return float(f"{score:.5g}")


def url_and_source(document: IndexDocument) -> tuple[str, str]:
    """Return what orders documents that are equal otherwise; no two documents of an index have the same."""
    return document.url, document.source


def with_ordered_ties(
    matches: Sequence[Match[Place]], read: Callable[[Place], IndexDocument]
) -> Iterator[Match[Place]]:
    """Yield matches that are sorted by score, those with equal scores in the order of their URLs.

    Only the first `RERANK_LIMIT` are ordered: the same ones for each page of results. `read` returns the document of a
    match; it is called for those with equal scores.
    """
    return _ordered(matches, lambda match: rounded_score(match[0]), read)


def with_ordered_values(
    matches: Sequence[Match[Place]], attribute: SearchAttribute, read: Callable[[Place], IndexDocument]
) -> Iterator[Match[Place]]:
    """Yield matches that are sorted by an attribute, those with equal values in the order of their URLs.

    See `with_ordered_ties`; here each document is read.
    """
    return _ordered(matches, lambda match: _sort_key(attribute, read(match[1])), read)


def _ordered(
    matches: Sequence[Match[Place]],
    key: Callable[[Match[Place]], object],
    read: Callable[[Place], IndexDocument],
) -> Iterator[Match[Place]]:
    for _, group in groupby(islice(matches, RERANK_LIMIT), key):
        equal = list(group)
        if len(equal) > 1:
            equal.sort(key=partial(_name, read))
        yield from equal
    yield from islice(matches, RERANK_LIMIT, None)


def _name(read: Callable[[Place], IndexDocument], match: Match[Place]) -> tuple[str, str]:
    return url_and_source(read(match[1]))


def _sort_key(attribute: SearchAttribute, document: IndexDocument) -> AttributeValue | None:
    """Return what engines sort a document by: the start of a text in lower case, else the value; None without one."""
    values = document.attributes.get(attribute.name, ())
    first = next(iter(values_of_type(attribute.type, tuple(values))), None)
    return first.strip().lower()[:SORT_KEY_LIMIT] or None if isinstance(first, str) else first
