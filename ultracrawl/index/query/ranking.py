"""The order of the best matches: what their titles, parts and the links to them say of what was sought.

An engine finds documents and scores them by BM25, each in its own way. The first of them are ordered anew here, with
the same weights for every engine, out of what it keeps of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TypeVar

from ultracrawl.index.engine import IndexDocument, RankingWeights
from ultracrawl.index.query import tree
from ultracrawl.index.query.likeness import Lexicon
from ultracrawl.index.query.scoring import FIXED_SCORE, rarity
from ultracrawl.index.words.analysis import cut, fold, is_word
from ultracrawl.index.words.identifiers import query_signs
from ultracrawl.index.words.stemming import language_of, stem_terms
from ultracrawl.index.words.text import address_words
from ultracrawl.model.dates import as_utc

RANKED = 50
"""So many of the best matches of an engine are ordered anew."""
MOST_TEXTS = 1000
"""Titles of parts, and texts of links, of a document that are looked at."""

_SATURATION = 3.0
"""Weighted occurrences of a word at which it counts half of the most that it can (BM25's k1)."""
_USUAL_TITLE = 6
"""Words of a title; in a longer one each counts less."""
_COMPLETE = 0.5
"""What a text that says just what was sought counts, beside the occurrences of single words (at the most 1)."""
_IN_THE_TEXT = 0.5
"""What a document counts that holds the words in its text alone."""
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
            yield frozenset(leaf for child in nodes for leaf in tree.sought(child))
        case _:
            for child in tree.inner(node):
                yield from concepts(child)


class Ranking:
    """The order of the matches of one query. Not thread-safe."""

    def __init__(self, node: tree.Node, lexicon: Lexicon, weights: RankingWeights) -> None:
        self._weights = weights
        self._concepts = [one for one in dict.fromkeys(concepts(node)) if one]
        self._rarities = [_rarity_of(one, lexicon) for one in self._concepts]
        self._total = sum(self._rarities)
        self._meant: dict[tuple[str, str], tuple[int, ...]] = {}
        self._beginnings = tuple({tree.leaf_text(leaf)[:2] for one in self._concepts for leaf in one})
        self._cut = _with_signs if any(map(_is_sign, self._concepts)) else cut
        self._today = datetime.now(UTC)

    def reordered(
        self, matches: Sequence[tuple[float, Place]], read: Callable[[Place], IndexDocument]
    ) -> list[tuple[float, Place]]:
        """Return matches in their new order, with new scores; those behind the first `RANKED` stay behind them.

        `read` gives the document at a place; its text is not used. Fixed scores stay as they are, before all others.
        """
        if not self._total:
            return list(matches)
        fixed = [match for match in matches if match[0] >= FIXED_SCORE]
        others = matches[len(fixed) :]
        first = [(score * self.factor(read(place)), place) for score, place in others[:RANKED]]
        first.sort(key=lambda match: -match[0])
        least = first[-1][0] if first else 0.0
        return [*fixed, *first, *((min(score, least), place) for score, place in others[RANKED:])]

    def factor(self, document: IndexDocument) -> float:
        """Return by what the engine's score of a document is multiplied; above 0."""
        language = language_of(str(next(iter(document.attributes.get("Language", ())), "")))
        occurrences, best = [0.0] * len(self._concepts), 0.0
        for weight, texts in self._fields(document):
            for text in texts:
                found = self._look(text, language)
                for concept, number in found.items():
                    occurrences[concept] += weight * number
                if found:
                    best = max(best, self._completeness(found, len(text)))
        said = sum(rare * n / (n + _SATURATION) for rare, n in zip(self._rarities, occurrences, strict=True))
        factor = _IN_THE_TEXT + said / self._total + _COMPLETE * best
        return factor * self._nearness(document) * self._freshness(document)

    def _fields(self, document: IndexDocument) -> Iterator[tuple[float, Iterable[Sequence[str]]]]:
        """Yield the texts that say what a document is about, as words, with what a word in them counts."""
        weights, title = self._weights, self._cut(document.title)
        yield weights.title / max(1.0, len(title) / _USUAL_TITLE), (title,)
        yield weights.headings, self._promising(one.title for one in document.sections)
        yield weights.anchors, self._promising(document.anchors)
        yield weights.section_anchors, self._promising(text for _, text in document.section_anchors)
        yield weights.address, (address_words(document.url),)

    def _promising(self, texts: Iterable[str]) -> Iterator[Sequence[str]]:
        """Yield the words of those texts in which some word may be one that is sought."""
        for text in islice(texts, MOST_TEXTS):
            lowered = text.lower()
            if not text.isascii() or any(beginning in lowered for beginning in self._beginnings):
                yield self._cut(text)

    def _look(self, words: Sequence[str], language: str) -> dict[int, int]:
        """Return how often a text holds words of which concept."""
        found: dict[int, int] = {}
        for word in words:
            meant = self._meant.get((language, word))
            if meant is None:
                meant = self._meant[language, word] = self._meaning(word, language)
            for concept in meant:
                found[concept] = found.get(concept, 0) + 1
        return found

    def _meaning(self, word: str, language: str) -> tuple[int, ...]:
        """Return the concepts that a word of a text in a language stands for."""
        folded = fold(word)
        stem = (stem_terms(language)[word].partition(":")[2] or folded) if language else ""
        return tuple(
            number
            for number, concept in enumerate(self._concepts)
            if any(_stands_for(folded, (language, stem), leaf) for leaf in concept)
        )

    def _completeness(self, found: dict[int, int], size: int) -> float:
        """Return 1 for a text that says what was sought and nothing else, less for a part of it or with more words."""
        part = sum(self._rarities[concept] for concept in found) / self._total
        own = sum(found.values()) / size
        return part * part * (0.3 + 0.7 * min(1.0, own))

    def _nearness(self, document: IndexDocument) -> float:
        return 1.0 / (1.0 + self._weights.depth * document.depth)

    def _freshness(self, document: IndexDocument) -> float:
        changed = next(iter(document.attributes.get("LastModifiedDate", ())), None)
        if not self._weights.freshness or not isinstance(changed, datetime):
            return 1.0
        age = max(0.0, (self._today - as_utc(changed)).total_seconds()) / _YEAR
        return 1.0 + self._weights.freshness / (1.0 + age)


def _is_sign(concept: Concept) -> bool:
    return any(not is_word(tree.leaf_text(leaf)) for leaf in concept)


def _with_signs(text: str) -> list[str]:
    return [*cut(text), *query_signs(text)]


def _stands_for(word: str, stem: tuple[str, str], leaf: tree.Word | tree.Prefix) -> bool:
    if isinstance(leaf, tree.Prefix):
        return word.startswith(leaf.prefix)
    return word == leaf.word or stem in leaf.stems


def _rarity_of(concept: Concept, lexicon: Lexicon) -> float:
    """Return how much a concept says: as much as the most frequent of its words."""
    matching = [lexicon.frequency(leaf.word) for leaf in concept if isinstance(leaf, tree.Word)]
    return rarity(lexicon.size, max(matching, default=lexicon.size // 10))
