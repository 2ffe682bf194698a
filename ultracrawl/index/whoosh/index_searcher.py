"""Runs one search over one snapshot of the index, which concurrent commits do not change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice
from operator import itemgetter
from typing import Any

from whoosh.fields import DATETIME, NUMERIC

from ultracrawl.index.budget import SearchBudget
from ultracrawl.index.engine import FacetValue, IndexDocument, SearchQuery, SearchResult
from ultracrawl.index.hits.completing import completing_names
from ultracrawl.index.hits.copies import shown_matches
from ultracrawl.index.hits.document_cache import DocumentCache
from ultracrawl.index.hits.hit_builder import HitBuilder
from ultracrawl.index.hits.matching import Matcher
from ultracrawl.index.hits.passages import PassageFinder
from ultracrawl.index.hits.reranking import Reranker
from ultracrawl.index.hits.ties import RERANK_LIMIT, with_ordered_values
from ultracrawl.index.query.boosts import Boosts
from ultracrawl.index.query.facets import (
    facet_key,
    most_frequent,
    source_counts,
    with_original_case,
    without_own_filters,
    without_sources,
)
from ultracrawl.index.query.parser import parse_facets, parse_sort
from ultracrawl.index.query.query_builder import MOST_BEGINNINGS, build_query_tree
from ultracrawl.index.query.scoring import STATISTICS_FIELDS, statistics_fields
from ultracrawl.index.query.spelling import check_spelling
from ultracrawl.index.query.tree import Node
from ultracrawl.index.query.visibility import hidden_from
from ultracrawl.index.stored_fields import RESTRICTED, document_id
from ultracrawl.index.whoosh.evaluation import Evaluation, Scores
from ultracrawl.index.whoosh.fields import NO_VALUE, schema_fields, value_field, value_terms_end
from ultracrawl.index.whoosh.postings import read_postings
from ultracrawl.index.whoosh.segments import OpenSegment, Snapshot
from ultracrawl.index.whoosh.stored_documents import documents_of, stored_document, unstored_text
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute

ScoresBySegment = Mapping[OpenSegment, Scores]
Place = tuple[OpenSegment, int]
"""Segment and document number."""
Ranked = tuple[float, Place]
"""A match with its score."""


class IndexSearcher:
    """One search; also the statistics of the index that it needs (`query_builder.IndexStatistics`)."""

    def __init__(
        self,
        snapshot: Snapshot,
        attributes: Mapping[str, SearchAttribute],
        query: SearchQuery,
    ) -> None:
        self._snapshot = snapshot
        self._attributes = attributes
        self._query = query
        self._kept = query.documents or DocumentCache()
        self._finding = Evaluation(snapshot, attributes, kept=self._kept)
        """Looks for single documents; what it has read of a condition holds for all of them."""

    def run(self) -> SearchResult:
        """Return the result; raises `UserError`."""
        query = self._query
        node = build_query_tree(query, self._attributes, self)
        order = parse_sort(query.sort, self._attributes)
        facets = parse_facets(query.facets, self._attributes)
        budget = query.budget or SearchBudget()
        kept = self._kept
        evaluation = Evaluation(self._snapshot, self._attributes, budget, kept)
        found = self._matches(node, evaluation)
        if query.boosts:
            self._boost(found, query.boosts)
        total = sum(map(len, found.values()))
        wanted = max(0, query.offset) + max(0, query.limit)
        matcher = Matcher(node, self._snapshot.languages, kept.folded)

        if order[0]:
            matches = (
                (score, (segment, n)) for segment, scores in found.items() for n, score in scores.items()
            )
            ranked: Iterable[Ranked] = with_ordered_values(
                _sorted(list(matches), *order), order[0], self._read
            )
        else:
            ranked = Reranker(node, query, self, matcher).rerank(
                _best(found, wanted + RERANK_LIMIT), self._read
            )
        hits = HitBuilder(node, query, matcher, budget)

        def whole(place: Place) -> IndexDocument:
            document = self._read(place)
            rest = unstored_text(*place) if hits.needs_rest(document) else ""
            return replace(document, text=document.text + rest) if rest else document

        passages = PassageFinder(self, whole, hits.best_section)
        shown, folded = shown_matches(query, ranked, self._read, passages)
        return SearchResult(
            total - folded,
            tuple(hits.hit(whole(place), score, copies) for score, place, copies in shown),
            {
                facet.name: count_facet(
                    facet,
                    self._counted(without_own_filters(query, facet.name), found, evaluation),
                    query.facet_limit,
                    budget,
                )
                for facet in facets
            },
            *check_spelling(query, node, self, total),
            exceeded=tuple(budget.exceeded),
            sources=_count_sources(self._counted(without_sources(query), found, evaluation))
            if query.count_sources
            else (),
            names=completing_names(query, self._attributes, self),
        )

    def _read(self, place: Place) -> IndexDocument:
        segment, number = place
        return self._kept.document((segment.name, number), lambda: stored_document(segment, number))

    def _matches(self, node: Node, evaluation: Evaluation) -> ScoresBySegment:
        return {segment: evaluation.run(node, segment) for segment in self._snapshot.segments}

    def _counted(self, query: SearchQuery, found: ScoresBySegment, evaluation: Evaluation) -> ScoresBySegment:
        """Return the matches of a query with fewer conditions; `found` are those of the search itself."""
        if query is self._query:
            return found
        return self._matches(build_query_tree(query, self._attributes, self), evaluation)

    @property
    def document_count(self) -> int:
        """See `IndexStatistics.document_count`."""
        return self._snapshot.documents

    def document_frequency(self, word: str) -> int:
        """See `IndexStatistics.document_frequency`."""
        return sum(
            max(self._visible_frequency(segment, name, word) for name in statistics_fields(word))
            for segment in self._snapshot.segments
        )

    def document_frequencies(self, words: Iterable[str]) -> dict[str, int]:
        """See `IndexStatistics.document_frequencies`."""
        return {word: self.document_frequency(word) for word in words}

    @property
    def languages(self) -> frozenset[str]:
        """See `IndexStatistics.languages`."""
        return self._snapshot.languages

    def words_beginning_with(
        self, prefix: str, fields: Sequence[str] = STATISTICS_FIELDS, most: int = MOST_BEGINNINGS
    ) -> dict[str, dict[str, int]]:
        """See `IndexStatistics.words_beginning_with`."""
        found: dict[str, dict[str, int]] = {}
        for segment in self._snapshot.segments:
            for name in fields:
                for word, documents in islice(segment.frequencies(name, prefix), most):
                    counts = found.setdefault(word, {})
                    counts[name] = counts.get(name, 0) + documents
        return found

    def _visible_frequency(self, segment: OpenSegment, name: str, word: str) -> int:
        hidden = self._hidden[segment]
        return (
            len(set(segment.postings(name, word).ids) - hidden) if hidden else segment.frequency(name, word)
        )

    @cached_property
    def _hidden(self) -> dict[OpenSegment, AbstractSet[int]]:
        """Hidden and deleted documents by segment; empty where the searcher may see all documents."""
        found: dict[OpenSegment, AbstractSet[int]] = {segment: set() for segment in self._snapshot.segments}
        evaluation = Evaluation(self._snapshot, self._attributes)
        node = hidden_from(self._query)
        for segment in self._snapshot.segments:
            if self._has_hidden(segment):
                found[segment] = segment.deleted | evaluation.run(node, segment).keys()
        return found

    def _has_hidden(self, segment: OpenSegment) -> bool:
        if self._query.principals is not None and segment.frequency("acl", RESTRICTED):
            return True
        return any(segment.frequency("source", source) for source in self._query.excluded_sources)

    def find_document(self, wanted: Node) -> IndexDocument | None:
        """See `IndexStatistics.find_document`."""
        for _, place in _best(self._matches(wanted, self._finding), 1):
            document = self._read(place)
            return next(documents_of(place[0], place[1:]), None) if document.secret_text else document
        return None

    def _boost(self, found: Mapping[OpenSegment, Scores], boosts: Boosts) -> None:
        for segment, scores in found.items():
            for mask, factor in boosts:
                for docnum in _with_url(segment, mask):
                    if docnum in scores:
                        scores[docnum] *= factor


def _with_url(segment: OpenSegment, mask: str) -> Iterator[int]:
    """Yield the documents with this URL, or with this URL prefix if the mask ends with `*`."""
    for source in segment.sources:
        key = document_id(source, mask.removesuffix("*"))
        if mask.endswith("*"):
            for postings in segment.with_prefix("id", key):
                yield from postings.ids
        else:
            yield from segment.find(key)


def _best(found: Mapping[OpenSegment, Scores], number: int) -> list[Ranked]:
    """Return the best matches by falling score, equal ones in their order in the index.

    Sorting all scores in C takes a fraction of the time of a heap of matches.
    """
    scores = sorted(chain.from_iterable(one.values() for one in found.values()), reverse=True)
    least = scores[min(number, len(scores)) - 1] if scores else 0.0
    matches = [
        (score, (segment, n)) for segment, one in found.items() for n, score in one.items() if score >= least
    ]
    matches.sort(key=itemgetter(0), reverse=True)
    return matches[:number]


def _sorted(matches: list[Ranked], attribute: SearchAttribute | None, descending: bool) -> list[Ranked]:
    """Sort by the first value of the attribute; documents without one come last in either order."""
    assert attribute is not None
    name = value_field(attribute)
    kind = schema_fields({attribute.name: attribute})[name].column_type
    columns = {segment: segment.column(name, kind) for segment in {segment for _, (segment, _) in matches}}
    keyed: list[tuple[Any, Ranked]] = []  # all numbers or all bytes
    without = []
    for match in matches:
        segment, docnum = match[1]
        column = columns[segment]
        key = column[docnum] if column is not None else NO_VALUE
        if key in (b"", NO_VALUE):
            without.append(match)
        else:
            keyed.append((key, match))
    keyed.sort(key=lambda pair: pair[0], reverse=descending)
    return [match for _, match in keyed] + without


def _count_sources(found: ScoresBySegment) -> tuple[FacetValue, ...]:
    counts: Counter[str] = Counter()
    for segment, scores in found.items():
        for source in segment.sources if scores else ():
            counts[source] += len(scores.keys() & set(segment.postings("source", source).ids))
    return source_counts(counts)


def count_facet(
    attribute: SearchAttribute, found: ScoresBySegment, limit: int, budget: SearchBudget
) -> tuple[FacetValue, ...]:
    """Return the most frequent values of an attribute among the matches of all segments."""
    counts: Counter[str | float] = Counter()
    examples: dict[str | float, tuple[OpenSegment, int]] = {}
    for segment, scores in found.items():
        for value, documents in _documents_by_value(attribute, segment, scores, budget).items():
            counts[value] += len(documents)
            examples[value] = segment, next(iter(documents))
    best = most_frequent(counts, limit)
    if attribute.type is not AttributeType.STRING:
        return tuple(best)
    return tuple(with_original_case(one, _stored(*examples[one.value], attribute.name)) for one in best)


def _documents_by_value(
    attribute: SearchAttribute, segment: OpenSegment, scores: Scores, budget: SearchBudget
) -> dict[str | float, set[int]]:
    """Return the matching documents by value."""
    found: dict[str | float, set[int]] = {}
    end = value_terms_end(attribute.type)
    for term, info in segment.terms(value_field(attribute)) if scores else ():
        if (end is not None and term >= end) or not budget.in_time():
            break
        documents = scores.keys() & set(read_postings(segment.reader, info).ids)
        if documents:
            found.setdefault(_facet_value(attribute.type, term), set()).update(documents)
    return found


def _facet_value(kind: AttributeType, term: bytes) -> str | float:
    if kind is AttributeType.NUMBER:
        return float(NUMERIC(float).from_bytes(term))
    if kind is AttributeType.DATE:
        return facet_key(DATETIME().from_bytes(term))
    return term.decode()


def _stored(segment: OpenSegment, docnum: int, name: str) -> list[str]:
    values = stored_document(segment, docnum).attributes.get(name, ())
    return [value for value in values if isinstance(value, str)]
