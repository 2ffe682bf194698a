"""Reranks the best matches by which query words occur where in a document.

Engines score documents by BM25, each in its own way. Their best matches are reranked here, from stored fields, with the
same weights for every engine.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import accumulate, chain
from operator import itemgetter
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
_FIRST_MATCHES = 60
"""Matches that are looked at first, for queries of up to `_FEW_CONCEPTS`."""
_FEW_CONCEPTS = 3

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

_BITS = itemgetter(2)

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

    def __init__(
        self, node: tree.Node, query: SearchQuery, statistics: IndexStatistics, matcher: Matcher
    ) -> None:
        """Prepare reranking; `matcher` finds the words of `node`."""
        self._weights, self._boosts, self._language = query.weights, query.boosts, preferred_language(query)
        self._matcher = matcher
        is_shown = query.limit > 0 and not query.like  # documents that are alike stay in the engine's order
        found = [one for one in dict.fromkeys(concepts(node)) if one] if is_shown else []
        self._idfs = [_idf_of(one, statistics) for one in found]
        self._total = sum(self._idfs)
        self._concepts_by_bits = {
            1 << n: tuple(number for number, concept in enumerate(found) if leaf in concept)
            for n, leaf in enumerate(dict.fromkeys(tree.searched_words(node)))
        }
        self._today = datetime.now(UTC)
        # Bigrams are read to the end in any case; of many words some are rare.
        is_quick = len(found) <= _FEW_CONCEPTS and not matcher.has_bigrams
        self._limits = (_FIRST_MATCHES, MAX_MATCHES) if is_quick else (MAX_MATCHES,)

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
        in_text, passage = self._score_text(document.text[:STORED_TEXT_LIMIT], language)
        for concept, frequency in enumerate(in_text):
            occurrences[concept] += self._weights.text * frequency
        frequency_score = sum(
            rare * n / (n + _SATURATION) for rare, n in zip(self._idfs, occurrences, strict=True)
        )
        relevance = _BASE_SCORE + frequency_score / self._total + _EXACT_NAME_WEIGHT * complete
        if len(self._idfs) > 1:
            relevance += _PROXIMITY_WEIGHT * max(_NAME_PROXIMITY * part**4, passage**4)
        engine_score: float = (score / factor) ** (1 / len(self._idfs))
        return (
            factor
            * engine_score
            * relevance
            * self._depth_factor(document)
            * self._freshness_factor(document)
        )

    def _score_text(self, text: str, language: str) -> tuple[list[float], float]:
        """Return the frequencies of the concepts in the text, and the largest share of them, by idf, in one passage.

        The first matches often suffice: when no frequency can rise any more, and one passage has all concepts.
        """
        damping = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * len(text) / _TEXT_LENGTH
        for most in self._limits:
            spans = self._matcher.spans(text, language, most=most)
            frequencies = [0.0] * len(self._idfs)
            for bits, times in Counter(map(_BITS, spans)).items():
                for concept in self._concepts_of(bits):
                    frequencies[concept] += times / damping
            frequencies = [min(_MAX_TEXT_FREQUENCY, frequency) for frequency in frequencies]
            passage = self._best_passage(spans) if len(self._idfs) > 1 else 1.0
            if len(spans) < most or (passage == 1.0 and min(frequencies) == _MAX_TEXT_FREQUENCY):
                break
        return frequencies, passage

    def _score_names(self, document: IndexDocument, language: str) -> tuple[list[float], float, float]:
        """Return the weighted frequencies of the concepts in names of the document, and two scores between 0 and 1.

        Names are its title, address, section titles and anchor texts. The first score is 1 if one of them consists of
        exactly the concepts, less if some are missing or there are other words. The second is the largest share of the
        concepts, weighted by idf, in one of them.
        """
        occurrences, complete, most = [0.0] * len(self._idfs), 0.0, 0.0
        weights, texts = _weighted_names(document, self._weights)
        starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
        joined = "\n".join(texts)
        held: dict[int, dict[int, int]] = {}
        for start, _, bits in self._matcher.spans(joined, language, most=MAX_MATCHES):
            own = held.setdefault(bisect_right(starts, start) - 1, {})
            for concept in self._concepts_of(bits):
                own[concept] = own.get(concept, 0) + 1
        for number, own in held.items():
            for concept, times in own.items():
                occurrences[concept] += weights[number] * times
            part = sum(self._idfs[concept] for concept in own) / self._total
            most = max(most, part)
            if part * part > complete:
                share = sum(own.values()) / max(1, len(words(texts[number])))
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
        """Return the largest share of the concepts, by idf, in one passage of the text; 1 if it has all of them."""
        best = total = 0.0
        inside = [0] * len(self._idfs)
        missing = len(inside)
        last = 0
        for start, _, bits in spans:
            while last < len(spans) and spans[last][1] - start <= _PASSAGE_LENGTH:
                for concept in self._concepts_of(spans[last][2]):
                    if not inside[concept]:
                        total += self._idfs[concept]
                        missing -= 1
                    inside[concept] += 1
                last += 1
            if not missing:
                return 1.0
            best = max(best, total)
            for concept in self._concepts_of(bits):
                if inside[concept]:
                    inside[concept] -= 1
                    if not inside[concept]:
                        total -= self._idfs[concept]
                        missing += 1
        return best / self._total

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


def _weighted_names(document: IndexDocument, weights: RankingWeights) -> tuple[list[float], list[str]]:
    """Return the weights and the texts of the names of a document and its sections."""
    longer = max(1.0, len(words(document.title)) / _TITLE_WORDS)
    groups: tuple[tuple[float, Iterable[str]], ...] = (
        (weights.title / longer, (document.title,)),
        (weights.address, (" ".join(address_words(document.url)),)),
        (weights.headings, (section.title for section in document.sections[:MAX_TEXTS])),
        (weights.anchors, document.anchors[:MAX_TEXTS]),
        (weights.section_anchors, (text for _, text in document.section_anchors[:MAX_TEXTS])),
    )
    of_each: list[float] = []
    names: list[str] = []
    for weight, texts in groups:
        if weight:
            names += texts
            of_each += [weight] * (len(names) - len(of_each))
    return of_each, names


def _idf_of(concept: Concept, statistics: IndexStatistics) -> float:
    """Return the idf of a concept: that of the most frequent of its words."""
    matching = [statistics.document_frequency(leaf.word) for leaf in concept if isinstance(leaf, tree.Word)]
    return idf(statistics.document_count, max(matching, default=statistics.document_count // 10))
