"""The order of the best matches: what a document says of what was sought, and where it says it.

An engine finds documents and scores them by BM25, each in its own way. The first of them are ordered anew here, with
the same weights for every engine, out of what it keeps of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from typing import TypeVar

from ultracrawl.index.engine import IndexDocument, RankingWeights, SearchQuery
from ultracrawl.index.hits.matching import Matcher, Span, bits_of
from ultracrawl.index.query import tree
from ultracrawl.index.query.boosts import boost_of
from ultracrawl.index.query.query_builder import IndexStatistics, preferred_language
from ultracrawl.index.query.scoring import PINNED_SCORE, SAME_LANGUAGE_FACTOR, idf
from ultracrawl.index.stored_fields import STORED_TEXT_LIMIT
from ultracrawl.index.words.analysis import words
from ultracrawl.index.words.stemming import language_of
from ultracrawl.index.words.text import address_words
from ultracrawl.model.dates import as_utc

RERANK_LIMIT = 50
"""So many of the best matches of an engine are ordered anew."""
MOST_TEXTS = 1000
"""Titles of parts, and texts of links, of a document that are looked at."""
MOST_FOUND = 600
"""Words found in a text that are looked at."""

_PASSAGE = 120
"""Characters in which words stand close together."""
_CLOSE = 2.0
"""What a passage with all words counts; the words of a document, wherever they stand, count 1 at the most."""
_NAMED = 1.5
"""How much more than in a passage all words count in a title, heading or text of a link."""
_COMPLETE = 0.5
"""What a title, or a text of a link, counts that says just what was sought."""
_FOUND = 0.5
"""What every match counts."""
_SATURATION = 3.0
"""Weighted occurrences of a word at which it counts half of the most that it can (BM25's k1)."""
_USUAL_TITLE = 6
"""Words of a title; in a longer one each counts less."""
_USUAL_TEXT, _LENGTH = 6000, 0.2
"""Characters of a text, and how far its length counts (BM25's b)."""
_MOST_IN_TEXT = 8.0
"""Times that a word counts in a text, so that one in the title says more than many there."""
_YEAR = 365.25 * 86400

Place = TypeVar("Place")
Concept = frozenset[tree.Word | tree.Prefix]
"""Words of which any will do, as a word and its synonyms."""


def concepts(node: tree.Node) -> Iterator[Concept]:
    """Yield what a query seeks in titles and texts."""
    match node:
        case tree.Word(_, "") | tree.Prefix(_, ""):
            yield frozenset((node,))
        case tree.Phrase(found, ""):
            yield from (frozenset((tree.Word(word),)) for word in found)
        case tree.AnyOf(nodes):
            choices = [leaves for child in nodes if (leaves := list(tree.searched_words(child)))]
            if len(choices) > 1:
                yield frozenset(chain.from_iterable(choices))
            else:  # beside a URL
                for child in nodes:
                    yield from concepts(child)
        case _:
            for child in tree.child_nodes(node):
                yield from concepts(child)


class Reranker:
    """The order of the matches of one query. Not thread-safe."""

    def __init__(self, node: tree.Node, query: SearchQuery, statistics: IndexStatistics) -> None:
        self._weights, self._boosts, self._language = query.weights, query.boosts, preferred_language(query)
        self._matcher = Matcher(node)
        is_shown = query.limit > 0 and not query.like  # those alike are in their order
        found = [one for one in dict.fromkeys(concepts(node)) if one] if is_shown else []
        self._rarities = [_rarity_of(one, statistics) for one in found]
        self._total = sum(self._rarities)
        self._meant = {
            1 << n: tuple(number for number, concept in enumerate(found) if leaf in concept)
            for n, leaf in enumerate(dict.fromkeys(tree.searched_words(node)))
        }
        self._today = datetime.now(UTC)

    def rerank(
        self, matches: Sequence[tuple[float, Place]], read: Callable[[Place], IndexDocument]
    ) -> list[tuple[float, Place]]:
        """Return matches in their new order, with new scores; those behind the first `RERANK_LIMIT` stay behind them.

        `read` gives the document at a place. Pinned ones stay before all others.
        """
        if not self._total:
            return list(matches)
        pinned = [match for match in matches if match[0] >= PINNED_SCORE]
        others = matches[len(pinned) :]
        first = [(self.score(score, read(place)), place) for score, place in others[:RERANK_LIMIT]]
        first.sort(key=lambda match: -match[0])
        least = first[-1][0] if first else 0.0
        return [*pinned, *first, *((min(score, least), place) for score, place in others[RERANK_LIMIT:])]

    def score(self, score: float, document: IndexDocument) -> float:
        """Return the score of a document, of that which the engine gives it.

        The more words are sought the less it is the engine's: single words say best by it how important they are to a
        document, many words by how close they stand to each other.
        """
        tag = str(next(iter(document.attributes.get("Language", ())), "")).strip().lower()
        raised = boost_of(document.url, self._boosts) * self._preference(tag)
        if not raised or score <= 0:
            return score
        language = language_of(tag)
        occurrences, complete, part = self._in_names(document, language)
        text = document.text[:STORED_TEXT_LIMIT]
        spans = self._matcher.spans(text, language, most=MOST_FOUND)
        damping = 1 - _LENGTH + _LENGTH * len(text) / _USUAL_TEXT
        in_text = Counter(concept for _, _, bits in spans for concept in self._concepts_of(bits))
        for concept, times in in_text.items():
            occurrences[concept] += self._weights.text * min(_MOST_IN_TEXT, times / damping)
        said = sum(rare * n / (n + _SATURATION) for rare, n in zip(self._rarities, occurrences, strict=True))
        worth = _FOUND + said / self._total + _COMPLETE * complete
        if len(self._rarities) > 1:
            worth += _CLOSE * max(_NAMED * part**4, (self._closest(spans) / self._total) ** 4)
        known: float = (score / raised) ** (1 / len(self._rarities))
        return raised * known * worth * self._nearness(document) * self._freshness(document)

    def _in_names(self, document: IndexDocument, language: str) -> tuple[list[float], float, float]:
        """Return how often words stand in what a document and its parts are called, weighted, and two more numbers.

        The first is 1 if one of these says what was sought and nothing else, less for a part of it or with more words.
        The second is how much of what was sought one of them has.
        """
        occurrences, complete, most = [0.0] * len(self._rarities), 0.0, 0.0
        texts = [(weight, text) for weight, text in _names(document, self._weights) if weight]
        starts, length = [], 0
        for _, text in texts:
            starts.append(length)
            length += len(text) + 1
        joined = "\n".join(text for _, text in texts)
        held: dict[int, dict[int, int]] = {}
        for start, _, bits in self._matcher.spans(joined, language, most=MOST_FOUND):
            own = held.setdefault(bisect_right(starts, start) - 1, {})
            for concept in self._concepts_of(bits):
                own[concept] = own.get(concept, 0) + 1
        for number, own in held.items():
            weight, text = texts[number]
            for concept, times in own.items():
                occurrences[concept] += weight * times
            part = sum(self._rarities[concept] for concept in own) / self._total
            most = max(most, part)
            if part * part > complete:
                share = sum(own.values()) / max(1, len(words(text)))
                complete = max(complete, part * part * (0.3 + 0.7 * min(1.0, share)))
        return occurrences, complete, most

    def _concepts_of(self, bits: int) -> tuple[int, ...]:
        meant = self._meant.get(bits)
        if meant is None:
            meant = self._meant[bits] = tuple(
                one for bit in bits_of(bits) for one in self._meant.get(bit, ())
            )
        return meant

    def _closest(self, spans: Sequence[Span]) -> float:
        """Return how much the words say, at the most, that stand in one passage of the text."""
        best = said = 0.0
        inside = [0] * len(self._rarities)
        last = 0
        for start, _, bits in spans:
            while last < len(spans) and spans[last][1] - start <= _PASSAGE:
                for concept in self._concepts_of(spans[last][2]):
                    said += 0.0 if inside[concept] else self._rarities[concept]
                    inside[concept] += 1
                last += 1
            best = max(best, said)
            for concept in self._concepts_of(bits):
                if inside[concept]:
                    inside[concept] -= 1
                    said -= 0.0 if inside[concept] else self._rarities[concept]
        return best

    def _preference(self, tag: str) -> float:
        """Return what the language of a document counts to who asks."""
        preferred = self._language and (tag == self._language or tag.startswith(f"{self._language}-"))
        return SAME_LANGUAGE_FACTOR if preferred else 1.0

    def _nearness(self, document: IndexDocument) -> float:
        return 1.0 / (1.0 + self._weights.depth * document.depth)

    def _freshness(self, document: IndexDocument) -> float:
        changed = next(iter(document.attributes.get("LastModifiedDate", ())), None)
        if not self._weights.freshness or not isinstance(changed, datetime):
            return 1.0
        age = max(0.0, (self._today - as_utc(changed)).total_seconds()) / _YEAR
        return 1.0 + self._weights.freshness / (1.0 + age)


def _names(document: IndexDocument, weights: RankingWeights) -> Iterator[tuple[float, str]]:
    """Yield what a document and its parts are called, with what a word in it counts."""
    longer = max(1.0, len(words(document.title)) / _USUAL_TITLE)
    yield weights.title / longer, document.title
    yield weights.address, " ".join(address_words(document.url))
    for one in islice(document.sections, MOST_TEXTS):
        yield weights.headings, one.title
    for text in islice(document.anchors, MOST_TEXTS):
        yield weights.anchors, text
    for _, text in islice(document.section_anchors, MOST_TEXTS):
        yield weights.section_anchors, text


def _rarity_of(concept: Concept, statistics: IndexStatistics) -> float:
    """Return how much a concept says: as much as the most frequent of its words."""
    matching = [statistics.document_frequency(leaf.word) for leaf in concept if isinstance(leaf, tree.Word)]
    return idf(statistics.document_count, max(matching, default=statistics.document_count // 10))
