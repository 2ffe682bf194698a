"""Conversion of texts to typed values of search attributes (Ultra Search 5.2)."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time
from decimal import Decimal

from ultracrawl.model import AttributeValue
from ultracrawl.model.dates import as_utc, parse_http_date, parse_w3c_date
from ultracrawl.rules.attributes.schema import AttributeType

_MOST_DIGITS = 18


def convert(text: str, kind: AttributeType) -> AttributeValue | None:
    """Convert a text to a type; None if it is empty or cannot be converted."""
    text = text.strip()
    if not text:
        return None
    if kind is AttributeType.STRING:
        return text
    return parse_number(text) if kind is AttributeType.NUMBER else parse_date(text)


def typed(value: object, kind: AttributeType) -> AttributeValue | None:
    """Convert any Python value to a type; None if it cannot be converted."""
    if isinstance(value, str):
        return convert(value, kind)
    if isinstance(value, datetime) and value.tzinfo is UTC and kind is AttributeType.DATE:
        return value
    if isinstance(value, date):
        moment = value if isinstance(value, datetime) else datetime.combine(value, time())
        return convert(moment.isoformat() if kind is AttributeType.DATE else value.isoformat(), kind)
    if not isinstance(value, int | float | Decimal) or kind is AttributeType.DATE:
        return None
    try:
        if kind is AttributeType.STRING:
            return str(value)
        return float(value) if math.isfinite(value) else None
    except (ValueError, OverflowError):  # an integer of thousands of digits, or a Decimal that signals
        return None


def parse_number(text: str) -> float | None:
    """Parse a number with a decimal point and without separators; None if it is not one."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in text else None


def whole_number(text: str) -> int | None:
    """Parse a whole number of at most 18 ASCII digits; None if it is not one."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


def parse_date(text: str) -> datetime | None:
    """Parse a date to UTC: ISO 8601 or the format of HTTP headers (RFC 9110 5.6.7); None if it is not one.

    A time without a zone is UTC, a date without a time is its midnight.
    """
    try:
        return as_utc(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return parse_w3c_date(text) or parse_http_date(text)
