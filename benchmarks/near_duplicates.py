"""Precision and recall of near-duplicate detection, and its cost: `python benchmarks/near_duplicates.py`.

Texts are generated from a vocabulary with Zipf's distribution, so that different texts share many words, as pages of
one site do. Each text has versions with a share of the words replaced. A version with at most 2 % replaced words is a
duplicate; one with 10 % or more, like every other text, is a different document.
Prints JSON.
"""

from __future__ import annotations

import json
import random
import time

from ultracrawl.rules.duplicates.fingerprint import MAX_DISTANCE, blocks, distance, signature

RATES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
LENGTHS = (50, 150, 400, 1000)
TEXTS = 300
SAME, OTHER = 0.02, 0.1


def vocabulary(dice: random.Random, size: int = 20_000) -> tuple[list[str], list[float]]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(dice.choices(letters, k=dice.randint(2, 10))) for _ in range(size)]
    return words, [1 / (rank + 2) for rank in range(size)]


def changed(dice: random.Random, words: list[str], rate: float, known: list[str]) -> list[str]:
    """Return the words with a share of them replaced, at least one."""
    places = dice.sample(range(len(words)), max(1, round(len(words) * rate)))
    copy = list(words)
    for place in places:
        copy[place] = dice.choice(known)
    return copy


def alike(one: int, other: int) -> bool:
    return not set(blocks(one)).isdisjoint(blocks(other)) and distance(one, other) <= MAX_DISTANCE


def measure(length: int) -> dict[str, object]:
    dice = random.Random(2026)
    known, weights = vocabulary(dice)
    texts = [dice.choices(known, weights, k=length) for _ in range(TEXTS)]
    hashes = [signature(" ".join(text)) or 0 for text in texts]
    found = dict.fromkeys(RATES, 0)
    for text, value in zip(texts, hashes, strict=True):
        for rate in RATES:
            version = signature(" ".join(changed(dice, text, rate, known))) or 0
            found[rate] += alike(value, version)
    strangers = sum(alike(one, other) for at, one in enumerate(hashes) for other in hashes[:at])
    right = sum(found[rate] for rate in RATES if rate <= SAME)
    wrong = sum(found[rate] for rate in RATES if rate >= OTHER) + strangers
    began = time.perf_counter()
    for text in texts:
        signature(" ".join(text))
    return {
        "words": length,
        "found by share of words replaced": {str(rate): found[rate] / TEXTS for rate in RATES},
        "other texts taken for the same": strangers,
        "pairs of other texts": TEXTS * (TEXTS - 1) // 2,
        "precision": round(right / (right + wrong), 4) if right + wrong else None,
        "recall": round(right / (TEXTS * sum(rate <= SAME for rate in RATES)), 4),
        "microseconds a text": round((time.perf_counter() - began) / TEXTS * 1e6),
    }


if __name__ == "__main__":
    for words in LENGTHS:
        print(json.dumps(measure(words)))
