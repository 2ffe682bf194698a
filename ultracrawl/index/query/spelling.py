"""Did-you-mean: replaces misspelt words of a query with words of the index."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ultracrawl.index.engine import Reading, SearchQuery
from ultracrawl.index.query.query_builder import IndexStatistics
from ultracrawl.index.query.tree import Node, Word, searched_words
from ultracrawl.index.words.analysis import WORD_PATTERN, fold, is_word
from ultracrawl.index.words.identifiers import spans_of_parts

_MAX_WORD_LENGTH = 20
_MAX_WORDS = 8
_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz0123456789_",
    "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "αβγδεζηθικλμνξοπρστυφχψω",
)


def suggestion(query: SearchQuery, node: Node, statistics: IndexStatistics, found: int) -> str:
    """Return the query text with unknown words replaced by known ones, or an empty text if there are none.

    Suggestions are made if nothing was found, or if the reading is not the strictest.

    A replacement differs in one letter, or in the order of two neighbours; the most frequent one is used. In an
    identifier of several parts (`max_conections`, `HashMpa`) unknown parts are replaced, if possible so that the whole
    is a known word (`pg_slep` becomes `pg_sleep`, though `step` is more frequent). Long words, and more than a few
    different ones, are not corrected, because each costs hundreds of look-ups; numbers are not, because none is a
    misspelling of another.
    """
    if not query.suggest or (found and query.reading is Reading.ALL_WORDS):
        return ""
    leaves = sorted(
        {leaf.word for leaf in searched_words(node) if isinstance(leaf, Word) and is_word(leaf.word)}
    )
    spelling = _Spelling(statistics)
    unknown = {
        word for word in leaves[:_MAX_WORDS] if not (word.isdigit() or statistics.document_frequency(word))
    }

    def replacement(match: re.Match[str]) -> str:
        return spelling.corrected(match[0]) if fold(match[0].lower()) in unknown else match[0]

    corrected = re.sub(WORD_PATTERN, replacement, query.text) if unknown else query.text
    return corrected if corrected != query.text else ""


class _Spelling:
    """Corrects the words of one query, with a bounded number of look-ups."""

    def __init__(self, statistics: IndexStatistics) -> None:
        self._statistics = statistics
        self._lookups_left = _MAX_WORDS
        self._nearest_cache: dict[str, list[str]] = {}

    def corrected(self, written: str) -> str:
        """Return an unknown word with its parts, or the whole, corrected; unchanged if no known word is similar."""
        corrected = written
        for start, end in reversed(list(spans_of_parts(written))):
            choices = [
                f"{corrected[:start]}{part}{corrected[end:]}"
                for part in self._part_candidates(written[start:end])
            ]
            whole = (one for one in choices if self._statistics.document_frequency(fold(one.lower())))
            corrected = next(whole, choices[0] if choices else corrected)
        if corrected != written:
            return corrected
        return next(iter(self._nearest(fold(written.lower()))), written)

    def _part_candidates(self, written: str) -> list[str]:
        """Return known words similar to a part of a word, in its case; none for a known part."""
        part = fold(written.lower())
        replacement = (
            [] if part.isdigit() or self._statistics.document_frequency(part) else self._nearest(part)
        )
        if written[1:].isupper():
            return [one.upper() for one in replacement]
        return [one.capitalize() for one in replacement] if written[0].isupper() else replacement

    def _nearest(self, unknown: str) -> list[str]:
        """Return the known words at an edit distance of one, the most frequent first."""
        if unknown not in self._nearest_cache:
            self._lookups_left -= 1
            looked_up = (
                set(_neighbours(unknown))
                if self._lookups_left >= 0 and len(unknown) <= _MAX_WORD_LENGTH
                else ()
            )
            frequencies = self._statistics.document_frequencies(looked_up)
            known = sorted(((frequency, one) for one, frequency in frequencies.items()), reverse=True)
            self._nearest_cache[unknown] = [word for frequency, word in known if frequency]
        return self._nearest_cache[unknown]


def _neighbours(word: str) -> Iterator[str]:
    letters = next((a for a in _ALPHABETS if any(c in a for c in word if c.isalpha())), _ALPHABETS[0])
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        if after:
            yield before + after[1:]
            yield from (before + letter + after[1:] for letter in letters)
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        yield from (before + letter + after for letter in letters)
