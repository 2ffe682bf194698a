"""Parser for the value of `<meta http-equiv=refresh>` (HTML Standard, "shared declarative refresh steps")."""

from __future__ import annotations

import re

_TIME = re.compile(r"[ \t\n\f\r]*(?:([0-9]+)[0-9.]*|\.[0-9.]*)")
_SEPARATOR = re.compile(r"[ \t\n\f\r]*[;,]?[ \t\n\f\r]*")
_URL_PREFIX = re.compile(r"url[ \t\n\f\r]*=[ \t\n\f\r]*", re.IGNORECASE)
_LINE_BREAKS = re.compile(r"[\t\n\r]")
_MAX_DIGITS = 9


def parse_refresh(value: str) -> tuple[float, str] | None:
    """Return seconds and target (empty for the page itself), or None for an invalid value."""
    time = _TIME.match(value)
    if time is None:
        return None
    seconds = float((time[1] or "0")[:_MAX_DIGITS])
    rest = value[time.end() :]
    if not rest:
        return seconds, ""
    if rest[0] not in " \t\n\f\r;,":
        return None
    separator = _SEPARATOR.match(rest)
    return seconds, _target(rest[separator.end() :] if separator else rest)


def _target(text: str) -> str:
    prefix = _URL_PREFIX.match(text)
    target = text[prefix.end() :] if prefix else text
    if target[:1] in ("'", '"'):
        target = target[1:].partition(target[0])[0]
    return _LINE_BREAKS.sub("", target).strip(" \f")
