"""Expressions for response headers, as `exclude_headers` writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated

from pydantic import AfterValidator

from ultracrawl.rules.boundary.expressions import check_expression, compiled
from ultracrawl.rules.boundary.rules import PatternError
from ultracrawl.sources.mistakes import matching, shown, unusable
from ultracrawl.sources.values import one_or_list


def _check_expression(value: str) -> str:
    return _checked(value, compiled, "write an RE2 expression; it has no look-around and no back-references")


def _check_excluding(value: str) -> str:
    return _checked(
        value, check_expression, "write an RE2 expression, or one that Python's `regex` module takes"
    )


def _checked(value: str, check: Callable[[str], object], instead: str) -> str:
    try:
        check(value)
    except PatternError as error:
        raise unusable(f"the expression {shown(value)}", error, instead) from None
    return value


HeaderName = Annotated[
    str,
    matching(
        r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", "is not the name of a header", "write it as in `Content-Language`"
    ),
]
Expression = Annotated[str, AfterValidator(_check_expression)]
ExcludingExpression = Annotated[str, AfterValidator(_check_excluding)]
HeaderExpressions = Mapping[HeaderName, Annotated[tuple[ExcludingExpression, ...], one_or_list(str)]]
"""For each header, in any case, the expressions of which one has to cover a whole value."""
