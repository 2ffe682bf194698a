"""A limit on open formatting elements: the parser opens all of them again in every paragraph that follows."""

from __future__ import annotations

import re
from collections import Counter

_COPIES = 200_000
"""Elements that a page may be made to hold besides its own: half a second of work."""
_LEAST_OPEN = 16
"""Formatting elements that may be open at once, however many tags a page has."""

# `a` and `nobr` end an open one of their kind, so they do not gather.
_NAMES = rb"<(/?)(b|big|code|em|font|i|s|small|strike|strong|tt|u)(?=[\s/>])"
_LOWER_TAG = re.compile(_NAMES)
_TAG = re.compile(_NAMES, re.IGNORECASE)


def limit_formatting(body: bytes) -> bytes:
    """Return `body` without the start tags of formatting elements that open too many at once.

    A start tag that is dropped becomes a comment: text and links stay as they are.
    """
    tags = body.count(b"<")
    if tags * tags <= 4 * _COPIES:  # half of them open, and each of the other half opens those again
        return body
    most = max(_LEAST_OPEN, _COPIES // tags)
    return _limited(body, most) if _open_at_once(body, most) else body


def _open_at_once(body: bytes, most: int) -> bool:
    """Tell whether more formatting elements than `most` are open somewhere; nearly no page has them."""
    opened: Counter[bytes] = Counter()
    depth = 0
    for end, name in _LOWER_TAG.findall(body.lower()):
        if not end:
            opened[name] += 1
            depth += 1
            if depth > most:
                return True
        elif opened[name]:
            opened[name] -= 1
            depth -= 1
    return False


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
