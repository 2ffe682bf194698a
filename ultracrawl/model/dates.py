"""Dates: every form in which servers, feeds and documents write them, read; and the form in which we write them.

`parse_http_date` and `parse_w3c_date` read what HTTP headers and feeds say, `read_lastmod` also how exact that is,
`pdf_date` and `exif_date` what documents say of themselves. `as_text` and `iso` write seconds since the epoch,
`iso_date` a moment; `as_utc` gives a moment its zone.
"""

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
_WEST = timedelta(hours=12)
"""How much later than in UTC a day ends in the last time zone."""
_PDF = re.compile(
    r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-])(\d\d)'?(\d\d)?'?)?", re.ASCII
)
_EXIF = re.compile(r"(\d{4}):(\d\d):(\d\d) (\d\d):(\d\d):(\d\d)")


def parse_http_date(value: str) -> datetime | None:
    """Return the moment a date string means, in UTC, or None.

    The rules of RFC 6265 section 5.1.1 decide: parts in any order, two-digit years, any delimiters; a numeric
    offset at the end is honoured, and so are the zone names of RFC 5322 4.3 (`PST`, `EDT`); any other
    name is taken as UTC. ISO forms go to `parse_w3c_date`.
    """
    return _read_http_date(value) if len(value) <= _MAX_LENGTH else None


@lru_cache(maxsize=1024)  # several rules ask for the date of one page
def _read_http_date(value: str) -> datetime | None:
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
        return moment if _ZONED.search(text) else moment + _WEST
    if partial[2]:
        return moment + timedelta(days=1) + _WEST
    if partial[1]:
        following = (moment + timedelta(days=31)).replace(day=1)
        return following + _WEST
    return moment.replace(year=moment.year + 1) + _WEST if moment.year < 9999 else moment


def pdf_date(text: str) -> str:
    """Return a PDF date (`D:20240131120000+01'00'`) as ISO 8601, or empty."""
    found = _PDF.match(text.strip())
    if found is None:
        return ""
    year, month, day, hour, minute, second = (found[number] or "" for number in range(1, 7))
    date = f"{year}-{month or '01'}-{day or '01'}T{hour or '00'}:{minute or '00'}:{second or '00'}"
    zone = f"{found[8]}{found[9]}:{found[10] or '00'}" if found[8] else "+00:00"
    return _valid(date + zone)


def exif_date(text: str) -> str:
    """Return an EXIF date (`2024:01:31 12:00:00`) as ISO 8601 without a zone, or empty."""
    found = _EXIF.match(text.strip())
    return _valid(f"{found[1]}-{found[2]}-{found[3]}T{found[4]}:{found[5]}:{found[6]}") if found else ""


def iso_date(moment: datetime) -> str:
    """Return a moment as ISO 8601, in UTC if it has no zone."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat(timespec="seconds")


def _valid(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return ""
    return text


def as_utc(moment: datetime) -> datetime:
    """Return the moment with the UTC time zone; one without a zone is taken to be UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def as_text(seconds: float, precision: str = "seconds") -> str:
    """Return a time since the epoch as ISO 8601 in UTC: `2025-11-21T17:20:00Z`."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec=precision).replace("+00:00", "Z")


def iso(seconds: float | None, precision: str = "seconds") -> str | None:
    """Return the same, or None for no time, which 0 is too."""
    return as_text(seconds, precision) if seconds else None
