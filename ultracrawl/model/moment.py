"""Times as people and programs read them."""

from __future__ import annotations

from datetime import UTC, datetime


def iso(seconds: float | None, precision: str = "seconds") -> str | None:
    """Return a time since the epoch as ISO 8601 in UTC (`2025-11-21T17:20:00Z`); None for none, which 0 is too."""
    if not seconds:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec=precision).replace("+00:00", "Z")
