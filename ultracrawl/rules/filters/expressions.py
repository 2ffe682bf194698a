"""Expressions of `filter-by-regex` and its like, as the vendor's files write them."""

from __future__ import annotations

import re

from ultracrawl.rules.boundary.expressions import compiled
from ultracrawl.rules.boundary.rules import PatternError
from ultracrawl.rules.filters.function import FilterError

_ANYTHING = re.compile(r"\\{2,}\*")
_NOTHING_BEFORE = re.compile(r"(?:^|(?<=[(|]))\*")


def expression_of(text: str, *, ignore_case: bool = False) -> str:
    r"""Return the expression (RE2) that a text stands for. Raises `FilterError`.

    Printed files write "anything" as backslashes and a star; that, and a star that has nothing to repeat, means
    `.*`. A single `\*` is a star. With `ignore_case` upper and lower case are the same in it.
    """
    expression = _NOTHING_BEFORE.sub(".*", _ANYTHING.sub(".*", text))
    try:
        compiled(expression)
    except PatternError as error:
        raise FilterError(
            f"the expression {text!r} is none: {error.problem}", "write a POSIX expression"
        ) from None
    return f"(?i){expression}" if ignore_case else expression
