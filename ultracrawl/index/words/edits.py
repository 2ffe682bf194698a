"""Edits that people make by mistake: a letter more, less or another one, and two letters in the wrong order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz0123456789_",
    "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "αβγδεζηθικλμνξοπρστυφχψω",
)
_ONLY_ORDER, _NO_OTHER_LETTER, _RIGHT_BEGINNING = 3, 4, 7
"""Letters of the longest words in which only the order may be wrong, no letter is another one, and the first is right.

Of short words too many others are one letter away.
"""


def one_edit(word: str) -> Iterator[str]:
    """Yield the words that one edit makes of a word, some of them again; in short words fewer edits are tried."""
    letters = next((a for a in _ALPHABETS if any(c in a for c in word if c.isalpha())), _ALPHABETS[0])
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        if len(word) <= _ONLY_ORDER or (not at and len(word) <= _RIGHT_BEGINNING):
            continue
        if after:
            yield before + after[1:]
        if after and len(word) > _NO_OTHER_LETTER:
            yield from (before + letter + after[1:] for letter in letters)
        yield from (before + letter + after for letter in letters)


def within_edits(word: str, others: Iterable[str], most: int) -> dict[str, int]:
    """Return those of other words that differ in 1 to `most` edits, with their number."""
    letters, found = frozenset(word), dict[str, int]()
    for other in others:
        if abs(len(other) - len(word)) <= most and len(letters.symmetric_difference(other)) <= 2 * most:
            edits = _edits(word, other)
            if 0 < edits <= most:
                found[other] = edits
    return found


def _edits(word: str, other: str) -> int:
    """Return the least number of edits that make another word of a word."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(word, 1):
        earlier, before, row = before, row, [i]
        for j, one in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != one))
            if i > 1 and j > 1 and letter == other[j - 2] and word[i - 2] == one:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
    return row[-1]
