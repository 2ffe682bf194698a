"""Parsing of dates in HTTP headers, feeds, sitemaps, PDF and EXIF; formatting as ISO 8601."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import NamedTuple

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
_PARTIAL = re.compile(r"\d{4}(-\d{1,2}(-\d{1,2})?)?", re.ASCII)
_ZONED = re.compile(r"(?:z|gmt|utc?|[ecmp][sd]t|[+-]\d{2}:?\d{2})\Z", re.IGNORECASE | re.ASCII)
_LONGEST_LASTMOD = 200
_WESTERNMOST_OFFSET = timedelta(hours=12)
"""How much later than in UTC a day ends in the westernmost time zone."""
_PDF = re.compile(
    r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-])(\d\d)'?(\d\d)?'?)?", re.ASCII
)
_EXIF = re.compile(r"(\d{4}):(\d\d):(\d\d) (\d\d):(\d\d):(\d\d)")


def parse_http_date(value: str) -> datetime | None:
    """Parse a date string; returns a UTC datetime, or None if it is not a date.

    Follows RFC 6265 section 5.1.1: parts in any order, two-digit years, any delimiters. Also understands a numeric
    offset at the end and the zone names of RFC 5322 4.3 (`PST`, `EDT`); any other zone name means UTC.
    ISO forms go to `parse_w3c_date`.
    """
    return _parse_http_date(value) if len(value) <= _MAX_LENGTH else None


@lru_cache(maxsize=1024)  # several rules parse the date of one page
def _parse_http_date(value: str) -> datetime | None:
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
    """Parse a W3C date (`2024`, `2024-05`, `2024-05-01T10:00:00+02:00`) to UTC; None if it is not one."""
    match = _W3C.fullmatch(value) if len(value) <= _MAX_LENGTH else None
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    parts = (year, month or 1, day or 1, hour, minute, second)
    moment = _utc_datetime(parts)
    zone = match[7]
    if moment is None or not zone or zone in "Zz":
        return moment
    return _shift(moment, zone[0], int(zone[1:3]), int(zone[-2:]))


def _from_parts(value: str) -> datetime | None:
    time = day = month = year = None
    for token in _DELIMITER.split(value):
        if time is None and (match := _TIME.match(token)):
            time = (int(match[1]), int(match[2]), int(match[3]))
        elif day is None and (match := _DAY.match(token)):
            day = int(match[1])
        elif month is None and token[:3].lower() in _MONTHS:
            month = _MONTHS[token[:3].lower()]
        elif year is None and (match := _YEAR.match(token)):
            year = _full_year(int(match[1]))
    if time is None or day is None or month is None or year is None:
        return None
    return _utc_datetime((year, month, day, *time))


def _full_year(year: int) -> int:
    if 70 <= year <= 99:
        return year + 1900
    return year + 2000 if year <= 69 else year


def _utc_datetime(parts: tuple[int, int, int, int, int, int]) -> datetime | None:
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


class LastMod(NamedTuple):
    """A parsed `lastmod`: its UTC time, and the latest time that the text can mean."""

    moment: datetime | None = None
    latest: float = 0.0
    """Seconds since the epoch; 0 if there is no date."""


NO_LASTMOD = LastMod()


def read_lastmod(text: str) -> LastMod:
    """Parse the date of a sitemap or feed; returns `NO_LASTMOD` if the text is not a date.

    `2024-05-02` means any time of that day in any time zone, `2024-05` any time of that month, and a time
    without a zone that time in any zone.
    """
    return _read_lastmod(text.strip()) if text and len(text) <= _LONGEST_LASTMOD else NO_LASTMOD


@lru_cache(maxsize=8192)
def _read_lastmod(text: str) -> LastMod:
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
        return moment if _ZONED.search(text) else moment + _WESTERNMOST_OFFSET
    if partial[2]:
        return moment + timedelta(days=1) + _WESTERNMOST_OFFSET
    if partial[1]:
        next_month = (moment + timedelta(days=31)).replace(day=1)
        return next_month + _WESTERNMOST_OFFSET
    return moment.replace(year=moment.year + 1) + _WESTERNMOST_OFFSET if moment.year < 9999 else moment


def pdf_date(text: str) -> str:
    """Return a PDF date (`D:20240131120000+01'00'`) as ISO 8601, or empty."""
    match = _PDF.match(text.strip())
    if match is None:
        return ""
    year, month, day, hour, minute, second = (match[number] or "" for number in range(1, 7))
    date = f"{year}-{month or '01'}-{day or '01'}T{hour or '00'}:{minute or '00'}:{second or '00'}"
    zone = f"{match[8]}{match[9]}:{match[10] or '00'}" if match[8] else "+00:00"
    return _if_valid(date + zone)


def exif_date(text: str) -> str:
    """Return an EXIF date (`2024:01:31 12:00:00`) as ISO 8601 without a zone, or empty."""
    match = _EXIF.match(text.strip())
    return _if_valid(f"{match[1]}-{match[2]}-{match[3]}T{match[4]}:{match[5]}:{match[6]}") if match else ""


def iso_date(moment: datetime) -> str:
    """Return a datetime as ISO 8601; one without a zone is taken as UTC."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat(timespec="seconds")


def _if_valid(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return ""
    return text


def as_utc(moment: datetime) -> datetime:
    """Convert a datetime to UTC; one without a zone is taken as UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def as_text(seconds: float, precision: str = "seconds") -> str:
    """Return a time since the epoch as ISO 8601 in UTC: `2025-11-21T17:20:00Z`."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec=precision).replace("+00:00", "Z")


def iso(seconds: float | None, precision: str = "seconds") -> str | None:
    """Return a time since the epoch as ISO 8601 in UTC; None for None and 0 (never)."""
    return as_text(seconds, precision) if seconds else None
