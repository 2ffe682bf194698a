"""A limit on open formatting elements: the parser opens all of them again in every paragraph that follows."""

from __future__ import annotations

import re
from collections import Counter

from ultracrawl.content.scanning import one_pass

_COPIES = 200_000
"""Elements that a page may be made to hold besides its own: half a second of work."""
_LEAST_OPEN = 16
"""Formatting elements that may be open at once, however many tags a page has."""

_NAMES = ("b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u")
"""`a` and `nobr` end an open one of their kind, so they do not gather."""
_TAG = re.compile(rb"<(/?)(%b)(?=[\s/>])" % "|".join(_NAMES).encode(), re.IGNORECASE)


def _other_than(name: str) -> str:
    """Return an expression for what follows a `<` that begins neither a tag of an element nor the end of one."""
    others = [f"{tag[:at]}[^<{tag[at]}]" for tag in (name, f"/{name}") for at in range(1, len(tag))]
    return "|".join([f"[^<{name[0]}/]", *others, rf"/?{name}[^<\s/>]"])


def _third(name: str) -> str:
    """Return an expression for a place where an element is begun that is open twice already."""
    other, begin, end = (
        f"[^<]*<+(?:{tag})" for tag in (_other_than(name), rf"{name}[\s/>]", rf"/{name}[\s/>]")
    )
    return rf"<{name}[\s/>](?:{other}|{begin}(?:{other})*{end})*{begin}(?:{other})*{begin}"


_THREE_OPEN = one_pass("|".join(map(_third, _NAMES)))
"""Three open elements of one kind; hardly a page has them, and without them only few are ever open at once."""


def limit_formatting(body: bytes) -> bytes:
    """Return `body` without the start tags of formatting elements that open too many at once.

    A start tag that is dropped becomes a comment: text and links stay as they are.
    """
    tags = body.count(b"<")
    if tags * tags <= 4 * _COPIES:  # half of them open, and each of the other half opens those again
        return body
    if _THREE_OPEN.search(body) is None:
        return body
    return _limited(body, max(_LEAST_OPEN, _COPIES // tags))


def _limited(body: bytes, most: int) -> bytes:
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
