"""Facets: counts of attribute values among the matches of a search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from ultracrawl.index.engine import FacetValue
from ultracrawl.model import AttributeValue


def facet_key(value: AttributeValue) -> str | float:
    """Return the key that a value is counted by: strings in lower case, dates by their year."""
    if isinstance(value, datetime):
        return f"{value.year:04}"
    return value.strip().lower() if isinstance(value, str) else value


def most_frequent(counts: Mapping[str | float, int], limit: int) -> list[FacetValue]:
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
