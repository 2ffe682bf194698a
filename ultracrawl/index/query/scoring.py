"""How relevant a document is: BM25 per field, a match in the title counting more."""

from __future__ import annotations

import math

TITLE_BOOST = 3.0
ANCHOR_BOOST = 2.0
ADDRESS_BOOST = 1.0
OTHER_FORM = 0.7
"""An inflected form of a sought word counts so much of the word itself."""
K1 = 1.2
B = 0.75


def combined(exact: float, all_forms: float) -> float:
    """Return the frequency of a word in a field: its own occurrences, and those of its other forms for less."""
    return exact + OTHER_FORM * max(0.0, all_forms - exact)


def rarity(documents: int, matching: int) -> float:
    """Return the inverse document frequency; positive for every word."""
    return math.log(1.0 + (documents - matching + 0.5) / (matching + 0.5))


def damping(length: float, average: float) -> float:
    """Return the part of BM25's denominator that depends on the length of a field (in words)."""
    return K1 * (1.0 - B + B * length / average) if average else K1


def word_score(weight: float, frequency: float, damped: float) -> float:
    """Return BM25 of one word in one field: its rarity times boost, its occurrences, the length's damping."""
    return weight * frequency * (K1 + 1.0) / (frequency + damped)
