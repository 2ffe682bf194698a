"""Compiles query trees to queries of OpenSearch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime

from ultracrawl.index.budget import SearchBudget
from ultracrawl.index.engine import Json
from ultracrawl.index.opensearch.fields import key_of, value_field, word_field
from ultracrawl.index.query import tree
from ultracrawl.index.query.boosts import Boosts, regions
from ultracrawl.index.query.scoring import (
    FIELDS,
    INFLECTION_FACTOR,
    WordForm,
    coordination_factor,
    coordination_steps,
    idf,
    matching_documents,
    word_forms,
)
from ultracrawl.index.stored_fields import microseconds
from ultracrawl.rules.attributes.schema import SearchAttribute

Query = dict[str, Json]
Term = tuple[str, str]
"""A field and a word in it."""

NOTHING: Query = {"match_none": {}}
_LONGEST_BEGINNING = 900
"""Bytes of the beginning of a word that a server of version 2 compares: it refuses 1,000."""
_MOST_LONG_WORDS = 1000
"""Words with a longer one that are found."""


class QueryCompiler:
    """Compiles queries.

    `attributes` are those that the index has fields for. `frequency` returns the document frequency of a term, and
    `documents` the number of all documents. Words of documents were stemmed by the rules of `languages`
    (None: of any).
    """

    def __init__(
        self,
        attributes: Mapping[str, SearchAttribute],
        frequency: Callable[[Term], int],
        documents: Callable[[], int],
        budget: SearchBudget | None = None,
        languages: Collection[str] | None = None,
    ) -> None:
        self._attributes = attributes
        self._frequency = frequency
        self._documents = documents
        self._budget = budget or SearchBudget()
        self._languages = languages

    def compile_node(self, node: tree.Node) -> Query:
        """Return the query of a tree; conditions score 0."""
        match node:
            case tree.Word() | tree.Phrase() | tree.Prefix():
                return self._text(node) if self._budget.in_time() else NOTHING
            case tree.Equal(name, value):
                return self._equal(name, value)
            case tree.Between(name, start, end):
                return self._between(name, start, end)
            case tree.FromSource(source):
                return unscored(_term("source", source))
            case tree.HasAclTerm(terms):
                return unscored({"terms": {"acl": list(terms)}})
            case tree.IsDocument(source, url):
                return unscored({"ids": {"values": [key_of(source, url)]}})
            case tree.HasUrl(url):
                return unscored(_term("url", url))
            case (
                tree.Identifier(child)
                | tree.Named(child)
                | tree.Compound(choices=child)
                | tree.Verbatim(choices=child)
            ):
                return self.compile_node(child)
            case tree.AllOf(nodes):
                return self._all(nodes)
            case tree.AnyOf(nodes):
                return _any([self.compile_node(child) for child in nodes])
            case tree.Not():
                return self._all((node,))
            case _:
                return self._weighted(node)

    def _weighted(self, node: tree.AtLeast | tree.WithOptional | tree.Boosted | tree.ConstantScore) -> Query:
        match node:
            case tree.AtLeast(nodes, number):
                return _at_least([self.compile_node(child) for child in nodes], number)
            case tree.WithOptional(child, others):
                better: list[Json] = [self.compile_node(other) for other in others]
                return {"bool": {"must": [self.compile_node(child)], "should": better}}
            case tree.Boosted(child, factor, condition):
                query = self.compile_node(child)
                if condition == tree.EVERYTHING:
                    return _boosted(query, factor)
                return _multiplied(query, [(self.compile_node(condition), factor)], "multiply")
            case tree.ConstantScore(child, score):
                return {"constant_score": {"filter": self.compile_node(child), "boost": score}}

    def boosted(self, query: Query, boosts: Boosts) -> Query:
        """Return the query with the scores of chosen URLs multiplied."""
        factors = [
            (_without(_urls(region.mask), map(_urls, region.inner)), region.factor)
            for region in regions(boosts)
        ]
        return _multiplied(query, factors, "multiply") if factors else query

    def _text(self, node: tree.Word | tree.Phrase | tree.Prefix) -> Query:
        match node:
            case tree.Word(word, ""):
                return self._word(word, node.stems)
            case tree.Phrase(found, ""):
                weight = sum(map(self._rarity, found))
                fields = [field for field in FIELDS if field.has_positions]
                return _any([_boosted(_phrase(field.name, found), weight * field.weight) for field in fields])
            case tree.Prefix(prefix, ""):
                return unscored(_any([_beginning(field.name, prefix) for field in FIELDS]))
        name = word_field(node.attribute)
        if node.attribute not in self._attributes and all(name != field.name for field in FIELDS):
            return NOTHING
        if isinstance(node, tree.Prefix):
            return unscored(_beginning(name, node.prefix))
        found = node.words if isinstance(node, tree.Phrase) else (node.word,)
        weight = sum(idf(self._documents(), self._frequency((name, word))) for word in found)
        return _boosted(_phrase(name, found), weight)

    def _rarity(self, word: str) -> float:
        return idf(self._documents(), max(self._frequency((field.name, word)) for field in FIELDS))

    def _word(self, word: str, stems: tuple[tuple[str, str], ...]) -> Query:
        """Return the query of a word and its forms, all with the idf of the field that has the word most often.

        Otherwise a form in another language, or a word in a title, would score higher than the same word elsewhere.
        """
        known = tuple(one for one in stems if self._languages is None or one[0] in self._languages)
        forms = [
            (field, word_forms(field, word, known, lambda *term: self._frequency(term))) for field in FIELDS
        ]
        if not self._budget.spend(sum(form.documents for _, found in forms for form in found)):
            return NOTHING
        documents = self._documents()
        rarity = idf(documents, max(matching_documents(found, documents) for _, found in forms))
        queries = (_best_form(found, field.weight * rarity) for field, found in forms)
        return _any([query for query in queries if query is not None])

    def _equal(self, name: str, value: str | float) -> Query:
        if name not in self._attributes:
            return NOTHING
        return unscored(_term(value_field(self._attributes[name]), value))

    def _between(self, name: str, start: tree.Bound | None, end: tree.Bound | None) -> Query:
        attribute = self._attributes.get(name)
        if attribute is None:
            return NOTHING
        low, high = (microseconds(one) if isinstance(one, datetime) else one for one in (start, end))
        bounds: dict[str, Json] = {} if low is None else {"gte": low}
        if high is not None:
            bounds["lt"] = high
        field = value_field(attribute)
        return unscored({"range": {field: bounds}} if bounds else {"exists": {"field": field}})

    def _all(self, nodes: Sequence[tree.Node]) -> Query:
        """Of a negated node that is not read to its end nobody knows what it excludes: then nothing matches."""
        needed, excluded = list[Json](), list[Json]()
        for node in nodes:
            if isinstance(node, tree.Not):
                refusals = self._budget.refusals
                excluded.append(self.compile_node(node.node))
                if self._budget.refusals != refusals:
                    return NOTHING
            else:
                needed.append(self.compile_node(node))
        if not needed:
            needed.append(unscored({"match_all": {}}))
        return {"bool": {"must": needed, "must_not": excluded}}


def unscored(query: Query) -> Query:
    """Return the query with a score of 0."""
    return {"constant_score": {"filter": query, "boost": 0.0}}


def _best_form(forms: list[WordForm], weight: float) -> Query | None:
    """Return the query of the forms of a word in a field, the best of which counts; None if no document has one."""
    queries = list[Query]()
    for form in forms:
        if form.documents:
            query = _term(form.field, form.term)
            if form.language:
                query = {"bool": {"must": [query], "filter": [_term("language", form.language)]}}
            queries.append(_boosted(query, weight * (1.0 if form is forms[0] else INFLECTION_FACTOR)))
    if not queries:
        return None
    return queries[0] if len(queries) == 1 else {"dis_max": {"queries": list[Json](queries)}}


def _term(field: str, value: str | float) -> Query:
    return {"term": {field: {"value": value}}}


def _phrase(field: str, words: tuple[str, ...]) -> Query:
    """Return the query of a phrase; the server adds the score that it has once for each of its words."""
    if len(words) == 1:
        return _term(field, words[0])
    return {"match_phrase": {field: {"query": " ".join(words), "boost": 1 / len(words)}}}


def _beginning(field: str, beginning: str) -> Query:
    if len(beginning.encode()) > _LONGEST_BEGINNING:
        longest: dict[str, Json] = {"query": beginning, "max_expansions": _MOST_LONG_WORDS}
        return {"match_phrase_prefix": {field: longest}}
    return {"prefix": {field: {"value": beginning}}}


def _urls(mask: str) -> Query:
    """Return the query of URLs; of a very long beginning only the first part is compared."""
    if not mask.endswith("*"):
        return _term("url", mask)
    compared = mask.removesuffix("*").encode()[:_LONGEST_BEGINNING].decode(errors="ignore")
    return _beginning("url", compared)


def _without(query: Query, excluded: Iterable[Query]) -> Query:
    return {"bool": {"must": [query], "must_not": list[Json](excluded)}}


def _any(queries: Sequence[Query]) -> Query:
    if len(queries) == 1:
        return queries[0]
    return {"bool": {"should": list[Json](queries), "minimum_should_match": 1}} if queries else NOTHING


def _at_least(queries: list[Query], number: int) -> Query:
    """Return the query of documents that match at least `number` queries, scored by the coordination factor."""
    words = len(queries)
    if number > words:
        return NOTHING
    query = _matching(queries, number)
    factors = [
        (_matching(queries, step), coordination_factor(step, words))
        for step in reversed(coordination_steps(number, words))
    ]
    return _multiplied(query, factors, "first") if words > 1 else query


def _matching(queries: list[Query], number: int) -> Query:
    return {"bool": {"should": list[Json](queries), "minimum_should_match": number}}


def _boosted(query: Query, boost: float) -> Query:
    """Return the query with its scores multiplied; a boost of the server's own may not be negative."""
    return query if boost == 1.0 else {"bool": {"must": [query], "boost": boost}}


def _multiplied(query: Query, factors: Iterable[tuple[Query, float]], mode: str) -> Query:
    """Return the query with its scores multiplied by the factors whose conditions hold: all, or the first."""
    functions: list[Json] = [{"filter": condition, "weight": factor} for condition, factor in factors]
    return {
        "function_score": {
            "query": query, "functions": functions, "score_mode": mode, "boost_mode": "multiply"
        }
    }  # fmt: skip
