"""Parsing of dates in headers, mails, feeds, sitemaps, PDF and EXIF; formatting as ISO 8601 and for headers.

These functions raise nothing for a text that is no date, or for a date that cannot be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import NamedTuple

_DELIMITER = re.compile(r"[\x09\x20-\x2F\x3B-\x40\x5B-\x60\x7B-\x7E]+")
_CLOCK = re.compile(
    r"(?<![\d:])(?<!:\s)(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.\d+)?)?(?![\d:])(?:\s*([ap])\.?m\b)?",
    re.IGNORECASE | re.ASCII,
)
_DAY = re.compile(r"(\d{1,2})(?!\d)", re.ASCII)
_YEAR = re.compile(r"(\d{2,4})(?!\d)", re.ASCII)
_MONTHS = {
    name: number
    for number, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
    )
}
_MONTH = (
    "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t|tember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
_AFTER_WEEKDAY = r"\s*(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[.,]?\s+)?"
_DAY_FIRST = rf"{_AFTER_WEEKDAY}(\d{{1,2}})(?:st|nd|rd|th)?[\s.-]+{_MONTH}[\s.,-]+(\d{{4}})\s*"
_MONTH_FIRST = rf"{_AFTER_WEEKDAY}{_MONTH}\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})\s*"
"""Days without a time are rare: these are compiled when they are first needed."""
_ZONES: dict[str, int | str] = {
    "z": 0, "gmt": 0, "ut": 0, "utc": 0,
    "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
    "wet": 0, "west": 1, "bst": 1, "cet": 1, "cest": 2, "met": 1, "mest": 2, "mez": 1, "mesz": 2, "eet": 2, "eest": 3,
    "msk": 3, "jst": 9, "kst": 9, "aest": 10, "aedt": 11,
    "et": "America/New_York", "ct": "America/Chicago", "mt": "America/Denver", "pt": "America/Los_Angeles",
}  # fmt: skip
"""The zone names of RFC 5322 (4.3) and those of one meaning: hours from UTC, or the place that knows its summers."""
_OFFSET = re.compile(r"\s*(?:gmt|utc?)?\s*([+-])(\d{2}):?(\d{2})(?!\d)", re.IGNORECASE | re.ASCII)
_OFFSET_AT_END = re.compile(r"(?:^|\s)([+-])(\d{2}):?(\d{2})\s*$", re.ASCII)
_ISO = re.compile(r"\s*\d{4}-\d{2}", re.ASCII)
_W3C = re.compile(
    r"\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})"
    r"(?:[T\s](\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?)?)?\s*",
    re.IGNORECASE | re.ASCII,
)
_OTHER_ISO = re.compile(
    r"\s*(\d{4})(/?)(\d{2})\2(\d{2})(?![\d/])(?:[T\s]\s*(\d{2}):?(\d{2})(?::?(\d{2})(?:\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?\s*",
    re.IGNORECASE | re.ASCII,
)
"""The basic format of ISO 8601 (`20240501T100000Z`), and days with slashes that begin with the year."""
_FIRST_YEAR = 1601
_MAX_LENGTH = 100
_PARTIAL = re.compile(r"\d{4}(-\d{1,2}(-\d{1,2})?)?", re.ASCII)
_LONGEST_LASTMOD = 200
_WESTERNMOST_OFFSET = timedelta(hours=12)
"""How much later than in UTC a day ends in the westernmost time zone."""
_PDF = re.compile(
    r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-])(\d\d)'?(\d\d)?'?)?", re.ASCII
)
_EXIF = re.compile(r"(\d{4}):(\d\d):(\d\d) (\d\d):(\d\d):(\d\d)")


class _Found(NamedTuple):
    """A date in a text."""

    moment: datetime
    is_day: bool = False
    """Whether the text has no time."""
    is_zoned: bool = True
    """Whether the text says from where it counts hours."""


def parse_http_date(value: str) -> datetime | None:
    """Parse a date string; returns a UTC datetime, or None if it is not a date, or one of no year of UTC.

    Follows RFC 6265 section 5.1.1: parts in any order, two-digit years, any delimiters. Also understands dates of mails
    and feeds: times without seconds, numeric offsets, names of zones (`PST`, `CEST`, `ET`); any other zone name means
    UTC. A date without a time (`15 July 2012`, `July 15, 2012`, `20120715`, `2012/07/15`) is its midnight. ISO forms go
    to `parse_w3c_date`.
    """
    found = _find_date(value)
    return found.moment if found else None


def parse_w3c_date(value: str) -> datetime | None:
    """Parse a W3C date (`2024`, `2024-05`, `2024-05-01T10:00:00+02:00`) to UTC; None if it is not one."""
    found = _find_w3c_date(value)
    return found.moment if found else None


def _find_date(value: str) -> _Found | None:
    return _find_short_date(value) if len(value) <= _MAX_LENGTH else None


@lru_cache(maxsize=1024)  # several rules parse the date of one page
def _find_short_date(value: str) -> _Found | None:
    if _ISO.match(value) and (found := _find_w3c_date(value)):
        return found
    if match := _OTHER_ISO.fullmatch(value):
        year, _, month, day, hour, minute, second, zone = match.groups()
        time = f"T{hour}:{minute}:{second or '00'}{zone or ''}" if hour else ""
        found = _find_w3c_date(f"{year}-{month}-{day}{time}")
        return found and found._replace(is_day=not hour)
    clock = _CLOCK.search(value)
    return _find_day(value) if clock is None else _find_moment(value, clock)


def _find_w3c_date(value: str) -> _Found | None:
    match = _W3C.fullmatch(value) if len(value) <= _MAX_LENGTH else None
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    moment, zone = _utc_datetime((year, month or 1, day or 1, hour, minute, second)), match[7]
    if moment is not None and zone and zone not in "Zz":
        moment = _shift(moment, zone[0], zone[1:3], zone[-2:])
    return None if moment is None else _Found(moment, is_zoned=bool(zone))


def _find_day(value: str) -> _Found | None:
    if match := re.fullmatch(_DAY_FIRST, value, re.IGNORECASE | re.ASCII):
        day, month, year = match.groups()
    elif match := re.fullmatch(_MONTH_FIRST, value, re.IGNORECASE | re.ASCII):
        month, day, year = match.groups()
    else:
        return None
    moment = _utc_datetime((int(year), _MONTHS[month[:3].lower()], int(day), 0, 0, 0))
    return None if moment is None else _Found(moment, is_day=True, is_zoned=False)


def _find_moment(value: str, clock: re.Match[str]) -> _Found | None:
    offset = _OFFSET.match(value, clock.end()) or _OFFSET_AT_END.search(value, clock.end())
    skipped = offset or clock
    tokens = _DELIMITER.split(
        f"{value[: clock.start()]} {value[clock.end() : skipped.start()]} {value[skipped.end() :]}"
    )
    day = _date_of(tokens)
    hour = int(clock[1])
    if clock[4]:
        hour = hour % 12 + 12 * (clock[4] in "Pp") if 1 <= hour <= 12 else 24
    moment = None if day is None else _utc_datetime((*day, hour, int(clock[2]), int(clock[3] or 0)))
    if moment is None:
        return None
    if offset is not None:
        shifted = _shift(moment, offset[1], offset[2], offset[3])
        return None if shifted is None else _Found(shifted)
    zone = next((word for word in map(str.lower, tokens) if word in _ZONES), None)
    shifted = _from_zone(moment, _ZONES[zone]) if zone else moment
    return None if shifted is None else _Found(shifted, is_zoned=zone is not None)


def _date_of(tokens: Iterable[str]) -> tuple[int, int, int] | None:
    day = month = year = None
    for token in tokens:
        if day is None and (match := _DAY.match(token)):
            day = int(match[1])
        elif month is None and token[:3].lower() in _MONTHS:
            month = _MONTHS[token[:3].lower()]
        elif year is None and (match := _YEAR.match(token)):
            year = _full_year(match[1])
    return None if day is None or month is None or year is None else (year, month, day)


def _full_year(digits: str) -> int:
    """Return the year of two or three digits in full; four digits are one, whatever they say."""
    year = int(digits)
    if len(digits) == 4:
        return year
    if 70 <= year <= 99:
        return year + 1900
    return year + 2000 if year <= 69 else year


def _utc_datetime(parts: tuple[int, int, int, int, int, int]) -> datetime | None:
    if parts[0] < _FIRST_YEAR:
        return None
    if parts[5] == 60:  # a leap second, which no datetime has
        parts = (*parts[:5], 59)
    try:
        return datetime(*parts, tzinfo=UTC)
    except ValueError:
        return None


def _shift(moment: datetime, sign: str, hours: str, minutes: str) -> datetime | None:
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    try:
        zone = timezone(-offset if sign == "-" else offset)
        return moment.replace(tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _from_zone(moment: datetime, zone: int | str) -> datetime | None:
    try:
        if isinstance(zone, int):
            return moment - timedelta(hours=zone) if zone else moment
        from zoneinfo import ZoneInfo  # noqa: PLC0415 - few dates need it

        return moment.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    except OverflowError:
        return None
    except (LookupError, OSError):  # the system has no names of places
        return moment


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
    found = _find_date(text) or _find_w3c_date(text)
    if found is None:
        return NO_LASTMOD
    try:
        return LastMod(found.moment, _latest(text, found).timestamp())
    except OverflowError:  # the year 9999
        return NO_LASTMOD


def _latest(text: str, found: _Found) -> datetime:
    moment, partial = found.moment, _PARTIAL.fullmatch(text)
    if found.is_zoned:
        return moment
    if partial is None and not found.is_day:
        return moment + _WESTERNMOST_OFFSET
    if partial is None or partial[2]:
        return moment + timedelta(days=1) + _WESTERNMOST_OFFSET
    if partial[1]:
        next_month = (moment + timedelta(days=31)).replace(day=1)
        return next_month + _WESTERNMOST_OFFSET
    return moment.replace(year=moment.year + 1) + _WESTERNMOST_OFFSET if moment.year < 9999 else moment


def date_text(text: str) -> str:
    """Return a date of a mail as ISO 8601 in UTC.

    This function, `pdf_date` and `exif_date` return a text that is no date as it is: a search attribute that is a date
    drops and counts it, as any other value that is none.
    """
    moment = parse_http_date(text)
    return iso_date(moment) if moment else text.strip()


def pdf_date(text: str) -> str:
    """Return a PDF date (`D:20240131120000+01'00'`) as ISO 8601; a text that is none as it is."""
    match = _PDF.match(text.strip())
    if match is None:
        return text.strip()
    year, month, day, hour, minute, second = (match[number] or "" for number in range(1, 7))
    date = f"{year}-{month or '01'}-{day or '01'}T{hour or '00'}:{minute or '00'}:{second or '00'}"
    zone = f"{match[8]}{match[9]}:{match[10] or '00'}" if match[8] else "+00:00"
    return date + zone if _is_valid(date + zone) else text.strip()


def exif_date(text: str) -> str:
    """Return an EXIF date (`2024:01:31 12:00:00`) as ISO 8601 without a zone; a text that is none as it is."""
    match = _EXIF.match(text.strip())
    date = f"{match[1]}-{match[2]}-{match[3]}T{match[4]}:{match[5]}:{match[6]}" if match else ""
    return date if _is_valid(date) else text.strip()


def iso_date(moment: datetime) -> str:
    """Return a datetime as ISO 8601; one without a zone is taken as UTC."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat(timespec="seconds")


def http_date(seconds: float) -> str:
    """Return a time since the epoch as headers have it; one that no date is as `@SECONDS`, which no reader takes."""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return f"@{seconds}"
    from email.utils import format_datetime  # noqa: PLC0415 - it takes longer than the rest of this module

    return format_datetime(moment, usegmt=True)


def epoch(moment: datetime | None) -> float:
    """Return a date as seconds since 1970; 0 for none, or one that is in no year of UTC. Without a zone it is UTC."""
    try:
        return as_utc(moment).timestamp() if moment else 0.0
    except (ValueError, OverflowError):  # libraries have zones that are days away from UTC
        return 0.0


def _is_valid(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def as_utc(moment: datetime) -> datetime:
    """Convert a datetime to UTC; one without a zone is taken as UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def as_text(seconds: float, precision: str = "seconds") -> str:
    """Return a time since the epoch as ISO 8601 in UTC: `2025-11-21T17:20:00Z`."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec=precision).replace("+00:00", "Z")


def iso(seconds: float | None, precision: str = "seconds") -> str | None:
    """Return a time since the epoch as ISO 8601 in UTC; None for None and 0 (never)."""
    return as_text(seconds, precision) if seconds else None
