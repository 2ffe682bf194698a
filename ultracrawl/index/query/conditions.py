"""Converts filters to nodes of a query tree."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from ultracrawl.errors import UserError
from ultracrawl.index.filters import Filter, Operator
from ultracrawl.index.query.tree import Between, Bound, Equal, Node, Not, all_of, any_of
from ultracrawl.model.dates import as_utc
from ultracrawl.rules.attributes.schema import OTHER_FIELDS, AttributeType, SearchAttribute, field_value

_MISSPELT = {"lastmodifeddate": "lastmodifieddate"}
"""Misspelt attribute names in manuals of Ultra Search (17, D6)."""

_OF_SEVERAL = frozenset({Operator.BETWEEN, Operator.ANY_OF, Operator.ALL_OF})
"""Operators that are written as `=`."""
_FIELD_OPERATORS = frozenset({Operator.EQUAL, Operator.NOT_EQUAL, Operator.ANY_OF, Operator.ALL_OF})

_MICROSECOND = timedelta(microseconds=1)
_MONTH = re.compile(r"(\d{4})(?:-(\d{2}))?")


def find_attribute(name: str, known: Mapping[str, SearchAttribute]) -> SearchAttribute:
    """Return the attribute with a name in any case, out of attributes by folded name. Raises `UserError`."""
    attribute = known_attribute(name, known)
    if attribute is None:
        names = ", ".join(sorted(attribute.name for attribute in known.values())) or "none"
        raise UserError(f"unknown search attribute {_shown(name)}; known are: {names}")
    return attribute


def known_attribute(name: str, known: Mapping[str, SearchAttribute]) -> SearchAttribute | None:
    """Return the attribute with a name in any case, if there is one.

    A hyphen, which fields of descriptions have, is equal to an underscore.
    """
    folded = name.casefold()
    return known.get(folded) or known.get(_MISSPELT.get(folded, folded.replace("-", "_")))


def named_condition(wanted: Filter, known: Mapping[str, SearchAttribute]) -> Node:
    """Return the node of a filter on an attribute, or on a description field if no attribute has the name.

    Raises `UserError` for an unknown attribute, or a value that does not fit its type.
    """
    if known_attribute(wanted.attribute, known) is not None or OTHER_FIELDS.name.casefold() not in known:
        return condition(wanted, find_attribute(wanted.attribute, known))
    name = wanted.attribute.casefold()
    if wanted.operator not in _FIELD_OPERATORS:
        raise UserError(
            f"{wanted.attribute} is a field of descriptions, for which there are only = and != with whole values"
        )
    values = tuple(field_value(name, value) for value in wanted.values)
    return condition(replace(wanted, attribute=OTHER_FIELDS.name, values=values), OTHER_FIELDS)


def condition(wanted: Filter, attribute: SearchAttribute, mark: str = "") -> Node:
    """Return the node of a filter; `mark` is what the query writes between an attribute and its value.

    Raises `UserError` for a value that does not fit the attribute's type.
    """
    try:
        return _node(wanted, attribute)
    except _UnfitError as error:
        sign = "=" if wanted.operator in _OF_SEVERAL else wanted.operator.value
        written = mark + (sign.removeprefix("=") if mark else sign)
        raise UserError(f"{error}; write for example {attribute.name}{written}{error.example}") from None


class _UnfitError(UserError):
    """A value does not fit the type of its attribute, as the example does."""

    def __init__(self, problem: str, example: str) -> None:
        super().__init__(problem)
        self.example = example


def _node(wanted: Filter, attribute: SearchAttribute) -> Node:
    match wanted.operator, wanted.values:
        case Operator.EQUAL | Operator.ANY_OF, values:
            return any_of([_equal(attribute, value) for value in values])
        case Operator.ALL_OF, values:
            return all_of([_equal(attribute, value) for value in values])
        case Operator.NOT_EQUAL, values:
            return Not(any_of([_equal(attribute, value) for value in values]))
        case Operator.BETWEEN, (first, last):
            return Between(attribute.name, _interval(attribute, first)[0], _interval(attribute, last)[1])
        case Operator.LESS, (value,):
            return Between(attribute.name, None, _interval(attribute, value)[0])
        case Operator.LESS_OR_EQUAL, (value,):
            return Between(attribute.name, None, _interval(attribute, value)[1])
        case Operator.GREATER, (value,):
            return Between(attribute.name, _interval(attribute, value)[1], None)
        case Operator.GREATER_OR_EQUAL, (value,):
            return Between(attribute.name, _interval(attribute, value)[0], None)
    count = "two values" if wanted.operator is Operator.BETWEEN else "one value"
    raise UserError(f"{attribute.name} {wanted.operator} needs {count}, not {len(wanted.values)}")


def _equal(attribute: SearchAttribute, value: str) -> Node:
    """Return the node of documents with this value of the attribute; of a date, with one in its period."""
    if attribute.type is AttributeType.STRING:
        return Equal(attribute.name, value.strip().lower())
    if attribute.type is AttributeType.NUMBER:
        return Equal(attribute.name, _number(attribute, value))
    return Between(attribute.name, *_interval(attribute, value))


def _interval(attribute: SearchAttribute, value: str) -> tuple[Bound, Bound]:
    """Return the half-open interval of a value: of a string or a number just this value."""
    if attribute.type is AttributeType.STRING:
        text = value.strip().lower()
        return text, text + "\0"
    if attribute.type is AttributeType.NUMBER:
        number = _number(attribute, value)
        return number, min(math.nextafter(number, math.inf), sys.float_info.max)
    try:
        return _period(value.strip())
    except (ValueError, OverflowError):
        raise _UnfitError(f"{attribute.name} is a date, not {_shown(value)}", "2024-05-01") from None


def _period(text: str) -> tuple[datetime, datetime]:
    """Return the year, month, day, or second (microsecond if one is given) that a text stands for."""
    if found := _MONTH.fullmatch(text):
        year, month = int(found[1]), int(found[2] or 1)
        months = 1 if found[2] else 12
        after = year * 12 + month - 1 + months
        return datetime(year, month, 1, tzinfo=UTC), datetime(after // 12, after % 12 + 1, 1, tzinfo=UTC)
    start = as_utc(datetime.fromisoformat(text))
    length = timedelta(days=1) if len(text) <= 10 else timedelta(seconds=1)
    return start, start + (_MICROSECOND if start.microsecond else length)


def _number(attribute: SearchAttribute, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise _UnfitError(f"{attribute.name} is a number, not {_shown(value)}", "42")
    return number + 0.0  # turns -0.0 into 0.0, as in documents


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")
