"""What a sitemap says about the last change of a page, and how exact that is."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from ultracrawl.content.dates import parse_http_date, parse_w3c_date

_PARTIAL = re.compile(r"\d{4}(-\d{1,2}(-\d{1,2})?)?", re.ASCII)
_ZONED = re.compile(r"(?:z|gmt|utc?|[ecmp][sd]t|[+-]\d{2}:?\d{2})\Z", re.IGNORECASE | re.ASCII)
_LONGEST = 200
_WEST = timedelta(hours=12)
"""How much later than in UTC a day ends in the last time zone."""


class LastMod(NamedTuple):
    """A moment, and the latest one that the text may mean, in seconds since the epoch; 0 if there is none."""

    moment: datetime | None = None
    latest: float = 0.0


NO_LASTMOD = LastMod()


def read_lastmod(text: str) -> LastMod:
    """Read the date of a sitemap or feed; a text that is no date gives `NO_LASTMOD`.

    `2024-05-02` means any moment of that day in any time zone, `2024-05` any of that month, and a time
    without a zone that time in any zone.
    """
    return _read(text.strip()) if text and len(text) <= _LONGEST else NO_LASTMOD


@lru_cache(maxsize=8192)
def _read(text: str) -> LastMod:
    moment = parse_http_date(text) or parse_w3c_date(text)
    if moment is None:
        return NO_LASTMOD
    try:
        return LastMod(moment, _latest(text, moment).timestamp())
    except OverflowError:  # the year 9999
        return NO_LASTMOD


def _latest(text: str, moment: datetime) -> datetime:
    partial = _PARTIAL.fullmatch(text)
    if partial is None:
        return moment if _ZONED.search(text) else moment + _WEST
    if partial[2]:
        return moment + timedelta(days=1) + _WEST
    if partial[1]:
        following = (moment + timedelta(days=31)).replace(day=1)
        return following + _WEST
    return moment.replace(year=moment.year + 1) + _WEST if moment.year < 9999 else moment
