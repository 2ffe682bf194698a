"""Evaluates a query tree over one segment, a whole posting list at a time.

Whoosh's own matchers step through documents one by one, with several Python calls each; sets and comprehensions over
whole lists are about ten times as fast.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import accumulate, chain, compress, takewhile

from whoosh.fields import DATETIME, NUMERIC

from ultracrawl.index.budget import SearchBudget
from ultracrawl.index.engine import KeptDocuments
from ultracrawl.index.hits.document_cache import DocumentCache
from ultracrawl.index.query import tree
from ultracrawl.index.query.scoring import (
    FIELDS,
    K1,
    SearchedField,
    combined_frequency,
    coordination_factor,
    idf,
)
from ultracrawl.index.stored_fields import document_id
from ultracrawl.index.whoosh.fields import naive_utc, value_field, value_terms_end, word_field
from ultracrawl.index.whoosh.postings import Postings, decode_differences
from ultracrawl.index.whoosh.segments import OpenSegment, Snapshot
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute

Scores = dict[int, float]
"""Scores of the matching documents of a segment, by document number."""


class Evaluation:
    """Evaluates one query over one snapshot; `run` is called for each segment."""

    def __init__(
        self,
        snapshot: Snapshot,
        attributes: Mapping[str, SearchAttribute],
        budget: SearchBudget | None = None,
        kept: KeptDocuments | None = None,
    ) -> None:
        self._budget = budget or SearchBudget()
        self._kept = kept or DocumentCache()
        self._snapshot = snapshot
        self._attributes = attributes
        self._frequencies: dict[tuple[tree.Word, str], dict[OpenSegment, Scores]] = {}
        self._idfs: dict[tree.Word, float] = {}
        self._excluded: dict[tuple[tree.Node, OpenSegment], Scores] = {}
        """What negated nodes exclude; who asks for several documents asks for the same each time."""

    def run(self, node: tree.Node, segment: OpenSegment) -> Scores:
        """Return the scores of the matching living documents of a segment."""
        scores = self._evaluate(node, segment)
        if segment.deleted:
            for docnum in segment.deleted & scores.keys():
                del scores[docnum]
        return scores

    def _evaluate(self, node: tree.Node, segment: OpenSegment) -> Scores:
        match node:
            case tree.Word() | tree.Phrase() | tree.Prefix():
                return self._text(node, segment) if self._budget.in_time() else {}
            case tree.Equal(attribute, value):
                return _unscored(
                    [segment.postings(self._value_field(attribute), self._term(attribute, value))]
                )
            case tree.Between(attribute, start, end):
                bounds = self._term_bounds(attribute, start, end)
                values = segment.between(self._value_field(attribute), *bounds)
                return _unscored(takewhile(lambda _: self._budget.in_time(), values))
            case tree.FromSource(source):
                return _unscored([segment.postings("source", source)])
            case tree.IsDocument(source, url):
                return dict.fromkeys(segment.find(document_id(source, url)), 0.0)
            case (
                tree.Identifier(child)
                | tree.Named(child)
                | tree.Compound(choices=child)
                | tree.Verbatim(choices=child)
            ):
                return self._evaluate(child, segment)
            case tree.AllOf(nodes):
                return self._all(nodes, segment)
            case tree.AnyOf(nodes):
                return _sum(self._evaluate(child, segment) for child in nodes)
            case tree.Not(child):
                return self._all((tree.Not(child),), segment)
            case _:
                return self._evaluate_weighted(node, segment)

    def _text(self, node: tree.Word | tree.Phrase | tree.Prefix, segment: OpenSegment) -> Scores:
        fields = searched_fields(node.attribute)
        match node:
            case tree.Word():
                compute = partial(self._word_scores, node)
                found = self._kept.scores((self._snapshot.number, node), compute)
                return found[segment.name].copy()  # callers change what they get
            case tree.Phrase(words):
                return _sum(self._phrase(segment, field, words) for field in fields if field.has_positions)
            case tree.Prefix(prefix):
                lists = (p for field in fields for p in segment.with_prefix(field.name, prefix))
                return _unscored(takewhile(lambda p: self._budget.spend(len(p.ids)), lists))

    def _evaluate_weighted(
        self,
        node: tree.HasAclTerm
        | tree.HasUrl
        | tree.AtLeast
        | tree.WithOptional
        | tree.Boosted
        | tree.ConstantScore,
        segment: OpenSegment,
    ) -> Scores:
        match node:
            case tree.HasAclTerm(terms):
                return _unscored(segment.postings("acl", term) for term in terms)
            case tree.HasUrl(url):
                keys = (document_id(source, url) for source in segment.sources)
                return dict.fromkeys((docnum for key in keys for docnum in segment.find(key)), 0.0)
            case tree.AtLeast(nodes, number):
                return _at_least([self._evaluate(child, segment) for child in nodes], number)
            case tree.ConstantScore(child, score):
                return dict.fromkeys(self._evaluate(child, segment), score)
            case tree.WithOptional(child, others):
                scores = self._evaluate(child, segment)
                for found in (self._evaluate(other, segment) for other in others if scores):
                    for docnum in found.keys() & scores.keys():
                        scores[docnum] += found[docnum]
                return scores
            case tree.Boosted(child, factor, condition):
                scores = self._evaluate(child, segment)
                everywhere = condition == tree.EVERYTHING
                wanted = scores if everywhere else self._evaluate(condition, segment)
                for docnum in scores.keys() & wanted.keys():
                    scores[docnum] *= factor
                return scores

    def _all(self, nodes: tuple[tree.Node, ...], segment: OpenSegment) -> Scores:
        """Intersect the positive nodes, smallest first, then subtract the negated ones.

        Of a negated node that was not read to its end nobody knows what it excludes: then nothing matches.
        """
        found = [self._evaluate(node, segment) for node in nodes if not isinstance(node, tree.Not)]
        found.sort(key=len)
        result = found[0] if found else dict.fromkeys(range(segment.documents), 0.0)
        for other in found[1:]:
            result = {docnum: score + other[docnum] for docnum, score in result.items() if docnum in other}
        for node in nodes:
            if isinstance(node, tree.Not) and result:
                refusals = self._budget.refusals
                excluded = self._excluded.get((node.node, segment))
                if excluded is None:
                    excluded = self._evaluate(node.node, segment)
                    if self._budget.refusals != refusals:
                        return {}
                    self._excluded[node.node, segment] = excluded
                for docnum in excluded.keys() & result.keys():
                    del result[docnum]
        return result

    def _word_scores(self, word: tree.Word) -> dict[str, Scores]:
        """Return the scores of a word in all segments, because its idf needs all of them."""
        fields = searched_fields(word.attribute)
        return {
            segment.name: _sum(self._scored(segment, field, word) for field in fields)
            for segment in self._snapshot.segments
        }

    def _scored(self, segment: OpenSegment, field: SearchedField, word: tree.Word) -> Scores:
        found = self._occurrences(field, word)[segment]
        return self._score(segment, field, found, self._idf(word)) if found else {}

    def _score(self, segment: OpenSegment, field: SearchedField, found: Scores, weight: float) -> Scores:
        factor = weight * field.weight * (K1 + 1.0)
        if not field.is_length_normalised:
            return {docnum: factor * frequency / (frequency + K1) for docnum, frequency in found.items()}
        damped, lengths = self._snapshot.length_norms(field.name), segment.lengths(field.name)
        return {
            docnum: factor * frequency / (frequency + damped[lengths[docnum]])
            for docnum, frequency in found.items()
        }

    def _phrase(self, segment: OpenSegment, field: SearchedField, words: tuple[str, ...]) -> Scores:
        """Score the words of a phrase in the documents that contain it."""
        lists = [segment.postings(field.name, word) for word in words]
        matching = phrase_documents(lists)
        if not matching:
            return {}
        scored = {}
        for word, postings in zip(words, lists, strict=True):
            chosen = map(matching.__contains__, postings.ids)
            found = dict(compress(zip(postings.ids, postings.weights, strict=True), chosen))
            scored[word] = self._score(segment, field, found, self._idf(tree.Word(word)))
        return _sum(scored.values())

    def _occurrences(self, field: SearchedField, word: tree.Word) -> dict[OpenSegment, Scores]:
        """Return the term frequencies of a word in all segments, because its idf needs all of them."""
        key = word, field.name
        if key not in self._frequencies:
            self._frequencies[key] = {
                segment: occurrences(segment, field, word, self._snapshot.languages)
                for segment in self._snapshot.segments
            }
        return self._frequencies[key]

    def _idf(self, word: tree.Word) -> float:
        """Return the idf of a word by the field that has it most often, so that it is the same in every field."""
        if word not in self._idfs:
            matching = max(self._document_frequency(field, word) for field in searched_fields(word.attribute))
            self._idfs[word] = idf(self._snapshot.documents, matching)
        return self._idfs[word]

    def _document_frequency(self, field: SearchedField, word: tree.Word) -> int:
        """Return the number of documents with any form of a word in a field."""
        if word.stems:
            return sum(map(len, self._occurrences(field, word).values()))
        return self._snapshot.frequency(field.name, word.word)

    def _value_field(self, attribute: str) -> str:
        return value_field(self._attributes[attribute])

    def _term_bounds(
        self, attribute: str, start: tree.Bound | None, end: tree.Bound | None
    ) -> tuple[bytes | None, bytes | None]:
        first = None if start is None else self._term(attribute, start)
        if end is None:
            return first, value_terms_end(self._attributes[attribute].type)
        return first, self._term(attribute, end)

    def _term(self, attribute: str, value: tree.Bound) -> bytes:
        """Return the term of a value in the value field of the attribute."""
        kind = self._attributes[attribute].type
        term: bytes
        if kind is AttributeType.NUMBER:
            term = NUMERIC(float).to_bytes(value)
        elif isinstance(value, datetime):
            term = DATETIME().to_bytes(naive_utc(value))
        else:
            term = str(value).encode(errors="replace")
        return term


def _unscored(lists: Iterable[Postings]) -> Scores:
    """Return the documents of all posting lists with score 0, because conditions are not scored."""
    scores: Scores = {}
    for postings in lists:
        scores.update(dict.fromkeys(postings.ids, 0.0))
    return scores


def _sum(found: Iterable[Scores]) -> Scores:
    """Return the union of the documents with their scores added."""
    parts = sorted((scores for scores in found if scores), key=len, reverse=True)
    if not parts:
        return {}
    total = parts[0]
    for scores in parts[1:]:
        for docnum, score in scores.items():
            total[docnum] = total.get(docnum, 0.0) + score
    return total


def _at_least(found: Sequence[Scores], number: int) -> Scores:
    """Return the documents in at least `number` of the results, scored with the coordination factor."""
    held = Counter(chain.from_iterable(found))
    total = _sum(found)
    factors = [coordination_factor(times, len(found)) for times in range(len(found) + 1)]
    return {docnum: total[docnum] * factors[times] for docnum, times in held.items() if times >= number}


def phrase_documents(lists: Sequence[Postings]) -> set[int]:
    """Return the documents that contain a phrase, given the postings of its words in order.

    The two rarest words are compared in all documents with all words, the others only where these two have the right
    distance.
    """
    common = set(min(lists, key=lambda postings: len(postings.ids)).ids)
    for postings in lists:
        common.intersection_update(postings.ids)
    if not common or len(lists) == 1:
        return common
    offsets = sorted(range(len(lists)), key=lambda offset: sum(lists[offset].weights))
    near = _at_distance(lists, offsets[0], offsets[1], common)
    if len(lists) == 2 or not near:
        return near
    return _consecutive(lists, offsets, near)


def _at_distance(lists: Sequence[Postings], first: int, second: int, common: set[int]) -> set[int]:
    """Return the documents in which two words of the phrase have the right distance."""
    ones, others = (_positions(lists[offset], common) for offset in (first, second))
    shift = (second - first).__add__
    ordered = ones.keys()
    pairs = zip(
        ordered,
        decode_differences(ones.values()),
        decode_differences(others[docnum] for docnum in ordered),
        strict=True,
    )
    return {
        docnum
        for docnum, one, other in pairs
        if not set(map(shift, accumulate(one))).isdisjoint(accumulate(other))
    }


def _positions(postings: Postings, wanted: set[int]) -> dict[int, bytes]:
    values = postings.values or ()
    chosen = map(wanted.__contains__, postings.ids)
    return dict(compress(zip(postings.ids, values, strict=True), chosen))


def _consecutive(lists: Sequence[Postings], offsets: Sequence[int], near: set[int]) -> set[int]:
    """Return the documents in which all words are consecutive, checking the rarest first."""
    documents = list(near)
    shifts = [(-offset).__add__ for offset in offsets]
    found = [_positions(lists[offset], near) for offset in offsets]
    steps = [decode_differences(values[docnum] for docnum in documents) for values in found]
    matching = set()
    for docnum, *differences in zip(documents, *steps, strict=True):
        starts = set(map(shifts[0], accumulate(differences[0])))
        for shift, one in zip(shifts[1:], differences[1:], strict=True):
            starts.intersection_update(map(shift, accumulate(one)))
            if not starts:
                break
        else:
            matching.add(docnum)
    return matching


def searched_fields(attribute: str) -> tuple[SearchedField, ...]:
    """Return the fields with the words of an attribute; without an attribute all `FIELDS`."""
    return (SearchedField(word_field(attribute), 1.0),) if attribute else FIELDS


def occurrences(
    segment: OpenSegment, field: SearchedField, word: tree.Word, languages: frozenset[str]
) -> dict[int, float]:
    """Return the term frequencies of a word by document; inflected forms count for less."""
    exact = segment.postings(field.name, word.word)
    found = dict(zip(exact.ids, exact.weights, strict=True))
    if not field.stems:
        return found
    changed: dict[int, float] = {}
    for language, stem in word.stems:
        if language in languages:
            for docnum, frequency in _forms(segment, field, word.word, language, stem, found).items():
                changed[docnum] = combined_frequency(found.get(docnum, 0.0), frequency)
    found.update(changed)
    return found


def _forms(
    segment: OpenSegment, field: SearchedField, word: str, language: str, stem: str, exact: dict[int, float]
) -> dict[int, float]:
    """Return the frequencies of words with this stem in the documents of the language.

    Words that differ from their stem are in the field of stems; a word that equals its stem is only in the text field.
    """
    inflected = segment.postings(field.stems, f"{language}:{stem}")
    forms = dict(zip(inflected.ids, inflected.weights, strict=True))
    if stem == word:
        for docnum in forms.keys() & exact.keys():
            forms[docnum] += exact[docnum]
        return forms
    plain = segment.postings(field.name, stem)
    if plain.ids:
        members = segment.in_language(language)
        for docnum, frequency in zip(plain.ids, plain.weights, strict=True):
            if docnum in members:
                forms[docnum] = forms.get(docnum, 0.0) + frequency
    return forms
