"""JSON-LD (schema.org) in pages: read only for sources that map attributes of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice

from ultracrawl.model import Page

PREFIX = "jsonld."
"""What the names of these attributes begin with: `jsonld.headline`, `jsonld.author.name`."""

_LONGEST_TAG = 1000
_MOST_SCRIPTS = 50
_MOST_VALUES = 1000
_DEEPEST = 6
_LONGEST_VALUE = 2000
_ENDS = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[)|(?:-->|//\s*\]\]>)\s*$")

Value = dict[str, "Value"] | list["Value"] | str | int | float | bool | None


def jsonld_attributes(body: bytes, page: Page) -> dict[str, list[str]]:
    """Return the values of all JSON-LD scripts of a page by their path, in lower case; broken scripts are left out.

    Lists and `@graph` add nothing to a path: `{"author": [{"name": "A"}, {"name": "B"}]}` is two values of
    `jsonld.author.name`. `@type` is `jsonld.type`.
    """
    found: dict[str, list[str]] = {}
    for script in _scripts(body):
        value = _parse(script.decode(page.charset or "utf-8", "replace"))
        for path, text in islice(_values(value), _MOST_VALUES):
            values = found.setdefault(PREFIX + path, [])
            if text not in values:
                values.append(text)
    return found


def _scripts(body: bytes) -> Iterator[bytes]:
    """Yield the contents of scripts of that type; looks at each byte a few times, however the page is built."""
    if b"ld+json" not in body:
        return
    low = body.lower()
    at = 0
    for _ in range(_MOST_SCRIPTS):
        mark = low.find(b"ld+json", at)
        if mark < 0:
            return
        start = low.find(b">", mark, mark + _LONGEST_TAG) + 1
        inside = low.rfind(b"<", max(at, mark - _LONGEST_TAG), mark)
        at = mark + 1
        if start and low.startswith(b"<script", inside):
            at = low.find(b"</script", start)
            if at < 0:
                return
            yield body[start:at]


def _parse(text: str) -> Value:
    try:
        value: Value = json.loads(_ENDS.sub("", text), strict=False)
    except (ValueError, RecursionError):
        return None
    return value


def _values(value: Value, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    match value:
        case dict() if depth < _DEEPEST:
            for name, inner in value.items():
                step = "" if name == "@graph" else name.lstrip("@").lower()
                yield from _values(inner, f"{path}.{step}".strip("."), depth + 1)
        case list() if depth < _DEEPEST:
            for inner in value:
                yield from _values(inner, path, depth + 1)
        case str() | int() | float() if path and not isinstance(value, bool):
            if text := str(value).strip()[:_LONGEST_VALUE]:
                yield path, text
