"""Reranks the best matches by which query words occur where in a document.

Engines score documents by BM25, each in its own way. Their best matches are reranked here, from stored fields, with the
same weights for every engine.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from heapq import heappop, heapreplace
from itertools import accumulate, chain
from math import inf
from operator import itemgetter
from typing import NamedTuple, TypeVar

from ultracrawl.index.engine import IndexDocument, RankingWeights, SearchQuery
from ultracrawl.index.hits.matching import Matcher, Span, bits_of
from ultracrawl.index.hits.names import NameFinder
from ultracrawl.index.hits.signs import SignedWords
from ultracrawl.index.hits.ties import RERANK_LIMIT, rounded_score, url_and_source, with_ordered_ties
from ultracrawl.index.query import tree
from ultracrawl.index.query.boosts import boost_of
from ultracrawl.index.query.languages import LanguagePreference
from ultracrawl.index.query.query_builder import IndexStatistics
from ultracrawl.index.query.scoring import PINNED_SCORE, idf
from ultracrawl.index.stored_fields import STORED_TEXT_LIMIT
from ultracrawl.index.words.analysis import words
from ultracrawl.index.words.stemming import language_of
from ultracrawl.index.words.text import address_words
from ultracrawl.model.dates import as_utc

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
_HOME_WEIGHT = 1.5
"""Score of a place that is called by the name of the query."""
_OWN_PAGE = 1.3
"""What a page counts whose title and address are the name, where one that is called by it counts 1."""
_OTHER_CAPITALS = 0.5
"""What a place counts that has the name of the query in other capitals: `EntrySet` where `entrySet` is sought."""
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
_PARTS_SHARE = 0.7
"""What all parts of a word (`hash`, `map`) count where the word itself (`hashmap`) counts 1."""
_YEAR_SECONDS = 365.25 * 86400

_BITS = itemgetter(2)
_ROUNDING = 1e-9
"""Differences of sums of shares that are none."""
_ROUNDED_UP = 1 + _ROUNDING
"""Factor of a bound that was computed in another way than the score."""

Place = TypeVar("Place")
Leaf = tree.Word | tree.Prefix
Name = tuple[str, ...]
"""URL and source of a document; empty with a bound that is not its score."""
Concept = tuple[tuple[Leaf, float], ...]
"""Alternative words, such as a word and its synonyms, each with its share: what it counts of the concept."""


def concepts(node: tree.Node) -> Iterator[Concept]:
    """Yield the concepts of a query in titles and texts."""
    match node:
        case tree.Word(_, "") | tree.Prefix(_, ""):
            yield ((node, 1.0),)
        case tree.Phrase(found, ""):
            yield from (((tree.Word(word), 1.0),) for word in found)
        case tree.Compound(whole, parts):
            yield ((whole, 1.0), *((part, _PARTS_SHARE / len(parts)) for part in dict.fromkeys(parts)))
        case tree.AnyOf(nodes):
            choices = [leaves for child in nodes if (leaves := list(tree.searched_words(child)))]
            if len(choices) > 1:
                yield tuple((leaf, 1.0) for leaf in dict.fromkeys(chain.from_iterable(choices)))
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
        self._weights, self._boosts, self._languages = query.weights, query.boosts, LanguagePreference(query)
        self._matcher = matcher
        is_shown = query.limit > 0 and not query.like  # documents that are alike stay in the engine's order
        found = [one for one in dict.fromkeys(concepts(node)) if one] if is_shown else []
        self._idfs = [_idf_of(one, statistics) for one in found]
        self._total = sum(self._idfs)
        self._concepts_by_bits = {
            1 << n: tuple(
                (number, shares[leaf]) for number, shares in enumerate(map(dict, found)) if leaf in shares
            )
            for n, leaf in enumerate(dict.fromkeys(tree.searched_words(node)))
        }
        self._finder = NameFinder(node, query.text)
        self._bits_of_word = {
            leaf.word: 1 << n
            for n, leaf in enumerate(dict.fromkeys(tree.searched_words(node)))
            if isinstance(leaf, tree.Word)
        }
        self._signs = SignedWords(query.text)
        self._today = datetime.now(UTC)
        # Bigrams are read to the end in any case; of many words some are rare.
        is_quick = len(found) <= _FEW_CONCEPTS and not matcher.has_bigrams
        self._most_relevant = (
            _BASE_SCORE + 1.0 + _EXACT_NAME_WEIGHT + _HOME_WEIGHT * _OWN_PAGE**4 * bool(self._finder)
        )
        """The highest relevance that any document can have."""
        if len(found) > 1:
            self._most_relevant += _PROXIMITY_WEIGHT * _NAME_PROXIMITY
        self._limits = (_FIRST_MATCHES, MAX_MATCHES) if is_quick else (MAX_MATCHES,)

    def rerank(
        self, matches: Sequence[tuple[float, Place]], read: Callable[[Place], IndexDocument]
    ) -> Iterator[tuple[float, Place]]:
        """Yield the matches with new scores, in their new order, equal ones by URL.

        Those behind the first `RERANK_LIMIT` stay behind. `read` returns the document of a match. Pinned documents stay
        first. A document is read, and its text searched, only as long as it may be the next one.
        """
        if not self._total:
            yield from with_ordered_ties(matches, read)
            return
        pinned = [match for match in matches if match[0] >= PINNED_SCORE]
        others = matches[len(pinned) :]
        waiting: list[tuple[float, Name, int, Iterator[tuple[float, Name]]]] = [
            (-inf, (), number, self._falling_bounds(score, partial(read, place)))
            for number, (score, place) in enumerate(others[:RERANK_LIMIT])
        ]
        yield from pinned
        least = 0.0
        while waiting:
            negative, _, number, bounds = waiting[0]  # the highest bound; of equal ones, scores come last
            lower = next(bounds, None)
            if lower is None:  # the bound was the score itself, and no other match can have a higher one
                heappop(waiting)
                least = -negative
                yield least, others[number][1]
            else:
                heapreplace(waiting, (-rounded_score(lower[0]), lower[1], number, bounds))
        yield from ((min(score, least), place) for score, place in others[RERANK_LIMIT:])

    def _falling_bounds(
        self, score: float, read: Callable[[], IndexDocument]
    ) -> Iterator[tuple[float, Name]]:
        """Yield upper bounds of the new score of a document, each costs more to compute.

        The last one, with the name of the document, is the score itself.

        The more concepts a query has, the less the engine's score counts: for a single word it says best how important
        the word is to a document, for many words their proximity does. For a name what a place is called counts more.
        """
        if score <= 0:
            yield score, url_and_source(read())
            return
        exponent = 1 / (len(self._idfs) + bool(self._finder))
        if not self._boosts:
            largest = self._languages.largest_factor
            fresh = 1.0 + self._weights.freshness
            yield largest * (score / largest) ** exponent * self._most_relevant * fresh * _ROUNDED_UP, ()
        document = read()
        tag = str(next(iter(document.attributes.get("Language", ())), "")).strip().lower()
        language = language_of(tag)
        factor = boost_of(document.url, self._boosts) * self._languages.factor(document, tag)
        if not factor:
            yield score, url_and_source(document)
            return
        engine_score: float = (score / factor) ** exponent
        depth, fresh = self._depth_factor(document), self._freshness_factor(document)
        names = self._score_names(document, language)
        relevance = self._relevance(names, [_MAX_TEXT_FREQUENCY] * len(self._idfs), 1.0)
        yield factor * engine_score * relevance * depth * fresh * _ROUNDED_UP, ()
        relevance = self._relevance(names, *self._score_text(document.text[:STORED_TEXT_LIMIT], language))
        signs = self._signs.factor(document)
        yield factor * engine_score * relevance * depth * fresh * signs, url_and_source(document)

    def _relevance(self, names: _NameScores, in_text: Sequence[float], passage: float) -> float:
        """Return how well a document with these names answers the query; see `_score_text` for the others."""
        times = [one + self._weights.text * n for one, n in zip(names.occurrences, in_text, strict=True)]
        frequency_score = sum(rare * n / (n + _SATURATION) for rare, n in zip(self._idfs, times, strict=True))
        relevance = _BASE_SCORE + frequency_score / self._total + _EXACT_NAME_WEIGHT * names.complete
        relevance += _HOME_WEIGHT * names.home**4
        if len(self._idfs) > 1:
            relevance += _PROXIMITY_WEIGHT * max(_NAME_PROXIMITY * names.part**4, passage**4)
        return relevance

    def _score_text(self, text: str, language: str) -> tuple[list[float], float]:
        """Return the frequencies of the concepts in the text, and the largest share of them, by idf, in one passage.

        The first matches often suffice: when no frequency can rise any more, and one passage has all concepts.
        """
        damping = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * len(text) / _TEXT_LENGTH
        for most in self._limits:
            spans = self._matcher.spans(text, language, most=most)
            frequencies = [0.0] * len(self._idfs)
            for bits, times in Counter(map(_BITS, spans)).items():
                for concept, share in self._concepts_of(bits):
                    frequencies[concept] += share * times / damping
            frequencies = [min(_MAX_TEXT_FREQUENCY, frequency) for frequency in frequencies]
            passage = self._best_passage(spans) if len(self._idfs) > 1 else 1.0
            if len(spans) < most or (passage == 1.0 and min(frequencies) == _MAX_TEXT_FREQUENCY):
                break
        return frequencies, passage

    def _score_names(self, document: IndexDocument, language: str) -> _NameScores:
        """Return what the names of a document count: its title, address, section titles and anchor texts."""
        occurrences, complete, most = [0.0] * len(self._idfs), 0.0, 0.0
        names = _weighted_names(document, self._weights)
        starts = list(accumulate((len(text) + 1 for text in names.texts), initial=0))
        joined = "\n".join(names.texts)
        held: dict[int, Counter[int]] = {}
        for start, _, bits in self._matcher.spans(joined, language, most=MAX_MATCHES):
            held.setdefault(bisect_right(starts, start) - 1, Counter())[bits] += 1
        for number, own in held.items():
            times_in_all = 0
            for bits, times in own.items():
                for concept, share in self._concepts_of(bits):
                    occurrences[concept] += names.weights[number] * times * share
                    times_in_all += times
            part = self._share_of(own)
            most = max(most, part)
            if part * part > complete:
                share = times_in_all / max(1, len(words(names.texts[number])))
                complete = max(complete, part * part * (0.3 + 0.7 * min(1.0, share)))
        home = self._best_home(document, names, held) if self._finder else 0.0
        called = min(1.0, home)
        return _NameScores(occurrences, max(complete, called * called), max(most, called), home)

    def _best_home(self, document: IndexDocument, names: _Names, held: Mapping[int, Counter[int]]) -> float:
        """Return the largest share of the concepts in a place called by the name, with title and address; else 0.

        Of a page that is called so, half of what the qualifier counts is not missed.
        """
        around = [bits for number in range(names.first_section) for bits in held.get(number, ())]
        best = 0.0
        is_own = self._finder.is_page(document.title, document.url)
        if is_own or self._finder.is_title(document.title):
            best = self._by_capitals(document.title) * (1 + self._share_of(around)) / 2
            best *= _OWN_PAGE if is_own else 1.0
        sections = document.sections[: names.section_count]
        candidates = {number - names.first_section for number in held}
        for number, anchor in self._finder.sections(sections, candidates):
            in_anchor = (self._bits_of_word[word] for word in anchor if word in self._bits_of_word)
            own = held.get(names.first_section + number, ())
            share = self._share_of([*around, *own, *in_anchor])
            best = max(best, self._by_capitals(sections[number].title) * share)
        return best

    def _by_capitals(self, text: str) -> float:
        """Return what a place that is called by the name counts, by the capitals of its title."""
        return _OTHER_CAPITALS if self._finder.has_other_capitals(text) else 1.0

    def _share_of(self, bits: Iterable[int]) -> float:
        """Return the share of the concepts, by idf, that words with these bits have."""
        shares: dict[int, float] = {}
        for one in set(bits):
            for concept, share in self._concepts_of(one):
                shares[concept] = min(1.0, shares.get(concept, 0.0) + share)
        return sum(self._idfs[concept] * share for concept, share in shares.items()) / self._total

    def _concepts_of(self, bits: int) -> tuple[tuple[int, float], ...]:
        """Return the concepts that words with these bits belong to, with what they count of each."""
        meant = self._concepts_by_bits.get(bits)
        if meant is None:
            shares: dict[int, float] = {}
            for bit in bits_of(bits):
                for concept, share in self._concepts_by_bits.get(bit, ()):
                    shares[concept] = max(shares.get(concept, 0.0), share)
            meant = self._concepts_by_bits[bits] = tuple(shares.items())
        return meant

    def _best_passage(self, spans: Sequence[Span]) -> float:
        """Return the largest share of the concepts, by idf, in one passage of the text; 1 if it has all of them."""
        best = total = 0.0
        held = [0.0] * len(self._idfs)
        inside: Counter[int] = Counter()
        last = 0
        for start, _, bits in spans:
            while last < len(spans) and spans[last][1] - start <= _PASSAGE_LENGTH:
                added = spans[last][2]
                inside[added] += 1
                if inside[added] == 1:
                    total += self._add_to(held, added, 1.0)
                last += 1
            if total >= self._total - _ROUNDING:
                return 1.0
            best = max(best, total)
            if inside[bits]:
                inside[bits] -= 1
                if not inside[bits]:
                    total += self._add_to(held, bits, -1.0)
        return best / self._total

    def _add_to(self, held: list[float], bits: int, sign: float) -> float:
        """Add what a word counts to the shares of its concepts, or take it away; return the change of their idf."""
        change = 0.0
        for concept, share in self._concepts_of(bits):
            before = held[concept]
            held[concept] = before + sign * share
            change += self._idfs[concept] * (min(1.0, held[concept]) - min(1.0, before))
        return change

    def _depth_factor(self, document: IndexDocument) -> float:
        return 1.0 / (1.0 + self._weights.depth * document.depth)

    def _freshness_factor(self, document: IndexDocument) -> float:
        changed = next(iter(document.attributes.get("LastModifiedDate", ())), None)
        if not self._weights.freshness or not isinstance(changed, datetime):
            return 1.0
        age = max(0.0, (self._today - as_utc(changed)).total_seconds()) / _YEAR_SECONDS
        return 1.0 + self._weights.freshness / (1.0 + age)


class _NameScores(NamedTuple):
    """What the names of a document count for a query; all but the first and the last between 0 and 1."""

    occurrences: Sequence[float]
    """The weighted frequencies of the concepts."""
    complete: float
    """1 if a name consists of exactly the concepts, less if some are missing or there are other words."""
    part: float
    """The largest share of the concepts, weighted by idf, in one name. A place that is called by the name of the query
    is taken together with the title and the address."""
    home: float
    """The share in a place that is called by the name of the query; of its own page up to `_OWN_PAGE`."""


class _Names(NamedTuple):
    """The names of a document and its sections, and their weights."""

    texts: list[str]
    weights: list[float]
    first_section: int
    """The number of the title of the first section; before it are title and address."""
    section_count: int


def _weighted_names(document: IndexDocument, weights: RankingWeights) -> _Names:
    longer = max(1.0, len(words(document.title)) / _TITLE_WORDS)
    sections = document.sections[:MAX_TEXTS] if weights.headings else ()
    before: tuple[tuple[float, Iterable[str]], ...] = (
        (weights.title / longer, (document.title,)),
        (weights.address, (" ".join(address_words(document.url)),)),
    )
    behind: tuple[tuple[float, Iterable[str]], ...] = (
        (weights.headings, (section.title for section in sections)),
        (weights.anchors, document.anchors[:MAX_TEXTS]),
        (weights.section_anchors, (text for _, text in document.section_anchors[:MAX_TEXTS])),
    )
    of_each: list[float] = []
    names: list[str] = []
    for weight, texts in (*before, *behind):
        if weight:
            names += texts
            of_each += [weight] * (len(names) - len(of_each))
    return _Names(names, of_each, sum(weight > 0 for weight, _ in before), len(sections))


def _idf_of(concept: Concept, statistics: IndexStatistics) -> float:
    """Return the idf of a concept: that of the most frequent of its words, as they are written."""
    whole = [leaf for leaf, share in concept if share == 1.0 and isinstance(leaf, tree.Word)]
    matching = [statistics.document_frequency(leaf.word) for leaf in whole]
    return idf(statistics.document_count, max(matching, default=statistics.document_count // 10))
