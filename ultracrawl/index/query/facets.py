"""Facets: counts of attribute values among the matches of a search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ultracrawl.index.engine import FacetValue, SearchQuery
from ultracrawl.index.filters import Operator
from ultracrawl.model import AttributeValue

_KEPT = frozenset({Operator.ALL_OF, Operator.NOT_EQUAL})
"""Filters that restrict a facet of the same attribute, because they do not choose one of several values."""


def without_own_filters(query: SearchQuery, attribute: str) -> SearchQuery:
    """Return the query by which the values of an attribute are counted: itself, or with disjunctive facets another.

    That one lacks the filters by which a value of the attribute is one of several that are wanted (`=`, ranges,
    comparisons); filters that exclude a value, or require all of several, remain.
    """
    if not query.disjunctive_facets:
        return query
    own = attribute.casefold()
    filters = tuple(one for one in query.filters if one.attribute.casefold() != own or one.operator in _KEPT)
    where = tuple(one for one in query.where if one[0].casefold() != own)
    same = (filters, where) == (query.filters, query.where)
    return query if same else replace(query, filters=filters, where=where)


def without_sources(query: SearchQuery) -> SearchQuery:
    """Return the query by which the documents of every source are counted."""
    return replace(query, source="", sources=()) if query.source or query.sources else query


def source_counts(counts: Mapping[str, int]) -> tuple[FacetValue, ...]:
    """Return the number of matches of each source that has any, the highest first."""
    return tuple(most_frequent(counts, len(counts)))


def group_counts(
    sources: Iterable[FacetValue], groups: Mapping[str, Sequence[str]]
) -> tuple[FacetValue, ...]:
    """Return the number of matches of each data group that has any; `groups` are the sources of each."""
    counts = {one.value: one.count for one in sources}
    return source_counts({name: sum(counts.get(one, 0) for one in held) for name, held in groups.items()})


def facet_key(value: AttributeValue) -> str | float:
    """Return the key that a value is counted by: strings in lower case, dates by their year."""
    if isinstance(value, datetime):
        return f"{value.year:04}"
    return value.strip().lower() if isinstance(value, str) else value


def most_frequent(counts: Mapping[str, int] | Mapping[str | float, int], limit: int) -> list[FacetValue]:
    """Return the values with the highest counts; of equal counts the smaller value first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], _numeric_key(item[0]), str(item[0])))
    return [FacetValue(value, count) for value, count in ordered[: max(0, limit)] if count]


def _numeric_key(value: str | float) -> float:
    return 0.0 if isinstance(value, str) else value


def with_original_case(found: FacetValue, values: Iterable[AttributeValue]) -> FacetValue:
    """Return the facet value in its original case; `values` are those of a document that has it."""
    for value in values:
        if isinstance(value, str) and facet_key(value) == found.value:
            return FacetValue(value.strip(), found.count)
    return found
