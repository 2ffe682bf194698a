"""Times as people and programs read them."""

from __future__ import annotations

from datetime import UTC, datetime


def as_text(seconds: float, precision: str = "seconds") -> str:
    """Return a time since the epoch as ISO 8601 in UTC: `2025-11-21T17:20:00Z`."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec=precision).replace("+00:00", "Z")


def iso(seconds: float | None, precision: str = "seconds") -> str | None:
    """Return the same, or None for no time, which 0 is too."""
    return as_text(seconds, precision) if seconds else None
