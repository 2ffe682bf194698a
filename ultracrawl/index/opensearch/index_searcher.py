"""Runs one search: its words' frequencies are learnt first, then one request is for hits and counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ultracrawl.errors import IndexDamagedError
from ultracrawl.index.budget import SearchBudget
from ultracrawl.index.engine import FacetValue, IndexDocument, Json, SearchQuery, SearchResult
from ultracrawl.index.hits.copies import shown_matches
from ultracrawl.index.hits.document_cache import DocumentCache
from ultracrawl.index.hits.hit_builder import HitBuilder
from ultracrawl.index.hits.matching import Matcher
from ultracrawl.index.hits.passages import PassageFinder
from ultracrawl.index.hits.reranking import Reranker
from ultracrawl.index.hits.ties import RERANK_LIMIT
from ultracrawl.index.opensearch.fields import (
    MAX_RESULTS,
    NAMING,
    RANKING,
    REST,
    RESTS,
    facet_field,
    key_of,
    shown_field,
    sort_field,
    stored_document,
    stored_parts,
)
from ultracrawl.index.opensearch.frequencies import Ask, Frequencies, terms_of
from ultracrawl.index.opensearch.queries import QueryCompiler, Term
from ultracrawl.index.query.facets import (
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
from ultracrawl.index.query.tree import Node, Word, searched_words
from ultracrawl.index.stored_fields import STORED_TEXT_LIMIT
from ultracrawl.index.words.stemming import LANGUAGES
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute

_MOST_SOURCES = 10_000
_WITH_TEXTS = 250
"""Hits up to which all texts come with the answer."""
_READ_AHEAD = 100
"""Documents that are read at a time from longer answers."""


class IndexSearcher:
    """One search; also the statistics of the index that it needs (`query_builder.IndexStatistics`).

    `indexed` are the attributes that the index has fields for; `attributes` those of the project.
    """

    def __init__(
        self,
        ask: Ask,
        indexed: Mapping[str, SearchAttribute],
        attributes: Mapping[str, SearchAttribute],
        query: SearchQuery,
        frequencies: Frequencies,
    ) -> None:
        self._ask = ask
        self._query = query
        self._frequencies = frequencies
        self._attributes = attributes
        self._indexed = {name: one for name, one in attributes.items() if indexed.get(name) == one}
        self._parts = NAMING if query.completing else RANKING
        self._sources: dict[str, Mapping[str, Json]] = {}
        """The stored parts of documents that were read, by key."""
        self._order: list[str] = []
        """The keys of all hits."""
        self._kept = DocumentCache()

    def run(self) -> SearchResult:
        """Return the result; raises `UserError`."""
        query, budget = self._query, self._query.budget or SearchBudget()
        node = build_query_tree(query, self._attributes, self)
        attribute, descending = parse_sort(query.sort, self._attributes)
        facets = parse_facets(query.facets, self._attributes)
        self._learn_terms(node)
        made = self._compiler(budget).boosted(self._compiler(budget).compile_node(node), query.boosts)
        own = [one for one in facets if without_own_filters(query, one.name) is query]
        counts_sources = query.count_sources and without_sources(query) is query
        body: dict[str, Json] = {"query": made, "track_total_hits": True}
        if attribute is not None:
            body["sort"] = self._order_by(attribute, descending=descending)
        counts: dict[str, Json] = {"aggs": self._counts(own, sources=counts_sources)}
        answer = self._ask(body | counts | self._window(is_sorted=attribute is not None))
        total, found = int(answer["hits"]["total"]["value"]), self._noted(answer)
        matcher = Matcher(node, set(self._frequencies.languages or ()), self._kept.folded)
        builder, buckets = HitBuilder(node, query, matcher, budget), answer.get("aggregations", {})
        passages = PassageFinder(self, partial(self._whole_document, builder), builder.best_section)
        best = partial(self._best, Reranker(node, query, self, matcher), passages)
        shown, folded = ([(*one, ()) for one in found], 0) if attribute is not None else best(found)
        missing = query.offset + query.limit - (len(found) - folded)
        if folded and missing > 0 and len(found) < total:  # others come in place of copies
            found += self._noted(self._ask(body | self._part(len(found), missing)))
            shown, folded = best(found)
        documents = self._with_whole_texts(builder, [self._document(key) for _, key, _ in shown])
        return SearchResult(
            total - folded,
            tuple(
                builder.hit(document, score, copies)
                for document, (score, _, copies) in zip(documents, shown, strict=True)
            ),
            {one.name: self._facet(one, buckets if one in own else None) for one in facets},
            *check_spelling(query, node, self, total),
            exceeded=tuple(budget.exceeded),
            sources=self._source_counts(buckets if counts_sources else None) if query.count_sources else (),
        )

    @property
    def document_count(self) -> int:
        """See `IndexStatistics.document_count`."""
        return self._frequencies.documents

    def document_frequency(self, word: str) -> int:
        """See `IndexStatistics.document_frequency`."""
        return self.document_frequencies([word])[word]

    def document_frequencies(self, words: Iterable[str]) -> dict[str, int]:
        """See `IndexStatistics.document_frequencies`: one request for all words that are not known yet."""
        wanted = list(words)
        self._frequencies.learn([(name, word) for word in wanted for name in statistics_fields(word)])
        return {
            word: max(self._frequencies[name, word] for name in statistics_fields(word)) for word in wanted
        }

    @property
    def languages(self) -> Collection[str]:
        """See `IndexStatistics.languages`."""
        known = self._frequencies.languages
        return LANGUAGES if known is None else known

    def words_beginning_with(
        self, prefix: str, fields: Sequence[str] = STATISTICS_FIELDS, most: int = MOST_BEGINNINGS
    ) -> Mapping[str, Mapping[str, int]]:
        """See `IndexStatistics.words_beginning_with`: servers do not list the words of a text."""
        return {}

    def find_document(self, wanted: Node) -> IndexDocument | None:
        """See `IndexStatistics.find_document`."""
        self._learn_terms(wanted)
        body: Mapping[str, Json] = {
            "query": self._compiler().compile_node(wanted),
            "size": 1,
            **RANKING,
        }
        hits = self._ask(body)["hits"]["hits"]
        return _decoded(stored_parts(hits[0])) if hits else None

    def _compiler(self, budget: SearchBudget | None = None) -> QueryCompiler:
        known = self._frequencies
        return QueryCompiler(
            self._indexed, known.__getitem__, lambda: known.documents, budget, known.languages
        )

    def _learn_terms(self, node: Node) -> None:
        """Learn how often the terms of a tree occur; again, if there are documents in more languages than before."""
        before = self._frequencies.languages
        needed: dict[Term, None] = {}

        def note(term: Term) -> int:
            needed[term] = None
            return 1

        QueryCompiler(self._indexed, note, lambda: 1, languages=before).compile_node(node)
        words = (leaf.word for leaf in searched_words(node) if isinstance(leaf, Word))
        needed |= dict.fromkeys((name, word) for word in words for name in STATISTICS_FIELDS)
        self._frequencies.learn(needed)
        languages = self._frequencies.languages
        if before is not None and languages is not None and not languages <= before:
            self._learn_terms(node)

    def _order_by(self, attribute: SearchAttribute, *, descending: bool) -> Json:
        """Return the order by an attribute, of equal values by URL, as `with_ordered_values` of other engines."""
        order: dict[str, Json] = {"order": "desc" if descending else "asc", "missing": "_last"}
        first: list[Json] = [{sort_field(attribute): order}] if attribute.name in self._indexed else []
        return [*first, "url", "source"]

    def _document(self, key: str) -> IndexDocument:
        if key not in self._sources:
            at = self._order.index(key)
            keys: list[Json] = [one for one in self._order[at : at + _READ_AHEAD] if one not in self._sources]
            self._sources |= self._read(keys, self._parts)
        if key not in self._sources:
            raise IndexDamagedError("a document was deleted while it was searched for")
        return self._kept.document(key, lambda: _decoded(self._sources[key]))

    def _read(self, keys: list[Json], parts: Mapping[str, Json]) -> dict[str, Mapping[str, Json]]:
        """Return parts of the stored documents with these keys."""
        body: Mapping[str, Json] = {"query": {"ids": {"values": keys}}, "size": len(keys), **parts}
        return {hit["_id"]: stored_parts(hit) for hit in self._ask(body)["hits"]["hits"]}

    def _with_whole_texts(
        self, builder: HitBuilder, documents: Iterable[IndexDocument]
    ) -> list[IndexDocument]:
        """Return the documents that are shown, with the rest of those texts whose hits need it."""
        found = list(documents)
        long = {
            key_of(one.source, one.url): number
            for number, one in enumerate(found)
            if len(one.text) == STORED_TEXT_LIMIT and builder.needs_rest(one)
        }
        if long:
            for key, parts in self._read(list[Json](long), RESTS).items():
                one = found[long[key]]
                found[long[key]] = replace(one, text=one.text + str(parts.get(REST, "")))
        return found

    def _whole_document(self, builder: HitBuilder, key: str) -> IndexDocument:
        return self._with_whole_texts(builder, [self._document(key)])[0]

    def _window(self, *, is_sorted: bool) -> dict[str, Json]:
        """Return which hits to ask for: those shown, if the servers sort them, else all up to these, to be reranked."""
        offset, limit = max(0, self._query.offset), max(0, self._query.limit)
        if is_sorted:
            return self._part(offset, limit)
        return self._part(0, max(offset + limit, RERANK_LIMIT) if offset + limit else 0)

    def _part(self, start: int, number: int) -> dict[str, Json]:
        """Return the part of a body that asks for hits; for more of them their documents are read later."""
        first = min(start, MAX_RESULTS)
        size = min(number, MAX_RESULTS - first)
        return {"from": first, "size": size, **(self._parts if size <= _WITH_TEXTS else {"_source": False})}

    def _noted(self, answer: Mapping[str, Any]) -> list[tuple[float, str]]:
        """Return score and key of each hit of an answer that is not known yet, and keep what came with it."""
        known = set(self._order)
        hits = [hit for hit in answer["hits"]["hits"] if hit["_id"] not in known]
        self._order += [str(hit["_id"]) for hit in hits]
        self._sources |= {hit["_id"]: stored_parts(hit) for hit in hits if "_source" in hit}
        return [(float(hit.get("_score") or 0.0), str(hit["_id"])) for hit in hits]

    def _best(
        self, reranker: Reranker, passages: PassageFinder[str], found: list[tuple[float, str]]
    ) -> tuple[list[tuple[float, str, tuple[str, ...]]], int]:
        """Return the hits that are shown, and the number of copies; see `shown_matches`."""
        ranked = reranker.rerank(found, self._document)
        return shown_matches(self._query, ranked, self._document, passages)

    def _counts(self, facets: list[SearchAttribute], *, sources: bool) -> dict[str, Json]:
        """Return the aggregations of facets and sources."""
        made: dict[str, Json] = {"sources": terms_of("source", _MOST_SOURCES)} if sources else {}
        limit = self._query.facet_limit
        for facet in facets if limit > 0 else ():
            if facet.name in self._indexed:
                counted = terms_of(facet_field(facet), limit)
                if facet.type is AttributeType.STRING:
                    example: Json = {"size": 1, "_source": False, "docvalue_fields": [shown_field(facet)]}
                    counted["aggs"] = {"example": {"top_hits": example}}
                made[f"facet {facet.name}"] = counted
        return made

    def _ask_counts(self, query: SearchQuery, aggregations: dict[str, Json]) -> Mapping[str, Any]:
        node = build_query_tree(query, self._attributes, self)
        self._learn_terms(node)
        body: Mapping[str, Json] = {
            "size": 0,
            "query": self._compiler().compile_node(node),
            "aggs": aggregations,
        }
        found: Mapping[str, Any] = self._ask(body).get("aggregations", {})
        return found

    def _source_counts(self, found: Mapping[str, Any] | None) -> tuple[FacetValue, ...]:
        if found is None:
            found = self._ask_counts(without_sources(self._query), self._counts([], sources=True))
        return source_counts({one["key"]: one["doc_count"] for one in found["sources"]["buckets"]})

    def _facet(self, facet: SearchAttribute, found: Mapping[str, Any] | None) -> tuple[FacetValue, ...]:
        """Return the most frequent values of an attribute; `found` are the counts of the search, if it counted them."""
        aggregations = self._counts([facet], sources=False)
        if not aggregations:
            return ()
        if found is None:
            found = self._ask_counts(without_own_filters(self._query, facet.name), aggregations)
        buckets = {_key(facet, one["key"]): one for one in found[f"facet {facet.name}"]["buckets"]}
        best = most_frequent({key: one["doc_count"] for key, one in buckets.items()}, self._query.facet_limit)
        if facet.type is not AttributeType.STRING:
            return tuple(best)
        return tuple(with_original_case(one, _example(facet, buckets[one.value])) for one in best)


def _key(facet: SearchAttribute, key: object) -> str | float:
    return float(str(key)) if facet.type is AttributeType.NUMBER else str(key)


def _example(facet: SearchAttribute, bucket: Mapping[str, Any]) -> list[str]:
    """Return the values of one document that has this value."""
    (hit,) = bucket["example"]["hits"]["hits"]
    values: list[str] = hit.get("fields", {}).get(shown_field(facet), [])
    return values


def _decoded(parts: Mapping[str, Json]) -> IndexDocument:
    try:
        return stored_document(parts)
    except (ValueError, KeyError, TypeError) as error:
        raise IndexDamagedError(f"a document of the index cannot be read: {error}") from error
