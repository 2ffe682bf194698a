"""Evaluates a query tree over one segment, whole posting lists at a time.

Whoosh's own matchers walk documents one by one through several Python calls each; sets and comprehensions
over whole lists answer the same queries about ten times as fast.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from whoosh.fields import DATETIME, NUMERIC

from ultracrawl.attributes.schema import AttributeType, SearchAttribute
from ultracrawl.index.query import AllOf, AnyOf, Between, Equal, FromSource, Node, Not, Phrase, Prefix, Word
from ultracrawl.index.scoring import K1, TITLE_BOOST, rarity
from ultracrawl.index.whoosh.fields import naive_utc, value_field, word_field
from ultracrawl.index.whoosh.postings import Postings, decode_positions
from ultracrawl.index.whoosh.segments import OpenSegment, Snapshot

Scores = dict[int, float]
"""The matching documents of a segment with their scores."""

_MAIN_FIELDS = (("title", TITLE_BOOST), ("text", 1.0))


class Evaluation:
    """One query over one snapshot; `run` is called for each of its segments."""

    def __init__(self, snapshot: Snapshot, attributes: Mapping[str, SearchAttribute]) -> None:
        self._snapshot = snapshot
        self._attributes = attributes
        self._rarities: dict[tuple[str, str], float] = {}

    def run(self, node: Node, segment: OpenSegment) -> Scores:
        """Return the living documents of the segment that match."""
        scores = self._evaluate(node, segment)
        if segment.deleted:
            for docnum in segment.deleted & scores.keys():
                del scores[docnum]
        return scores

    def _evaluate(self, node: Node, segment: OpenSegment) -> Scores:
        match node:
            case Word(word, attribute):
                return _sum(self._scored(segment, name, word, boost) for name, boost in _fields(attribute))
            case Phrase(words, attribute):
                return _sum(self._phrase(segment, name, words, boost) for name, boost in _fields(attribute))
            case Prefix(prefix, attribute):
                found = (p for name, _ in _fields(attribute) for p in segment.with_prefix(name, prefix))
                return _flat(found)
            case Equal(attribute, value):
                return _flat([segment.postings(*self._exact(attribute, value))])
            case Between(attribute, start, end):
                return _flat(
                    segment.between(value_field(self._attributes[attribute]), _date(start), _date(end))
                )
            case FromSource(source):
                return _flat([segment.postings("source", source)])
            case AllOf(nodes):
                return self._all(nodes, segment)
            case AnyOf(nodes):
                return _sum(self._evaluate(child, segment) for child in nodes)
            case Not(child):
                return self._all((Not(child),), segment)

    def _all(self, nodes: tuple[Node, ...], segment: OpenSegment) -> Scores:
        """Intersect what must match, smallest first, then take out what must not."""
        found = [self._evaluate(node, segment) for node in nodes if not isinstance(node, Not)]
        found.sort(key=len)
        result = found[0] if found else dict.fromkeys(range(segment.documents), 0.0)
        for other in found[1:]:
            result = {docnum: score + other[docnum] for docnum, score in result.items() if docnum in other}
        for node in nodes:
            if isinstance(node, Not) and result:
                for docnum in self._evaluate(node.node, segment).keys() & result.keys():
                    del result[docnum]
        return result

    def _scored(self, segment: OpenSegment, fieldname: str, word: str, boost: float) -> Scores:
        postings = segment.postings(fieldname, word)
        if not postings.ids:
            return {}
        return self._score(segment, fieldname, postings, self._rarity(fieldname, word) * boost)

    def _score(self, segment: OpenSegment, fieldname: str, postings: Postings, weight: float) -> Scores:
        damped, lengths = self._snapshot.damping_of(fieldname), segment.lengths(fieldname)
        factor = weight * (K1 + 1.0)
        return {
            docnum: factor * frequency / (frequency + damped[lengths[docnum]])
            for docnum, frequency in zip(postings.ids, postings.weights, strict=True)
        }

    def _phrase(self, segment: OpenSegment, fieldname: str, words: tuple[str, ...], boost: float) -> Scores:
        """Score the words in the documents in which they stand one after the other."""
        lists = {word: segment.postings(fieldname, word) for word in words}
        common = set(min(lists.values(), key=lambda postings: len(postings.ids)).ids)
        for postings in lists.values():
            common.intersection_update(postings.ids)
        if not common:
            return {}
        places = {word: _values(postings, common) for word, postings in lists.items()}
        matching = [docnum for docnum in common if _adjacent([places[word][docnum] for word in words])]
        return _sum(
            self._score(
                segment, fieldname, _only(lists[word], matching), self._rarity(fieldname, word) * boost
            )
            for word in words
        )

    def _rarity(self, fieldname: str, word: str) -> float:
        if (fieldname, word) not in self._rarities:
            matching = sum(segment.frequency(fieldname, word) for segment in self._snapshot.segments)
            self._rarities[fieldname, word] = rarity(self._snapshot.documents, matching)
        return self._rarities[fieldname, word]

    def _exact(self, attribute: str, value: str | float) -> tuple[str, str | bytes]:
        wanted = self._attributes[attribute]
        if wanted.type is AttributeType.NUMBER:
            return value_field(wanted), NUMERIC(float).to_bytes(value)
        return value_field(wanted), str(value)


def _fields(attribute: str) -> Iterable[tuple[str, float]]:
    return ((word_field(attribute), 1.0),) if attribute else _MAIN_FIELDS


def _date(moment: datetime) -> bytes:
    """Return the term of a moment at full precision."""
    term: bytes = DATETIME().to_bytes(naive_utc(moment))
    return term


def _flat(lists: Iterable[Postings]) -> Scores:
    """Return the documents of all lists; such matches say nothing about relevance."""
    scores: Scores = {}
    for postings in lists:
        scores.update(dict.fromkeys(postings.ids, 0.0))
    return scores


def _sum(found: Iterable[Scores]) -> Scores:
    """Return the documents of any, with their scores added up."""
    parts = sorted((scores for scores in found if scores), key=len, reverse=True)
    if not parts:
        return {}
    total = parts[0]
    for scores in parts[1:]:
        for docnum, score in scores.items():
            total[docnum] = total.get(docnum, 0.0) + score
    return total


def _values(postings: Postings, wanted: set[int]) -> dict[int, bytes]:
    pairs = zip(postings.ids, postings.values or (), strict=True)
    return {docnum: value for docnum, value in pairs if docnum in wanted}


def _only(postings: Postings, wanted: Iterable[int]) -> Postings:
    weights = dict(zip(postings.ids, postings.weights, strict=True))
    ids = list(wanted)
    return Postings(ids, [weights[docnum] for docnum in ids], None)


def _adjacent(values: list[bytes]) -> bool:
    """Return whether the words whose encoded positions these are stand one after the other somewhere.

    The word with the fewest positions comes first, so that the others are only compared with few.
    """
    shortest, *others = sorted(enumerate(values), key=lambda pair: len(pair[1]))
    starts = {position - shortest[0] for position in decode_positions(shortest[1])}
    for offset, value in others:
        wanted = {start + offset for start in starts}
        starts = {position - offset for position in wanted.intersection(decode_positions(value))}
        if not starts:
            return False
    return True
