"""Dates in HTTP headers and feeds: the three formats of RFC 9110 5.6.7 and what servers really send."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

_DELIMITER = re.compile(r"[\x09\x20-\x2F\x3B-\x40\x5B-\x60\x7B-\x7E]+")
_TIME = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?!\d)", re.ASCII)
_DAY = re.compile(r"(\d{1,2})(?!\d)", re.ASCII)
_YEAR = re.compile(r"(\d{2,4})(?!\d)", re.ASCII)
_MONTHS = {
    name: number
    for number, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
    )
}
_ZONES = {
    "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
}  # fmt: skip
"""Hours from UTC of the zone names that RFC 5322 (4.3) defines."""
_OFFSET = re.compile(r"(?:^|\s)([+-])(\d{2}):?(\d{2})\s*$", re.ASCII)
_ISO = re.compile(r"\s*\d{4}-\d{2}", re.ASCII)
_W3C = re.compile(
    r"\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})"
    r"(?:[T\s](\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?)?)?\s*",
    re.IGNORECASE | re.ASCII,
)
_FIRST_YEAR = 1601
_MAX_LENGTH = 100


@lru_cache(maxsize=1024)  # several rules ask for the date of one page
def parse_http_date(value: str) -> datetime | None:
    """Return the moment a date string means, in UTC, or None.

    The rules of RFC 6265 section 5.1.1 decide: parts in any order, two-digit years, any delimiters; a numeric
    offset at the end is honoured, and so are the zone names of RFC 5322 4.3 (`PST`, `EDT`); any other
    name is taken as UTC. ISO forms go to `parse_w3c_date`.
    """
    if len(value) > _MAX_LENGTH:
        return None
    if _ISO.match(value) and (moment := parse_w3c_date(value)):
        return moment
    offset = _OFFSET.search(value)
    moment = _from_parts(value[: offset.start()] if offset else value)
    if moment is None:
        return None
    if offset is not None:
        return _shift(moment, offset[1], int(offset[2]), int(offset[3]))
    hours = _ZONES.get(value.rsplit(maxsplit=1)[-1].lower())
    return _shift(moment, "-", -hours, 0) if hours else moment


def parse_w3c_date(value: str) -> datetime | None:
    """Return the moment of a W3C date (`2024`, `2024-05`, `2024-05-01T10:00:00+02:00`), in UTC, or None."""
    found = _W3C.fullmatch(value) if len(value) <= _MAX_LENGTH else None
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    parts = (year, month or 1, day or 1, hour, minute, second)
    moment = _moment(parts)
    zone = found[7]
    if moment is None or not zone or zone in "Zz":
        return moment
    return _shift(moment, zone[0], int(zone[1:3]), int(zone[-2:]))


def _from_parts(value: str) -> datetime | None:
    time = day = month = year = None
    for token in _DELIMITER.split(value):
        if time is None and (found := _TIME.match(token)):
            time = (int(found[1]), int(found[2]), int(found[3]))
        elif day is None and (found := _DAY.match(token)):
            day = int(found[1])
        elif month is None and token[:3].lower() in _MONTHS:
            month = _MONTHS[token[:3].lower()]
        elif year is None and (found := _YEAR.match(token)):
            year = _full_year(int(found[1]))
    if time is None or day is None or month is None or year is None:
        return None
    return _moment((year, month, day, *time))


def _full_year(year: int) -> int:
    if 70 <= year <= 99:
        return year + 1900
    return year + 2000 if year <= 69 else year


def _moment(parts: tuple[int, int, int, int, int, int]) -> datetime | None:
    if parts[0] < _FIRST_YEAR:
        return None
    try:
        return datetime(*parts, tzinfo=UTC)
    except ValueError:
        return None


def _shift(moment: datetime, sign: str, hours: int, minutes: int) -> datetime | None:
    offset = timedelta(hours=hours, minutes=minutes)
    try:
        zone = timezone(-offset if sign == "-" else offset)
        return moment.replace(tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
