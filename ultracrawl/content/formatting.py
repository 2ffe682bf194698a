"""A limit on open formatting elements: the parser opens all of them again in every paragraph that follows."""

from __future__ import annotations

import re
from collections import Counter

_HARMLESS = 8_192
"""Bytes; whatever stands in shorter pages takes no tenth of a second."""
_COPIES = 100_000
"""Elements that a page may be made to hold besides its own."""
_LEAST_OPEN = 16

# `a` and `nobr` end an open one of their kind, so they do not gather.
_TAG = re.compile(rb"<(/?)(b|big|code|em|font|i|s|small|strike|strong|tt|u)(?=[\s/>])", re.IGNORECASE)


def limit_formatting(body: bytes) -> bytes:
    """Return `body` without the start tags of formatting elements that open too many at once.

    A start tag that is dropped becomes a comment: text and links stay as they are.
    """
    if len(body) < _HARMLESS or b"<" not in body:
        return body
    tags = body.count(b"<")
    most = max(_LEAST_OPEN, _COPIES // max(tags, 1))
    if tags <= most:
        return body
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
