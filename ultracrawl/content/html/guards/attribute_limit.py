"""A limit on the attributes of one tag: the parser compares each of them with all before it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ultracrawl.content.scanning import one_pass

MOST = 1000
"""Attributes of a tag; one with more is dropped, what stands behind it stays."""
MOST_ROOTS = 50
"""Tags of `html` and `body`, whose attributes all end up in one element; further ones are dropped."""

_HARMLESS = 65_536
"""Bytes; shorter pages are not looked at: whatever stands in them takes no second."""
_WORK = 8
"""How many times over a page may be looked at, before the rest of it is left out."""

_SPACE = rb"[\t\n\f\r ]"
_ODD = one_pass(
    r"""<[/a-z][^<>]*<|<[/a-z][^<>]{999}|=[\t\n\f\r ]*(?:"[^"<>]*>|'[^'<>]*>)""",
)
"""What a page has one of if a tag has too many attributes.

Without the first and the last of them every tag ends with the next `>`, without the second it is too short for so many.
"""
_ATTRIBUTE = (
    rb"""(?>[\t\n\f\r /]*+[^\t\n\f\r />][^\t\n\f\r />=]*+"""
    rb"""(?:%s*+=%s*+(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r >"'][^\t\n\f\r >]*+)?+)?+)"""
) % (_SPACE, _SPACE)
_TAG = re.compile(rb"</?[a-zA-Z][^\t\n\f\r />]*+%s{0,%d}+(%s)?+" % (_ATTRIBUTE, MOST - 1, _ATTRIBUTE))
"""As HTML reads a tag, up to that many attributes; the group takes part if there are so many."""
_START = re.compile(rb"</?[a-zA-Z]")
_ROOT = re.compile(rb"<(?=(?:html|body)[\t\n\f\r /])", re.IGNORECASE)


def limit_attributes(body: bytes) -> tuple[bytes, bool]:
    """Return `body` without the tags that have too many attributes, and whether there were any.

    Every place where a tag may begin is looked at, also in comments, scripts and values: so nothing in front of a tag
    hides it. A tag is dropped by making it a comment.
    """
    if len(body) < _HARMLESS:
        return body, False
    body, cut = _limit_roots(body)
    if _ODD.search(body) is None:
        return body, cut
    pieces: list[bytes] = []
    kept_from = 0
    for start, end in _crowded(body):
        pieces += (body[kept_from:start], b"<!")
        kept_from, body = start + 1, body[:end]
    return b"".join([*pieces, body[kept_from:]]), cut or bool(pieces)


def _crowded(body: bytes) -> Iterator[tuple[int, int]]:
    """Yield where tags with too many attributes begin, and how much of the page is kept."""
    work = _WORK * len(body)
    for start in _START.finditer(body):
        tag = _TAG.match(body, start.start())
        assert tag is not None, "it begins like one"
        work -= tag.end() - tag.start()
        if work < 0:
            yield start.start(), start.start() + 1
            return
        if tag[1] is not None:
            yield start.start(), len(body)


def _limit_roots(body: bytes) -> tuple[bytes, bool]:
    roots = _ROOT.finditer(body)
    last = next((found.end() for number, found in enumerate(roots, 1) if number == MOST_ROOTS), 0)
    if not last:
        return body, False
    rest, number = _ROOT.subn(b"<!", body[last:])
    return body[:last] + rest, number > 0
