"""A limit on open formatting elements: the parser reopens all of them in each following paragraph."""

from __future__ import annotations

import re
from collections import Counter

from ultracrawl.content.scanning import compile_for_bodies

_MAX_COPIES = 200_000
"""Maximum elements that the parser may add by reopening: half a second of work."""
_ALWAYS_ALLOWED = 16
"""Formatting elements that may be open at once, however many tags a page has."""

_NAMES = ("b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u")
"""`a` and `nobr` close an open element of the same name, so they do not accumulate."""
_TAG = re.compile(rb"<(/?)(%b)(?=[\s/>])" % "|".join(_NAMES).encode(), re.IGNORECASE)


def _other_than(name: str) -> str:
    """Return an expression for the text after a `<` that starts neither a start tag nor an end tag of `name`."""
    others = [f"{tag[:at]}[^<{tag[at]}]" for tag in (name, f"/{name}") for at in range(1, len(tag))]
    return "|".join([f"[^<{name[0]}/]", *others, rf"/?{name}[^<\s/>]"])


def _third(name: str) -> str:
    """Return an expression that matches up to a start tag of an element that is open twice already."""
    other, begin, end = (
        f"[^<]*<+(?:{tag})" for tag in (_other_than(name), rf"{name}[\s/>]", rf"/{name}[\s/>]")
    )
    return rf"<{name}[\s/>](?:{other}|{begin}(?:{other})*{end})*{begin}(?:{other})*{begin}"


_THREE_OPEN = compile_for_bodies("|".join(map(_third, _NAMES)))
"""Three open elements of one name: rare in real pages, and without them only few elements are open at once."""


def limit_formatting(body: bytes) -> bytes:
    """Return `body` without the start tags of formatting elements above the limit of open ones.

    Dropped start tags become comments: text and links stay unchanged.
    """
    tags = body.count(b"<")
    if (
        tags * tags <= 4 * _MAX_COPIES
    ):  # worst case: half of the tags open elements, the other half reopens them all
        return body
    if _THREE_OPEN.search(body) is None:
        return body
    return _drop_excess(body, max(_ALWAYS_ALLOWED, _MAX_COPIES // tags))


def _drop_excess(body: bytes, most: int) -> bytes:
    opened: Counter[bytes] = Counter()
    depth = kept_from = 0
    pieces: list[bytes] = []
    for tag in _TAG.finditer(body):
        name = tag[2].lower()
        if tag[1]:
            if opened[name]:
                opened[name] -= 1
                depth -= 1
        elif depth < most:
            opened[name] += 1
            depth += 1
        else:
            pieces += (body[kept_from : tag.start()], b"<!")
            kept_from = tag.start() + 1
    return b"".join([*pieces, body[kept_from:]]) if pieces else body
