"""Option types for regular expressions, and for expressions by response header (`exclude_headers`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated

from pydantic import AfterValidator

from ultracrawl.rules.boundary.expressions import check_expression, compile_pattern
from ultracrawl.rules.boundary.rules import PatternError
from ultracrawl.sources.mistakes import format_value, must_match, unusable_expression
from ultracrawl.sources.values import one_or_list


def _accepted_by(engine: Callable[[str], object], instead: str) -> AfterValidator:
    def check(value: str) -> str:
        try:
            engine(value)
        except PatternError as error:
            raise unusable_expression(f"the expression {format_value(value)}", error, instead) from None
        return value

    return AfterValidator(check)


_FIELD_NAME = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
HeaderName = Annotated[
    str, must_match(_FIELD_NAME, "is not the name of a header", "write it as in `Content-Language`")
]


def is_header_name(text: str) -> bool:
    """Return whether a text can be the name of a header field (RFC 9110 5.1)."""
    return re.fullmatch(_FIELD_NAME, text) is not None


Expression = Annotated[
    str,
    _accepted_by(compile_pattern, "write an RE2 expression; it has no look-around and no back-references"),
]
ExcludingExpression = Annotated[
    str,
    _accepted_by(check_expression, "write an RE2 expression, or one that Python's `regex` module takes"),
]
HeaderExpressions = Mapping[HeaderName, Annotated[tuple[ExcludingExpression, ...], one_or_list(str)]]
"""Expressions by header name (case-insensitive); one of them has to match the whole value."""
