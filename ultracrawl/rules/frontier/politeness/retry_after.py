"""The header Retry-After: how long a server wants to be left alone."""

from __future__ import annotations

from email.utils import parsedate_to_datetime

RETRY_AFTER_STATUS = frozenset({429, 503})
"""Answers whose Retry-After is a wish about all requests (RFC 9110 10.2.3, RFC 6585 4)."""


def retry_after(value: str, now: float, longest: float) -> float:
    """Return the seconds that a Retry-After header asks for at the time `now` (epoch), at most `longest`.

    Seconds or a date (RFC 9110 10.2.3); 0 for dates that are over and for what is neither.
    """
    text = value.strip()
    if text.isdecimal():
        return min(float(text[:12]), longest)
    try:
        at = parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return 0.0
    return min(max(at - now, 0.0), longest)
