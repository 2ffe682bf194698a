"""Runs one search over one commit of the index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import MAXYEAR, UTC, datetime
from functools import cached_property

from tantivy import DocAddress, Order, Query

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
from ultracrawl.index.query.facets import (
    most_frequent,
    source_counts,
    with_original_case,
    without_own_filters,
    without_sources,
)
from ultracrawl.index.query.parser import parse_facets, parse_sort
from ultracrawl.index.query.query_builder import MOST_BEGINNINGS, build_query_tree
from ultracrawl.index.query.scoring import STATISTICS_FIELDS, fields_of, statistics_fields
from ultracrawl.index.query.spelling import check_spelling
from ultracrawl.index.query.tree import AllOf, Between, Equal, Node
from ultracrawl.index.query.visibility import FIRST_VERSION_WITH_ACL, hidden_from
from ultracrawl.index.stored_fields import RESTRICTED
from ultracrawl.index.tantivy.fields import sort_field, stored_document, value_field, year_of
from ultracrawl.index.tantivy.generations import Generation
from ultracrawl.index.tantivy.queries import QueryCompiler
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute

_MAX_BUCKETS = 65_000
"""Distinct values of an attribute that are counted: tantivy's limit of buckets in one search."""
_DAY_MICROSECONDS = 86_400_000_000.0


class IndexSearcher:
    """One search; also the statistics of the index that it needs (`query_builder.IndexStatistics`)."""

    def __init__(
        self,
        generation: Generation,
        attributes: Mapping[str, SearchAttribute],
        query: SearchQuery,
    ) -> None:
        self._query = query
        self._version = generation.schema
        self._searcher, self._segments = generation.searcher_and_segments()
        # Without the names of the segments nothing is kept for other searches.
        self._kept = (query.documents if self._segments else None) or DocumentCache()
        self._schema = generation.index.schema
        self._attributes = attributes
        self._indexed = {
            name: one for name, one in attributes.items() if generation.attributes.get(name) == one
        }
        self._known_fields = {
            name for one in fields_of(generation.schema) for name in (one.name, one.stems) if name
        }
        self._compiler = QueryCompiler(self._schema, self._searcher, self._indexed, generation.schema)

    def run(self) -> SearchResult:
        """Return the result; raises `UserError`."""
        query = self._query
        budget = query.budget or SearchBudget()
        self._compiler.budget = budget
        node = build_query_tree(query, self._attributes, self)
        attribute, descending = parse_sort(query.sort, self._attributes)
        facets = parse_facets(query.facets, self._attributes)
        made = self._compiler.boosted(self._compiler.compile_node(node), query.boosts)
        most = self._searcher.num_docs  # tantivy allocates memory for as many hits as requested
        wanted = max(0, query.offset) + max(0, query.limit)
        found = self._searcher.search(
            made,
            limit=max(1, min(wanted + RERANK_LIMIT, most)),
            order_by_field=sort_field(attribute) if attribute and attribute.name in self._indexed else None,
            order=Order.Desc if descending or not attribute else Order.Asc,
        )
        total = found.count or 0  # type: ignore[attr-defined]  # not in its stubs
        matcher = Matcher(node, self._compiler.languages, self._kept.folded)
        if attribute:  # tantivy returns sort values in place of scores
            unscored = [(0.0, address) for _, address in found.hits]
            ranked: Iterable[tuple[float, DocAddress]] = with_ordered_values(
                unscored, attribute, self._document
            )
        else:
            ranked = Reranker(node, query, self, matcher).rerank(found.hits, self._document)
        hits = HitBuilder(node, query, matcher, budget)
        passages = PassageFinder(self, self._document, hits.best_section)
        shown, folded = shown_matches(query, ranked, self._document, passages)
        return SearchResult(
            total - folded,
            tuple(hits.hit(self._document(address), score, copies) for score, address, copies in shown),
            {facet.name: self._facet(facet, made, node) if budget.in_time() else () for facet in facets},
            *check_spelling(query, node, self, total),
            exceeded=tuple(budget.exceeded),
            sources=self._sources(made) if query.count_sources and budget.in_time() else (),
            names=completing_names(query, self._attributes, self),
        )

    @property
    def document_count(self) -> int:
        """See `IndexStatistics.document_count`."""
        return self._searcher.num_docs

    def document_frequency(self, word: str) -> int:
        """See `IndexStatistics.document_frequency`."""
        return max(self._frequency(name, word) for name in self._fields_of(word))

    def document_frequencies(self, words: Iterable[str]) -> dict[str, int]:
        """See `IndexStatistics.document_frequencies`."""
        return {word: self.document_frequency(word) for word in words}

    @property
    def languages(self) -> set[str]:
        """See `IndexStatistics.languages`."""
        return self._compiler.languages

    def words_beginning_with(
        self, prefix: str, fields: Sequence[str] = STATISTICS_FIELDS, most: int = MOST_BEGINNINGS
    ) -> dict[str, dict[str, int]]:
        """See `IndexStatistics.words_beginning_with`."""
        found: dict[str, dict[str, int]] = {}
        for name in self._known_fields.intersection(fields):
            for term, count in self._searcher.terms_with_prefix(name, prefix, limit=most):
                found.setdefault(term, {})[name] = count
        return found

    def _fields_of(self, term: str) -> list[str]:
        return [name for name in statistics_fields(term) if name in self._known_fields]

    def find_document(self, wanted: Node) -> IndexDocument | None:
        """See `IndexStatistics.find_document`."""
        return self._first(self._compiler.compile_node(wanted))

    def _frequency(self, name: str, word: str) -> int:
        count = self._searcher.doc_freq(name, word)
        if not count or self._hidden is None:
            return count
        return self._count(Query.term_query(self._schema, name, word).and_must_not_match(self._hidden))

    @cached_property
    def _hidden(self) -> Query | None:
        """The query of documents hidden from the searcher; None if there are none."""
        has_acl = self._query.principals is not None and self._version >= FIRST_VERSION_WITH_ACL
        restricted = has_acl and self._searcher.doc_freq("acl", RESTRICTED) > 0
        if not restricted and not self._query.excluded_sources:
            return None
        asked = self._query if restricted else replace(self._query, principals=None)
        return self._compiler.compile_node(hidden_from(asked))

    def _document(self, address: DocAddress) -> IndexDocument:
        segment: Hashable = self._segments[address.segment_ord] if self._segments else address.segment_ord
        return self._kept.document(
            (segment, address.doc), lambda: stored_document(self._searcher.doc(address))
        )

    def _first(self, query: Query) -> IndexDocument | None:
        for _, address in self._searcher.search(query, limit=1, count=False).hits:
            return self._document(address)
        return None

    def _sources(self, made: Query) -> tuple[FacetValue, ...]:
        """Return the number of matches of every source; `made` is the compiled query."""
        query = without_sources(self._query)
        if query is not self._query:
            made = self._compiler.compile_node(build_query_tree(query, self._attributes, self))
        terms = {"terms": {"field": "source", "size": _MAX_BUCKETS}}
        buckets = self._searcher.aggregate(made, {"sources": terms})["sources"]["buckets"]
        return source_counts({bucket["key"]: bucket["doc_count"] for bucket in buckets})

    def _facet(self, attribute: SearchAttribute, query: Query, node: Node) -> tuple[FacetValue, ...]:
        """Return the most frequent values of an attribute; `query` is compiled from `node`, the tree of the search."""
        if attribute.name not in self._indexed:
            return ()
        limit, counted = self._query.facet_limit, without_own_filters(self._query, attribute.name)
        if counted is not self._query:
            node = build_query_tree(counted, self._attributes, self)
            query = self._compiler.compile_node(node)
        if attribute.type is AttributeType.DATE:
            return tuple(most_frequent(self._years(attribute, query), limit))
        terms = {"terms": {"field": value_field(attribute), "size": _MAX_BUCKETS}}
        buckets = self._searcher.aggregate(query, {"values": terms})["values"]["buckets"]
        counts: Counter[str | float] = Counter()
        for bucket in buckets:
            key = bucket["key"]
            counts[float(key) if attribute.type is AttributeType.NUMBER else key] += bucket["doc_count"]
        best = most_frequent(counts, limit)
        if attribute.type is not AttributeType.STRING:
            return tuple(best)
        return tuple(
            with_original_case(one, self._example(attribute.name, str(one.value), node)) for one in best
        )

    def _years(self, attribute: SearchAttribute, query: Query) -> dict[str | float, int]:
        """Return the number of matching documents by year; tantivy's own histogram counts values."""
        days = {
            "histogram": {"field": value_field(attribute), "interval": _DAY_MICROSECONDS, "min_doc_count": 1}
        }
        buckets = self._searcher.aggregate(query, {"days": days})["days"]["buckets"]
        years = {year_of(int(bucket["key"] + _DAY_MICROSECONDS / 2)) for bucket in buckets}
        return {
            year: self._count(query.and_must_match(self._year_query(attribute, int(year)))) for year in years
        }

    def _year_query(self, attribute: SearchAttribute, year: int) -> Query:
        start = datetime(year, 1, 1, tzinfo=UTC)
        end = start.replace(year=year + 1) if year < MAXYEAR else None
        return self._compiler.compile_node(Between(attribute.name, start, end))

    def _count(self, query: Query) -> int:
        return self._searcher.search(query, limit=1).count or 0  # type: ignore[attr-defined]  # not in its stubs

    def _example(self, name: str, value: str, node: Node) -> list[str]:
        """Return the values of one matching document with this value."""
        document = self._first(self._compiler.compile_node(AllOf((node, Equal(name, value)))))
        values = document.attributes.get(name, ()) if document else ()
        return [one for one in values if isinstance(one, str)]
