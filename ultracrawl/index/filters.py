"""Conditions on search attributes (Ultra Search 16: Equals, LessThan, GreaterThan, Between, AnyOf, AllOf)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UserError


class Operator(StrEnum):
    """How a value of the document is compared with the values of the filter."""

    EQUAL = "="
    NOT_EQUAL = "!="
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="
    BETWEEN = "between"
    """From the first value to the second, both inclusive."""
    ANY_OF = "any of"
    ALL_OF = "all of"


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on the values of an attribute: one must meet it, or with `ALL_OF` one for each filter value.

    Values are texts as users write them: a date may be a day, a month or a year, and stands for the whole period.
    `NOT_EQUAL` holds if no value is equal, also for documents without the attribute.
    """

    attribute: str
    operator: Operator
    values: tuple[str, ...]


_SIGNS = re.compile(r"([^<>=!]+)(<=|>=|!=|=|<|>)(.*)", re.DOTALL)


def parse_filter(text: str) -> Filter:
    """Parse a filter such as `Size>=10`, `Author!=Lee` or `Date=2023..2024`.

    Raises `UserError` if there is no attribute or no operator.
    """
    found = _SIGNS.fullmatch(text)
    if found is None or not found[1].strip():
        raise UserError(f"{text!r} is not ATTRIBUTE=VALUE; write for example Author=Miller or Size>=10")
    name, sign, value = found.groups()
    return comparison(name.strip(), sign, value.strip())


def comparison(attribute: str, sign: str, value: str) -> Filter:
    """Return the filter of an operator and a value; `=` with a value `A..B` means between."""
    start, dots, end = value.partition("..")
    if sign == "=" and dots and start.strip() and end.strip():
        return Filter(attribute, Operator.BETWEEN, (start.strip(), end.strip()))
    return Filter(attribute, Operator(sign), (value,))


def all_of(texts: Iterable[str]) -> list[Filter]:
    """Return an `ALL_OF` filter for each attribute in the `ATTRIBUTE=VALUE` texts. Raises `UserError`."""
    values: dict[str, list[str]] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise UserError(f"all: {text!r} is not ATTRIBUTE=VALUE; write for example Author=Miller")
        values.setdefault(name.strip(), []).append(value.strip())
    return [Filter(name, Operator.ALL_OF, tuple(found)) for name, found in values.items()]
