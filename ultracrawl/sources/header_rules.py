"""Expressions for response headers, as `exclude_headers` writes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from ultracrawl.rules.boundary.expressions import check_expression, compiled
from ultracrawl.rules.boundary.rules import PatternError
from ultracrawl.sources.mistakes import mistake, shown
from ultracrawl.sources.values import as_list

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def _check_name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise mistake(f"{shown(value)} is not the name of a header", "write it as in `Content-Language`")
    return value


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
        part = f" at `{error.offending}`" if error.offending else ""
        problem = f"the expression {shown(value)} cannot be used: {error.problem}{part}"
        raise mistake(problem, instead) from None
    return value


HeaderName = Annotated[str, AfterValidator(_check_name)]
Expression = Annotated[str, AfterValidator(_check_expression)]
ExcludingExpression = Annotated[str, AfterValidator(_check_excluding)]
HeaderExpressions = Mapping[
    HeaderName,
    Annotated[
        tuple[ExcludingExpression, ...], BeforeValidator(as_list, json_schema_input_type=str | list[str])
    ],
]
"""For each header, in any case, the expressions of which one has to cover a whole value."""
