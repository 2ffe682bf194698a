"""What is typed of a name before its completion is looked at, and how often the completions have the name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from judging.measures import mean, processor_seconds

SHOWN = 5
"""Completions that are looked at; a beginning that more names share than these is a common one."""
LETTERS = 4
"""Letters that are typed behind the common beginning of many names."""
_PART = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"\w+")


class Typed(NamedTuple):
    """A name, and what is typed of it."""

    name: str
    text: str
    others: int = 0
    """Other names that begin so."""


def typed(names: Sequence[str]) -> list[Typed]:
    """Return what is typed of each name: the longest beginning that many of the names share, and four letters more.

    Such a beginning ends before a part of the name: `sqlite3_`, `java.util.`, `assert`.
    """
    shared = Counter(one.lower() for name in names for one in _beginnings(name))
    beginning = Counter(name[:end].lower() for name in names for end in range(1, len(name) + 1))
    found = []
    for name in names:
        common = max((len(one) for one in _beginnings(name) if shared[one.lower()] > SHOWN), default=0)
        text = name[: common + LETTERS]
        found.append(Typed(name, text, beginning[text.lower()] - 1))
    return found


def _beginnings(name: str) -> Iterator[str]:
    return (name[: part.end()] for part in _PART.finditer(name) if 0 < part.end() < len(name))


def has_name(name: str, texts: Iterable[str]) -> bool:
    """Whether one of the completions has the words of the name in a row, in any case."""
    wanted = _words(name)
    return any(f" {wanted} " in f" {_words(text)} " for text in texts)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def figures_of(complete: Callable[[str], list[str]], asked: Sequence[Typed]) -> dict[str, float]:
    """Ask for the completions of all and return the measures; the first ten are asked twice, to warm up.

    `possible` is the share that can be shown: of eight names that begin alike five are.
    """
    for one in asked[:10]:
        complete(one.text)
    hits, times = [], []
    for one in asked:
        started = processor_seconds()
        texts = complete(one.text)
        times.append((processor_seconds() - started) * 1000)
        hits.append(has_name(one.name, texts[:SHOWN]))
    times.sort()
    return {
        "names": len(asked),
        "completed_5": mean(hits),
        "possible": mean(min(1.0, SHOWN / (one.others + 1)) for one in asked),
        "ms_p50": round(times[len(times) // 2], 2),
        "ms_p95": round(times[len(times) * 95 // 100], 2),
    }
