"""Reranks the best matches by which query words occur where in a document.

Engines score documents by BM25, each in its own way. Their best matches are reranked here, from stored fields, with the
same weights for every engine.
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
"""Number of best matches that are reranked."""
MAX_TEXTS = 1000
"""Section titles, and anchor texts, of a document that are considered."""
MAX_MATCHES = 600
"""Matches in a text that are considered."""

_PASSAGE_LENGTH = 120
"""Characters of a passage: the window in which words count as close together."""
_PROXIMITY_WEIGHT = 2.0
"""Score of a passage with all words; the words of a document, wherever they occur, score 1 at most."""
_NAME_PROXIMITY = 1.5
"""Factor for all words in one title, heading or anchor text, compared with one passage."""
_EXACT_NAME_WEIGHT = 0.5
"""Score of a title or anchor text that consists of exactly the query words."""
_BASE_SCORE = 0.5
"""Score of every match."""
_SATURATION = 3.0
"""Weighted term frequency at which a word reaches half of its maximum score (k1 of BM25)."""
_TITLE_WORDS = 6
"""Words of a usual title; in longer ones each word counts less."""
_TEXT_LENGTH, _LENGTH_WEIGHT = 6000, 0.2
"""Characters of a usual text, and the weight of the length (b of BM25)."""
_MAX_TEXT_FREQUENCY = 8.0
"""Limit of the term frequency in the text, so that one match in the title outweighs many there."""
_YEAR_SECONDS = 365.25 * 86400

Place = TypeVar("Place")
Concept = frozenset[tree.Word | tree.Prefix]
"""Alternative words, such as a word and its synonyms."""


def concepts(node: tree.Node) -> Iterator[Concept]:
    """Yield the concepts of a query in titles and texts."""
    match node:
        case tree.Word(_, "") | tree.Prefix(_, ""):
            yield frozenset((node,))
        case tree.Phrase(found, ""):
            yield from (frozenset((tree.Word(word),)) for word in found)
        case tree.AnyOf(nodes):
            choices = [leaves for child in nodes if (leaves := list(tree.searched_words(child)))]
            if len(choices) > 1:
                yield frozenset(chain.from_iterable(choices))
            else:  # words as an alternative to a URL
                for child in nodes:
                    yield from concepts(child)
        case _:
            for child in tree.child_nodes(node):
                yield from concepts(child)


class Reranker:
    """Reranks the matches of one query. Not thread-safe."""

    def __init__(self, node: tree.Node, query: SearchQuery, statistics: IndexStatistics) -> None:
        self._weights, self._boosts, self._language = query.weights, query.boosts, preferred_language(query)
        self._matcher = Matcher(node)
        is_shown = query.limit > 0 and not query.like  # documents that are alike stay in the engine's order
        found = [one for one in dict.fromkeys(concepts(node)) if one] if is_shown else []
        self._idfs = [_idf_of(one, statistics) for one in found]
        self._total = sum(self._idfs)
        self._concepts_by_bits = {
            1 << n: tuple(number for number, concept in enumerate(found) if leaf in concept)
            for n, leaf in enumerate(dict.fromkeys(tree.searched_words(node)))
        }
        self._today = datetime.now(UTC)

    def rerank(
        self, matches: Sequence[tuple[float, Place]], read: Callable[[Place], IndexDocument]
    ) -> list[tuple[float, Place]]:
        """Return the matches with new scores, in their new order; those behind the first `RERANK_LIMIT` stay behind.

        `read` returns the document of a match. Pinned documents stay first.
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
        """Return the new score of a document, computed from the score of the engine.

        The more concepts a query has, the less the engine's score counts: for a single word it says best how important
        the word is to a document, for many words their proximity does.
        """
        tag = str(next(iter(document.attributes.get("Language", ())), "")).strip().lower()
        factor = boost_of(document.url, self._boosts) * self._language_factor(tag)
        if not factor or score <= 0:
            return score
        language = language_of(tag)
        occurrences, complete, part = self._score_names(document, language)
        text = document.text[:STORED_TEXT_LIMIT]
        spans = self._matcher.spans(text, language, most=MAX_MATCHES)
        damping = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * len(text) / _TEXT_LENGTH
        in_text = Counter(concept for _, _, bits in spans for concept in self._concepts_of(bits))
        for concept, times in in_text.items():
            occurrences[concept] += self._weights.text * min(_MAX_TEXT_FREQUENCY, times / damping)
        frequency_score = sum(
            rare * n / (n + _SATURATION) for rare, n in zip(self._idfs, occurrences, strict=True)
        )
        relevance = _BASE_SCORE + frequency_score / self._total + _EXACT_NAME_WEIGHT * complete
        if len(self._idfs) > 1:
            relevance += _PROXIMITY_WEIGHT * max(
                _NAME_PROXIMITY * part**4, (self._best_passage(spans) / self._total) ** 4
            )
        engine_score: float = (score / factor) ** (1 / len(self._idfs))
        return (
            factor
            * engine_score
            * relevance
            * self._depth_factor(document)
            * self._freshness_factor(document)
        )

    def _score_names(self, document: IndexDocument, language: str) -> tuple[list[float], float, float]:
        """Return the weighted frequencies of the concepts in names of the document, and two scores between 0 and 1.

        Names are its title, address, section titles and anchor texts. The first score is 1 if one of them consists of
        exactly the concepts, less if some are missing or there are other words. The second is the largest share of the
        concepts, weighted by idf, in one of them.
        """
        occurrences, complete, most = [0.0] * len(self._idfs), 0.0, 0.0
        texts = [(weight, text) for weight, text in _weighted_names(document, self._weights) if weight]
        starts, length = [], 0
        for _, text in texts:
            starts.append(length)
            length += len(text) + 1
        joined = "\n".join(text for _, text in texts)
        held: dict[int, dict[int, int]] = {}
        for start, _, bits in self._matcher.spans(joined, language, most=MAX_MATCHES):
            own = held.setdefault(bisect_right(starts, start) - 1, {})
            for concept in self._concepts_of(bits):
                own[concept] = own.get(concept, 0) + 1
        for number, own in held.items():
            weight, text = texts[number]
            for concept, times in own.items():
                occurrences[concept] += weight * times
            part = sum(self._idfs[concept] for concept in own) / self._total
            most = max(most, part)
            if part * part > complete:
                share = sum(own.values()) / max(1, len(words(text)))
                complete = max(complete, part * part * (0.3 + 0.7 * min(1.0, share)))
        return occurrences, complete, most

    def _concepts_of(self, bits: int) -> tuple[int, ...]:
        meant = self._concepts_by_bits.get(bits)
        if meant is None:
            meant = self._concepts_by_bits[bits] = tuple(
                one for bit in bits_of(bits) for one in self._concepts_by_bits.get(bit, ())
            )
        return meant

    def _best_passage(self, spans: Sequence[Span]) -> float:
        """Return the largest sum of idf of the concepts in one passage of the text."""
        best = total = 0.0
        inside = [0] * len(self._idfs)
        last = 0
        for start, _, bits in spans:
            while last < len(spans) and spans[last][1] - start <= _PASSAGE_LENGTH:
                for concept in self._concepts_of(spans[last][2]):
                    total += 0.0 if inside[concept] else self._idfs[concept]
                    inside[concept] += 1
                last += 1
            best = max(best, total)
            for concept in self._concepts_of(bits):
                if inside[concept]:
                    inside[concept] -= 1
                    total -= 0.0 if inside[concept] else self._idfs[concept]
        return best

    def _language_factor(self, tag: str) -> float:
        """Return the factor of a document in the preferred language; 1 for others."""
        preferred = self._language and (tag == self._language or tag.startswith(f"{self._language}-"))
        return SAME_LANGUAGE_FACTOR if preferred else 1.0

    def _depth_factor(self, document: IndexDocument) -> float:
        return 1.0 / (1.0 + self._weights.depth * document.depth)

    def _freshness_factor(self, document: IndexDocument) -> float:
        changed = next(iter(document.attributes.get("LastModifiedDate", ())), None)
        if not self._weights.freshness or not isinstance(changed, datetime):
            return 1.0
        age = max(0.0, (self._today - as_utc(changed)).total_seconds()) / _YEAR_SECONDS
        return 1.0 + self._weights.freshness / (1.0 + age)


def _weighted_names(document: IndexDocument, weights: RankingWeights) -> Iterator[tuple[float, str]]:
    """Yield the weight and text of each name of a document and its sections."""
    longer = max(1.0, len(words(document.title)) / _TITLE_WORDS)
    yield weights.title / longer, document.title
    yield weights.address, " ".join(address_words(document.url))
    for one in islice(document.sections, MAX_TEXTS):
        yield weights.headings, one.title
    for text in islice(document.anchors, MAX_TEXTS):
        yield weights.anchors, text
    for _, text in islice(document.section_anchors, MAX_TEXTS):
        yield weights.section_anchors, text


def _idf_of(concept: Concept, statistics: IndexStatistics) -> float:
    """Return the idf of a concept: that of the most frequent of its words."""
    matching = [statistics.document_frequency(leaf.word) for leaf in concept if isinstance(leaf, tree.Word)]
    return idf(statistics.document_count, max(matching, default=statistics.document_count // 10))
