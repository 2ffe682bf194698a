"""JSON-LD (schema.org) in pages; only parsed for sources that map its attributes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice

from ultracrawl.model import Page

PREFIX = "jsonld."
"""Prefix of the names of these attributes: `jsonld.headline`, `jsonld.author.name`."""

_MAX_TAG_BYTES = 1000
_MAX_SCRIPTS = 50
_MAX_VALUES = 1000
_MAX_DEPTH = 6
_MAX_VALUE_CHARS = 2000
_WRAPPER = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[)|(?:-->|//\s*\]\]>)\s*$")

_ADDRESSES = frozenset(
    {"id", "url", "item", "mainentityofpage", "contenturl", "embedurl", "thumbnailurl", "image", "logo"}
)
"""Properties with an address, which may be relative; in lower case."""
_ABSOLUTE = r"(?i)https?://"
_RELATIVE = r"\.{0,2}/.*|[^:/]++/.*|[^:/]+\.\w{2,5}"
_ADDRESS = r"[^\s{}<>\"]+"

Value = dict[str, "Value"] | list["Value"] | str | int | float | bool | None


def jsonld_attributes(body: bytes, page: Page) -> dict[str, list[str]]:
    """Return the values of all JSON-LD scripts of a page by their path, in lower case; broken scripts are ignored.

    Lists and `@graph` add nothing to a path: `{"author": [{"name": "A"}, {"name": "B"}]}` is two values of
    `jsonld.author.name`. `@type` is `jsonld.type`.
    """
    attributes: dict[str, list[str]] = {}
    for script in _scripts(body):
        value = _parse(script.decode(page.charset or "utf-8", "replace"))
        for path, text in islice(_values(value), _MAX_VALUES):
            values = attributes.setdefault(PREFIX + path, [])
            if text not in values:
                values.append(text)
    return attributes


def jsonld_addresses(text: str) -> list[str]:
    """Return the addresses in a script: absolute ones, and the values of properties that are addresses.

    Left out are names of types and vocabularies (`@type`, `@context`), and templates (`{search_term}`).
    """
    found = dict[str, None]()
    for path, value in islice(_values(_parse(text)), _MAX_VALUES):
        names = path.split(".")
        if "context" in names or names[-1] == "type" or not re.fullmatch(_ADDRESS, value):
            continue
        if re.match(_ABSOLUTE, value) or (names[-1] in _ADDRESSES and re.fullmatch(_RELATIVE, value)):
            found[value] = None
    return list(found)


def _scripts(body: bytes) -> Iterator[bytes]:
    """Yield the contents of JSON-LD scripts, in linear time for any page."""
    if b"ld+json" not in body:
        return
    lower = body.lower()
    at = 0
    for _ in range(_MAX_SCRIPTS):
        mark = lower.find(b"ld+json", at)
        if mark < 0:
            return
        start = lower.find(b">", mark, mark + _MAX_TAG_BYTES) + 1
        tag = lower.rfind(b"<", max(at, mark - _MAX_TAG_BYTES), mark)
        at = mark + 1
        if start and lower.startswith(b"<script", tag):
            at = lower.find(b"</script", start)
            if at < 0:
                return
            yield body[start:at]


def _parse(text: str) -> Value:
    try:
        value: Value = json.loads(_WRAPPER.sub("", text), strict=False, parse_int=str)
    except (ValueError, RecursionError):
        return None
    return value


def _values(value: Value, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    match value:
        case dict() if depth < _MAX_DEPTH:
            for name, inner in value.items():
                step = "" if name == "@graph" else name.lstrip("@").lower()
                yield from _values(inner, f"{path}.{step}".strip("."), depth + 1)
        case list() if depth < _MAX_DEPTH:
            for inner in value:
                yield from _values(inner, path, depth + 1)
        case str() | int() | float() if path and not isinstance(value, bool):
            if text := str(value).strip()[:_MAX_VALUE_CHARS]:
                yield path, text
