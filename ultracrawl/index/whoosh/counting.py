"""Counts the values of an attribute over the matches of a search, from the terms of its field."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping

from whoosh.fields import DATETIME, NUMERIC

from ultracrawl.index.engine import FacetValue
from ultracrawl.index.query.facets import as_written, facet_key, most_frequent
from ultracrawl.index.values import attributes_from_json
from ultracrawl.index.whoosh.evaluation import Scores
from ultracrawl.index.whoosh.fields import end_of_values, value_field
from ultracrawl.index.whoosh.postings import read_postings
from ultracrawl.index.whoosh.segments import OpenSegment
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute

Found = Mapping[OpenSegment, Scores]


def count_facet(attribute: SearchAttribute, found: Found, limit: int) -> tuple[FacetValue, ...]:
    """Return the most frequent values of an attribute among the matches of all segments."""
    counts: Counter[str | float] = Counter()
    examples: dict[str | float, tuple[OpenSegment, int]] = {}
    for segment, scores in found.items():
        for value, documents in _values(attribute, segment, scores).items():
            counts[value] += len(documents)
            examples[value] = segment, next(iter(documents))
    best = most_frequent(counts, limit)
    if attribute.type is not AttributeType.STRING:
        return tuple(best)
    return tuple(as_written(one, _stored(*examples[one.value], attribute.name)) for one in best)


def _values(attribute: SearchAttribute, segment: OpenSegment, scores: Scores) -> dict[str | float, set[int]]:
    """Return each value with the matching documents that have it."""
    found: dict[str | float, set[int]] = {}
    end = end_of_values(attribute.type)
    for term, info in segment.terms(value_field(attribute)) if scores else ():
        if end is not None and term >= end:
            break
        documents = scores.keys() & set(read_postings(segment.reader, info).ids)
        if documents:
            found.setdefault(_value(attribute.type, term), set()).update(documents)
    return found


def _value(kind: AttributeType, term: bytes) -> str | float:
    if kind is AttributeType.NUMBER:
        return float(NUMERIC(float).from_bytes(term))
    if kind is AttributeType.DATE:
        return facet_key(DATETIME().from_bytes(term))
    return term.decode()


def _stored(segment: OpenSegment, docnum: int, name: str) -> list[str]:
    stored = attributes_from_json(json.loads(segment.reader.stored_fields(docnum)["attributes"]))
    return [value for value in stored.get(name, ()) if isinstance(value, str)]
