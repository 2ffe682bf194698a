"""Parses durations: a number of minutes, or a number with a unit."""

from __future__ import annotations

import math
import re
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

from ultracrawl.sources.mistakes import format_value, mistake

_UNITS = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1.0),
    **dict.fromkeys(("", "m", "min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86_400.0),
    **dict.fromkeys(("w", "week", "weeks"), 604_800.0),
}
_ADVERBS = {"hourly": "1 h", "daily": "24 h", "weekly": "7 d", "monthly": "30 d"}
"""What to write for words that are no lengths of time."""
_MAX_SECONDS = 366 * 86_400.0
_TEXT = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*([a-z]*)", re.IGNORECASE)


def parse_interval(value: object) -> float | None:
    """Return the seconds of a number of minutes or a text such as `36 h`; None stays None."""
    if value is None:
        return None
    text = value.strip() if isinstance(value, str) else str(value) if _is_number(value) else ""
    found = _TEXT.fullmatch(text)
    unit = _UNITS.get(found[2].lower()) if found else None
    if found is None or unit is None:
        meant = _ADVERBS.get(text.lower())
        raise mistake(
            f"{format_value(value)} is not a length of time",
            f"write `{meant}`" if meant else "write minutes, or a number with s, min, h, d or w, as `36 h`",
        )
    seconds = float(found[1]) * unit
    if not 0 < seconds <= _MAX_SECONDS:
        raise mistake(
            f"the length of time {format_value(value)} is out of range",
            "write more than 0 and at most a year",
        )
    return seconds


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_WRITTEN = [{"type": "number", "exclusiveMinimum": 0}, {"type": "string"}]
Interval = Annotated[
    float | None, BeforeValidator(parse_interval), WithJsonSchema({"anyOf": [*_WRITTEN, {"type": "null"}]})
]
"""Seconds; written as minutes or as text with a unit."""
NeededInterval = Annotated[float, BeforeValidator(parse_interval), WithJsonSchema({"anyOf": [*_WRITTEN]})]
"""The same, where there is none without it."""
