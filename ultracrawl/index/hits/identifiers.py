"""Where names of code have what a query seeks: their signs, and their parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from ultracrawl.index.words.analysis import is_word
from ultracrawl.index.words.identifiers import has_part_at, sign_pattern

_MOST_PLACES = 2000
"""Places in a text that are looked at for one part."""


class IdentifierMatcher:
    """Finds words sought, given with their bits, where they are no words of a text by themselves."""

    def __init__(self, sought: Mapping[str, int]) -> None:
        self._signs = {word: bit for word, bit in sought.items() if not is_word(word)}
        self._parts = {word: bit for word, bit in sought.items() if is_word(word) and len(word) > 1}
        longest_first = sorted(self._signs, key=len, reverse=True)
        self._find_signs = re.compile("|".join(map(sign_pattern, longest_first)), re.IGNORECASE).finditer

    def signs(self, text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Yield where the signs stand in a piece of a text."""
        for found in self._find_signs(text, start, end) if self._signs else ():
            yield found.start(), found.end(), self._signs.get(found[0].lower().replace(" ", ""), 0)

    def parts(self, text: str, start: int, end: int, wanted: int) -> Iterator[tuple[int, int, int]]:
        """Yield where words of these bits are parts of words of a piece of a text."""
        words = [(word, bit) for word, bit in self._parts.items() if bit & wanted]
        lowered = text[start:end].lower() if words else ""
        if len(lowered) != len(text[start:end]):
            return  # some letter has more than one in lower case
        for word, bit in words:
            for place in islice(_places(lowered, word), _MOST_PLACES):
                if has_part_at(text, start + place, len(word)):
                    yield start + place, start + place + len(word), bit


def _places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)
