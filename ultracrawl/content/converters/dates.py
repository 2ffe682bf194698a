"""Dates of documents as ISO 8601, the form in which attributes are mapped to dates."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_PDF = re.compile(
    r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-])(\d\d)'?(\d\d)?'?)?", re.ASCII
)
_EXIF = re.compile(r"(\d{4}):(\d\d):(\d\d) (\d\d):(\d\d):(\d\d)")


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
