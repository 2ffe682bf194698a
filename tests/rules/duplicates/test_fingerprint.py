"""Nearly equal texts are found by their signatures, unrelated ones are not; measured on generated texts."""

from __future__ import annotations

import random
from itertools import combinations, pairwise

import pytest

from ultracrawl.rules.duplicates.fingerprint import MAX_DISTANCE, blocks, distance, signature

LENGTHS = [50, 150, 400, 1_000]


class Texts:
    """Texts of words whose frequencies fall as in a language, so that unrelated ones have many words in common."""

    def __init__(self, words: int) -> None:
        self._dice = random.Random(words)
        self._known = [f"w{number}" for number in range(5_000)]
        self._weights = [1 / (rank + 2) for rank in range(len(self._known))]
        self._words = words

    def text(self) -> list[str]:
        return self._dice.choices(self._known, self._weights, k=self._words)

    def changed(self, text: list[str], *, one_in: int) -> list[str]:
        places = set(self._dice.sample(range(len(text)), len(text) // one_in))
        return [f"new{at}" if at in places else word for at, word in enumerate(text)]


def mark(words: list[str]) -> int:
    found = signature(" ".join(words))
    assert found is not None
    return found


def alike(one: int, other: int) -> bool:
    return not set(blocks(one)).isdisjoint(blocks(other)) and distance(one, other) <= MAX_DISTANCE


@pytest.mark.parametrize("words", LENGTHS)
def test_most_texts_with_one_changed_word_in_fifty_are_found(words: int) -> None:
    texts = Texts(words)
    pairs = [(text, texts.changed(text, one_in=50)) for text in (texts.text() for _ in range(200))]
    assert sum(alike(mark(text), mark(other)) for text, other in pairs) >= 0.9 * len(pairs)


@pytest.mark.parametrize("words", LENGTHS)
def test_no_pair_of_ten_thousand_unrelated_texts_is_taken_for_one(words: int) -> None:
    texts = Texts(words)
    marks = [mark(texts.text()) for _ in range(142)]
    pairs = list(combinations(marks, 2))
    assert len(pairs) >= 10_000
    assert not [pair for pair in pairs if alike(*pair)]


def test_copies_that_differ_in_a_number_are_alike() -> None:
    text = Texts(150).text()
    copies = [mark([*text[:70], str(number), *text[71:]]) for number in range(6)]
    assert all(alike(one, other) for one, other in pairwise(copies))
