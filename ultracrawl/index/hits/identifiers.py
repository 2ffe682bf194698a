"""Finds query words in identifiers: operators, and parts of names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from ultracrawl.index.words.analysis import is_word
from ultracrawl.index.words.identifiers import has_part_at, operator_pattern

_MAX_OCCURRENCES = 2000
"""Occurrences of one part that are checked."""


class IdentifierMatcher:
    """Finds query words, given with their bits, that are not words of a text by themselves."""

    def __init__(self, sought: Mapping[str, int]) -> None:
        self._operators = {word: bit for word, bit in sought.items() if not is_word(word)}
        self._parts = {word: bit for word, bit in sought.items() if is_word(word) and len(word) > 1}
        longest_first = sorted(self._operators, key=len, reverse=True)
        self._find_operators = re.compile(
            "|".join(map(operator_pattern, longest_first)), re.IGNORECASE
        ).finditer

    def operators(self, text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Yield the matches of operators in a part of a text."""
        for found in self._find_operators(text, start, end) if self._operators else ():
            yield found.start(), found.end(), self._operators.get(found[0].lower().replace(" ", ""), 0)

    def parts(self, text: str, start: int, end: int, wanted: int) -> Iterator[tuple[int, int, int]]:
        """Yield the matches of words of these bits as parts of identifiers in a part of a text."""
        words = [(word, bit) for word, bit in self._parts.items() if bit & wanted]
        lowered = text[start:end].lower() if words else ""
        if len(lowered) != len(text[start:end]):
            return  # a letter becomes two in lower case, so offsets differ
        for word, bit in words:
            for place in islice(_occurrences(lowered, word), _MAX_OCCURRENCES):
                if has_part_at(text, start + place, len(word)):
                    yield start + place, start + place + len(word), bit


def _occurrences(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)
