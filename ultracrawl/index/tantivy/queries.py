"""Compiles query trees to tantivy queries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import takewhile

from tantivy import FieldType, Occur, Query, Schema, Searcher

from ultracrawl.index.budget import SearchBudget
from ultracrawl.index.query import tree
from ultracrawl.index.query.boosts import Boosts, regions
from ultracrawl.index.query.scoring import (
    INFLECTION_FACTOR,
    WordForm,
    coordination_factor,
    coordination_steps,
    fields_of,
    idf,
    matching_documents,
    word_forms,
)
from ultracrawl.index.query.visibility import FIRST_VERSION_WITH_ACL
from ultracrawl.index.stored_fields import document_id, microseconds
from ultracrawl.index.tantivy.fields import value_field, word_field
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute

_LONGEST_PATTERN = 200
"""Characters of a beginning that a pattern looks for; tantivy refuses patterns of more than 1,000 bytes."""


class QueryCompiler:
    """Compiles queries for one commit of the index.

    `attributes` are those that the index has fields for; `version` is its schema version.
    """

    def __init__(
        self, schema: Schema, searcher: Searcher, attributes: Mapping[str, SearchAttribute], version: int
    ) -> None:
        self.budget = SearchBudget()
        """What the query may read; what is beyond is left out of the compiled query."""
        self._schema = schema
        self._searcher = searcher
        self._attributes = attributes
        self._fields = fields_of(version)
        self._documents: int = searcher.num_docs
        self._has_readers = version >= FIRST_VERSION_WITH_ACL
        self.languages = {term for term, _ in searcher.terms_with_prefix("language", "")}
        """The languages by whose rules words of documents were stemmed."""

    def compile_node(self, node: tree.Node) -> Query:
        """Return the query of a tree; conditions score 0."""
        match node:
            case tree.Word() | tree.Phrase() | tree.Prefix():
                return self._text(node) if self.budget.in_time() else Query.empty_query()
            case tree.Equal(name, value):
                return self._equal(name, value)
            case tree.Between(name, start, end):
                return self._between(name, start, end)
            case tree.FromSource(source):
                return _unscored(self._term("source", source))
            case tree.HasAclTerm(terms):
                wanted = Query.term_set_query(self._schema, "acl", list(terms)) if self._has_readers else None
                return Query.empty_query() if wanted is None else _unscored(wanted)
            case tree.IsDocument(source, url):
                return _unscored(self._term("id", document_id(source, url)))
            case tree.HasUrl(url):
                return _unscored(self._term("url", url))
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
                return self._compile_weighted(node)

    def _compile_weighted(
        self, node: tree.AtLeast | tree.WithOptional | tree.Boosted | tree.ConstantScore
    ) -> Query:
        match node:
            case tree.AtLeast(nodes, number):
                return _at_least([self.compile_node(child) for child in nodes], number)
            case tree.WithOptional(child, others):
                better = [(Occur.Should, self.compile_node(other)) for other in others]
                return Query.boolean_query([(Occur.Must, self.compile_node(child)), *better])
            case tree.Boosted(child, factor, condition):
                return self._compile_boosted(child, factor, condition)
            case tree.ConstantScore(child, score):
                return Query.const_score_query(self.compile_node(child), score)

    def _compile_boosted(self, node: tree.Node, factor: float, condition: tree.Node) -> Query:
        query = self.compile_node(node)
        if condition == tree.EVERYTHING:
            return _boosted(query, factor)
        wanted = _unscored(self.compile_node(condition))
        more = _boosted(_all_must(query, wanted), factor)
        return _any([more, Query.boolean_query([(Occur.Must, query), (Occur.MustNot, wanted)])])

    def boosted(self, query: Query, boosts: Boosts) -> Query:
        """Return the query with the scores of chosen URLs multiplied.

        The query is repeated for each different factor, because tantivy boosts whole queries only.
        """
        by_factor: dict[float, list[Query]] = {}
        others = [(Occur.Must, query)]
        for region in regions(boosts):
            inner = [(Occur.MustNot, self._urls(mask)) for mask in region.inner]
            chosen = Query.boolean_query([(Occur.Must, self._urls(region.mask)), *inner])
            by_factor.setdefault(region.factor, []).append(chosen)
            others.append((Occur.MustNot, self._urls(region.mask)))
        if not by_factor:
            return query
        raised = [
            Query.boost_query(_all_must(query, _unscored(_any(chosen))), factor)
            for factor, chosen in by_factor.items()
        ]
        return _any([*raised, Query.boolean_query(others)])

    def _urls(self, mask: str) -> Query:
        beginning = mask.removesuffix("*")
        return self._beginning("url", beginning) if mask.endswith("*") else self._term("url", beginning)

    def _text(self, node: tree.Word | tree.Phrase | tree.Prefix) -> Query:
        match node:
            case tree.Word(word, ""):
                return self._word(word, node.stems)
            case tree.Phrase(found, ""):
                fields = [field for field in self._fields if field.has_positions]
                return _any(
                    [_boosted(_phrase(self._schema, field.name, found), field.weight) for field in fields]
                )
            case tree.Prefix(prefix, ""):
                return _unscored(_any([self._expanded(field.name, prefix) for field in self._fields]))
        name = word_field(node.attribute)
        if node.attribute not in self._attributes and all(name != field.name for field in self._fields):
            return Query.empty_query()
        if isinstance(node, tree.Prefix):
            return _unscored(self._expanded(name, node.prefix))
        return _phrase(self._schema, name, node.words if isinstance(node, tree.Phrase) else (node.word,))

    def _word(self, word: str, stems: tuple[tuple[str, str], ...]) -> Query:
        """Return the query of a word and its forms, all with the idf of the field that has the word most often.

        Otherwise a form in another language, or a word in a title, would score higher than the same word elsewhere.
        """
        known = [(language, stem) for language, stem in stems if language in self.languages]
        forms = [(field, word_forms(field, word, known, self._frequency)) for field in self._fields]
        if not self.budget.spend(sum(form.documents for _, found in forms for form in found)):
            return Query.empty_query()
        field_idf = idf(
            self._documents, max(matching_documents(found, self._documents) for _, found in forms)
        )
        return _any(
            [query for field, found in forms for query in self._form_queries(found, field.weight * field_idf)]
        )

    def _frequency(self, field: str, term: str) -> int:
        return min(self._documents, self._searcher.doc_freq(field, term))

    def _form_queries(self, forms: list[WordForm], weight: float) -> Iterator[Query]:
        """Yield the query of the forms of a word in a field; the best form counts."""
        queries = []
        for form in forms:
            if form.documents:
                query = self._term(form.field, form.term)
                if form.language:
                    query = _all_must(query, _unscored(self._term("language", form.language)))
                own = 1.0 if form is forms[0] else INFLECTION_FACTOR
                queries.append(_boosted(query, weight * own / idf(self._documents, form.documents)))
        if queries:
            yield queries[0] if len(queries) == 1 else Query.disjunction_max_query(queries)

    def _equal(self, name: str, value: str | float) -> Query:
        if name not in self._attributes:
            return Query.empty_query()
        return _unscored(self._term(value_field(self._attributes[name]), value))

    def _between(self, name: str, start: tree.Bound | None, end: tree.Bound | None) -> Query:
        attribute = self._attributes.get(name)
        if attribute is None:
            return Query.empty_query()
        field = value_field(attribute)
        if attribute.type is AttributeType.STRING:
            return _unscored(
                Query.term_set_query(self._schema, field, _values_between(self._searcher, field, start, end))
            )
        low, high = (microseconds(e) if isinstance(e, datetime) else e for e in (start, end))
        kind = FieldType.Float if attribute.type is AttributeType.NUMBER else FieldType.Integer
        assert not isinstance(low, str)
        assert not isinstance(high, str)
        return _unscored(
            Query.range_query(
                self._schema, field, kind, lower_bound=low, upper_bound=high, include_upper=high is None
            )
        )

    def _all(self, nodes: tuple[tree.Node, ...]) -> Query:
        """Of a negated node that is not read to its end nobody knows what it excludes: then nothing matches."""
        clauses = []
        for node in nodes:
            if isinstance(node, tree.Not):
                refusals = self.budget.refusals
                clauses.append((Occur.MustNot, self.compile_node(node.node)))
                if self.budget.refusals != refusals:
                    return Query.empty_query()
            else:
                clauses.append((Occur.Must, self.compile_node(node)))
        if all(isinstance(node, tree.Not) for node in nodes):
            clauses.append((Occur.Must, _unscored(Query.all_query())))
        return Query.boolean_query(clauses)

    def _term(self, name: str, value: str | float) -> Query:
        return Query.term_query(self._schema, name, value)

    def _expanded(self, name: str, prefix: str) -> Query:
        """Return the query of all words with a prefix, or of the first ones that the budget admits."""
        known = self._searcher.terms_with_prefix(name, prefix, limit=self.budget.terms + 1)
        admitted = [term for term, _ in takewhile(lambda found: self.budget.spend(found[1]), known)]
        if len(admitted) == len(known):
            return self._beginning(name, prefix)
        return Query.term_set_query(self._schema, name, admitted)

    def _beginning(self, name: str, beginning: str) -> Query:
        """Return the query of all words or values that begin so."""
        if len(beginning) <= _LONGEST_PATTERN:
            return Query.regex_query(self._schema, name, re.escape(beginning) + "(?s:.)*")
        found = self._searcher.terms_with_prefix(name, beginning)
        return Query.term_set_query(self._schema, name, [term for term, _ in found])


def _values_between(
    searcher: Searcher, field: str, start: tree.Bound | None, end: tree.Bound | None
) -> list[str]:
    """Return the values of a field in an interval; tantivy has no range query for strings."""
    low, high = str(start or ""), None if end is None else str(end)
    terms = (term for term, _ in searcher.terms_with_prefix(field, ""))
    return [term for term in terms if low <= term and (high is None or term < high)]


def _phrase(schema: Schema, name: str, found: tuple[str, ...]) -> Query:
    if len(found) == 1:
        return Query.term_query(schema, name, found[0])
    return Query.phrase_query(schema, name, list(found))


def _any(queries: list[Query]) -> Query:
    if not queries:
        return Query.empty_query()
    return Query.boolean_query([(Occur.Should, query) for query in queries])


def _all_must(*queries: Query) -> Query:
    return Query.boolean_query([(Occur.Must, query) for query in queries])


def _at_least(queries: list[Query], number: int) -> Query:
    """Return the query of documents that match at least `number` queries, scored by the coordination factor.

    tantivy boosts whole queries only, so the query is repeated for each step of the factor.
    """
    if number > len(queries):
        return Query.empty_query()
    clauses = [(Occur.Should, query) for query in queries]
    shares, before = [], 0
    for step in coordination_steps(number, len(queries)):
        share = coordination_factor(step, len(queries)) - coordination_factor(before, len(queries))
        shares.append(_boosted(Query.boolean_query(clauses, minimum_number_should_match=step), share))
        before = step
    return _any(shares)


def _boosted(query: Query, boost: float) -> Query:
    return query if boost == 1.0 else Query.boost_query(query, boost)


def _unscored(query: Query) -> Query:
    return Query.const_score_query(query, 0.0)
