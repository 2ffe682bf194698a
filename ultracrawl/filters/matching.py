"""Tests of a text that the console's rules are made of: is, contains, begins with, ends with, expression."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

import re2

from ultracrawl.filters.expressions import expression_of

Test = Callable[[str], object]


class By(StrEnum):
    """How a rule compares its text with a source."""

    IS = "is"
    CONTAINS = "contains"
    BEGINS_WITH = "begins-with"
    ENDS_WITH = "ends-with"
    REGEX = "regex"


@dataclass(frozen=True, slots=True)
class Match:
    """One line of a rule: `source` (URL, protocol, host, path, type, or a field) compared with `string`."""

    source: str
    by: By
    string: str
    line: int = 0

    def compiled(self) -> Test:
        """Return the test. Raises `FilterError`."""
        text = self.string
        match self.by:
            case By.IS:
                return text.__eq__
            case By.CONTAINS:
                return lambda value: text in value
            case By.BEGINS_WITH:
                return lambda value: value.startswith(text)
            case By.ENDS_WITH:
                return lambda value: value.endswith(text)
            case By.REGEX:
                covers: Test = re2.compile(expression_of(text)).fullmatch
                return covers


def any_of(matches: Iterable[Match]) -> Test:
    """Return a test that passes if one of several about the same source does; those of one kind are made one.

    Raises `FilterError`.
    """
    equal: set[str] = set()
    begins: list[str] = []
    ends: list[str] = []
    others: list[Test] = []
    for match in matches:
        if match.by is By.IS:
            equal.add(match.string)
        elif match.by is By.BEGINS_WITH:
            begins.append(match.string)
        elif match.by is By.ENDS_WITH:
            ends.append(match.string)
        else:
            others.append(match.compiled())
    heads, tails = tuple(begins), tuple(ends)

    def test(value: str) -> bool:
        return (
            value in equal
            or value.endswith(tails)
            or value.startswith(heads)
            or any(other(value) for other in others)
        )

    return test
