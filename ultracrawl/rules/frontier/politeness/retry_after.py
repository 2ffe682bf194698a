"""The Retry-After header."""

from __future__ import annotations

from ultracrawl.model.dates import epoch, parse_http_date

RETRY_AFTER_STATUS = frozenset({429, 503})
"""Statuses whose Retry-After concerns all requests to the server (RFC 9110 10.2.3, RFC 6585 4)."""


def retry_after(value: str, now: float, longest: float) -> float:
    """Return the seconds that a Retry-After header requests at the time `now` (epoch), at most `longest`.

    The value is seconds or a date (RFC 9110 10.2.3); returns 0 for past dates and invalid values.
    """
    text = value.strip()
    if text.isdecimal():
        return min(float(text[:12]), longest)
    return min(max(epoch(parse_http_date(text)) - now, 0.0), longest)
