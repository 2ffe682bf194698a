"""Did-you-mean: replaces misspelt words of a query with words of the index, by how many documents have which."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ultracrawl.index.engine import Reading, SearchQuery
from ultracrawl.index.query.query_builder import IndexStatistics
from ultracrawl.index.query.tree import AllOf, Node, Phrase, Word, searched_words
from ultracrawl.index.query.visibility import visible_to
from ultracrawl.index.words.analysis import WORD_PATTERN, fold, is_word
from ultracrawl.index.words.edits import one_edit, within_edits
from ultracrawl.index.words.identifiers import spans_of_parts
from ultracrawl.index.words.stemming import stems

FEW_HITS = 10
"""Hits of a strict reading below which words of few documents may be misspelt."""
_RARE, _TIMES_RARER = 5, 20
"""Documents that a misspelt word has at most, and how many times as many have the right one."""
_SHORTEST_RARE = 5
"""Letters of the shortest word that is corrected although documents have it."""
_LONGEST_WORD = 20
"""Letters of the longest word of which all edits are tried."""
_TWO_EDITS_FROM, _OTHER_LETTERS_FROM = 7, 8
"""Letters from which a word may have two mistakes, and from which these may bring other letters into it.

Of seven letters, `baterry` is `battery`, but `journey`, which no document has, is not `journal`.
"""
_SAME_BEGINNING = 3
"""Letters of such a word that are right."""
_SHORTEST_HALF = 3, 4
"""Letters of the shortest part of a word that was written without its blank: of an unknown one, and of a rare one."""
_MOST_HALVES = 3, 1
"""Ways to split such words that are looked for in documents, and known parts that are tried in a name."""
_MOST_WORDS = 8


class Spelling(NamedTuple):
    """What is known about the spelling of a query."""

    suggestion: str = ""
    """The text with corrected words; empty if there is nothing to correct."""
    unknown: tuple[str, ...] = ()
    """The words that no document has and that are not corrected, as they were written."""


class _Written(NamedTuple):
    """A word of the text, folded, with its place."""

    word: str
    start: int
    end: int


def check_spelling(query: SearchQuery, node: Node, statistics: IndexStatistics, found: int) -> Spelling:
    """Return what is known about the spelling of a query that has few hits, or hits by a loose reading.

    A word is corrected if no document has it or an inflected form, or if it is rare and `_TIMES_RARER` times as many
    documents have another word one edit away; a frequent word never is. Long words may have two mistakes. A name
    (`max_conections`, `HashMpa`) becomes a known name, not one of known parts. Words that were written apart are
    joined, and those without their blank split, if documents have them so. Only documents that are visible to the
    principals count. Numbers are not corrected, because none is a misspelling of another, and only a few words are,
    because each costs hundreds of look-ups.
    """
    is_strict = found > 0 and query.reading is Reading.ALL_WORDS
    if not query.suggest or (is_strict and found >= FEW_HITS):
        return Spelling()
    leaves = {leaf.word for leaf in searched_words(node) if isinstance(leaf, Word) and is_word(leaf.word)}
    written = [
        one
        for match in re.finditer(WORD_PATTERN, query.text)
        if (one := _Written(fold(match[0].lower()), *match.span())).word in leaves and not one.word.isdigit()
    ]
    return _Correction(query, statistics, is_strict=is_strict).of(written)


class _Correction:
    """Corrects the words of one query, with a bounded number of look-ups."""

    def __init__(self, query: SearchQuery, statistics: IndexStatistics, *, is_strict: bool) -> None:
        """Take the query; `is_strict`: documents have all of its words, so that only rare words may be misspelt."""
        self._query, self._text = query, query.text
        self._statistics = statistics
        self._is_strict = is_strict
        self._words_left = _MOST_WORDS
        self._known: dict[str, int] = {}

    def of(self, written: Sequence[_Written]) -> Spelling:
        """Return the correction of these words of the text."""
        words = dict.fromkeys(one.word for one in written)
        self._known = dict(self._statistics.document_frequencies(words))
        doubtful = {word for word in words if self._is_doubtful(word)}
        if not doubtful:
            return Spelling()
        replaced = self._joined(written, doubtful)
        unknown: dict[str, None] = {}
        better: dict[str, str] = {}
        for one in written:
            if one.word in doubtful and not any(start <= one.start < end for start, end in replaced):
                shown = self._text[one.start : one.end]
                if shown not in better:
                    better[shown] = self._better(one.word, shown)
                if better[shown] != shown:
                    replaced[one.start, one.end] = better[shown]
                elif not self._known[one.word]:
                    unknown[shown] = None
        text = self._text
        for (start, end), instead in sorted(replaced.items(), reverse=True):
            text = text[:start] + instead + text[end:]
        return Spelling("" if text == self._text else text, tuple(unknown))

    def _is_doubtful(self, word: str) -> bool:
        """Whether a word may be misspelt: no document has it in any form, or a few that a similar word outweighs."""
        count = self._known[word]
        if count > _RARE or (not count and self._is_strict):
            return False
        if count and not (len(word) >= _SHORTEST_RARE and word.isalpha() and self._instead_of_rare(word)):
            return False
        self._known[word] += self._count_of_forms(word)
        return not self._known[word] or bool(self._instead_of_rare(word))

    def _instead_of_rare(self, word: str) -> str:
        """Return what outweighs a word that few documents have: a word at one edit, or two words; else nothing."""
        similar = self._most_frequent(word, self._similar(word, 1), self._known[word])
        return similar[0] if similar else self._split(word)

    def _count_of_forms(self, word: str) -> int:
        """Return how many documents have an inflected form of a word, in a language of the index."""
        forms = [
            (f"{language}:{stem}", stem)
            for language, stem in stems(word)
            if language in self._statistics.languages
        ]
        counts = self._statistics.document_frequencies({form for pair in forms for form in pair} - {word})
        return sum(counts.values())

    def _joined(self, written: Sequence[_Written], doubtful: set[str]) -> dict[tuple[int, int], str]:
        """Return the places of two neighbours that are one word: `data base`, `e-mail`."""
        pairs = [
            (first, second)
            for first, second in pairwise(written)
            if self._text[first.end : second.start] in (" ", "-")
            and not doubtful.isdisjoint((first.word, second.word))
        ]
        counts = self._statistics.document_frequencies({a.word + b.word for a, b in pairs}) if pairs else {}
        found: dict[tuple[int, int], str] = {}
        for first, second in pairs:
            joined, rarer = first.word + second.word, min(self._known[first.word], self._known[second.word])
            is_free = not any(end > first.start for _, end in found)
            if is_free and _outweighs(counts[joined], rarer):
                found[first.start, second.end] = joined
        return found

    def _better(self, word: str, shown: str) -> str:
        """Return what to write in place of a word; `shown`, as it is written, if no known word is similar."""
        self._words_left -= 1
        if self._words_left < 0:
            return shown
        if self._known[word]:
            return self._instead_of_rare(word) or shown
        parts = spans_of_parts(shown) if len(word) == len(shown) else []
        made = self._of_parts(word, parts)
        found = (
            next(iter(self._near(word, parts=bool(parts))), "")
            or next(iter(self._most_frequent(word, made)), "")
            or self._split(word)
            or next(iter(self._with_two_edits(word)), "")
            or next(filter(self._has_parts, made), "")
        )
        return (_in_case(shown, found) if parts else found) or shown

    def _near(self, word: str, *, parts: bool) -> list[str]:
        """Return the known words at one edit; of long ones those that begin alike."""
        if len(word) <= _LONGEST_WORD:
            return self._most_frequent(word, set(one_edit(word)))
        return self._most_frequent(word, self._similar(word, 1)) if parts else []

    def _of_parts(self, word: str, parts: Sequence[tuple[int, int]]) -> list[str]:
        """Return the names that have known parts at one edit in place of the unknown parts of a name."""
        made = [word]
        for start, end in reversed(parts):
            part = word[start:end]
            if len(part) <= _LONGEST_WORD and not self._statistics.document_frequency(part):
                near = self._most_frequent(part, set(one_edit(part))) or self._with_two_edits(part)
                made = [
                    one[:start] + better + one[end:]
                    for better in near[: _MOST_HALVES[0]] or [part]
                    for one in made
                ]
            if len(made) > _MOST_WORDS:
                break
        return [one for one in made if one != word]

    def _has_parts(self, name: str) -> bool:
        """Whether a document has all parts of a name."""
        parts = [Word(fold(name[start:end])) for start, end in spans_of_parts(name)]
        wanted = AllOf((*parts, visible_to(self._query)))
        return bool(parts) and self._statistics.find_document(wanted) is not None

    def _with_two_edits(self, word: str) -> list[str]:
        if len(word) < _TWO_EDITS_FROM:
            return []
        near = self._similar(word, 2)
        if len(word) < _OTHER_LETTERS_FROM:
            near = [other for other in near if set(other) == set(word)]
        return self._most_frequent(word, near)

    def _similar(self, word: str, edits: int) -> Iterable[str]:
        """Return the words of the index, whoever may see them, that begin alike and differ in so many edits."""
        same = _SAME_BEGINNING if word.isalpha() and edits > 1 else max(3, len(word) // 2)
        found = within_edits(word, self._statistics.words_beginning_with(word[:same]), edits)
        return [other for other, number in found.items() if number == edits]

    def _split(self, word: str) -> str:
        """Return the two words that a word consists of, if a document has them in a row: `full text`; else nothing."""
        is_rare = self._known[word] > 0
        shortest, most = _SHORTEST_HALF[is_rare], _MOST_HALVES[is_rare]
        ends = range(shortest, len(word) - shortest + 1) if word.isalpha() else ()
        counts = self._statistics.document_frequencies(
            {half for at in ends for half in (word[:at], word[at:])}
        )
        halves = sorted(((min(counts[word[:at]], counts[word[at:]]), at) for at in ends), reverse=True)
        for count, at in halves[:most]:
            phrase = Phrase((word[:at], word[at:]))
            if _outweighs(count, self._known[word]) and self._statistics.find_document(
                AllOf((phrase, visible_to(self._query)))
            ):
                return f"{word[:at]} {word[at:]}"
        return ""

    def _most_frequent(self, word: str, others: Iterable[str], count: int = 0) -> list[str]:
        """Return those of other words that outweigh a word that so many documents have, the most frequent first."""
        digits = _digits(word)
        candidates = [other for other in others if _digits(other) == digits]
        counts: Mapping[str, int] = self._statistics.document_frequencies(candidates)
        own_stems = set(stems(word)) if count else set()
        known = sorted(((number, other) for other, number in counts.items()), reverse=True)
        return [
            other
            for number, other in known
            if _outweighs(number, count) and own_stems.isdisjoint(stems(other))
        ]


def _outweighs(documents: int, others: int) -> bool:
    """Whether so many documents have a word that another one, which others have, is a misspelling of it."""
    return documents >= _TIMES_RARER * others if others else documents > 0


def _digits(word: str) -> str:
    return "".join(filter(str.isdigit, word))


def _in_case(written: str, word: str) -> str:
    """Return a folded name in the case of the one that was written: `HashMap` for `HashMpa`."""
    if written.isupper():
        return word.upper()
    lower, before, behind = written.lower(), 0, 0
    shorter = min(len(word), len(written))
    while before < shorter and lower[before] == word[before]:
        before += 1
    while behind < shorter - before and lower[-behind - 1] == word[-behind - 1]:
        behind += 1
    changed = word[before : len(word) - behind]
    if written[before : before + 1].isupper():
        changed = changed.capitalize()
    return written[:before] + changed + written[len(written) - behind :]
