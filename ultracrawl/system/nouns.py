"""Numbers with their nouns, for people."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless there is one of it."""
    return f"{number:,} {noun_of(number, noun)}"


def noun_of(number: int, noun: str) -> str:
    """Return the noun behind a number in a column."""
    if number == 1:
        return noun
    return f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
