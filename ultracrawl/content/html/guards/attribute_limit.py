"""A limit on the attributes of one tag: the parser compares each attribute with all those before it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ultracrawl.content.scanning import compile_for_bodies

MAX_ATTRIBUTES = 1000
"""Maximum attributes of a tag; a tag with more is dropped, its content stays."""
MAX_ROOT_TAGS = 50
"""Maximum `html` and `body` tags, whose attributes are merged into one element; further ones are dropped."""

_HARMLESS_BYTES = 65_536
"""Shorter pages are not checked: parsing them always takes less than a second."""
_MAX_SCANS = 8
"""How often the bytes of a page may be scanned before the rest of it is cut off."""

_SPACE = rb"[\t\n\f\r ]"
_SUSPICIOUS = compile_for_bodies(
    r"""<[/a-z][^<>]*<|<[/a-z][^<>]{999}|=[\t\n\f\r ]*(?:"[^"<>]*>|'[^'<>]*>)""",
)
"""A page with too many attributes in a tag matches: without the first and last alternative every tag ends with the next
`>`, without the second it is too short.
"""
_ATTRIBUTE = (
    rb"""(?>[\t\n\f\r /]*+[^\t\n\f\r />][^\t\n\f\r />=]*+"""
    rb"""(?:%s*+=%s*+(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r >"'][^\t\n\f\r >]*+)?+)?+)"""
) % (_SPACE, _SPACE)
_TAG = re.compile(
    rb"</?[a-zA-Z][^\t\n\f\r />]*+%s{0,%d}+(%s)?+" % (_ATTRIBUTE, MAX_ATTRIBUTES - 1, _ATTRIBUTE)
)
"""A tag as HTML parses it, up to `MAX_ATTRIBUTES` attributes; the group matches if it has as many."""
_START = re.compile(rb"</?[a-zA-Z]")
_ROOT = re.compile(rb"<(?=(?:html|body)[\t\n\f\r /])", re.IGNORECASE)


def limit_attributes(body: bytes) -> tuple[bytes, bool]:
    """Return `body` without tags that have too many attributes, and whether there were any.

    Every possible start of a tag is checked, also in comments, scripts and attribute values, so that nothing can hide a
    tag. A tag is dropped by turning it into a comment.
    """
    if len(body) < _HARMLESS_BYTES:
        return body, False
    body, cut = _limit_roots(body)
    if _SUSPICIOUS.search(body) is None:
        return body, cut
    pieces: list[bytes] = []
    kept_from = 0
    for start, end in _oversized_tags(body):
        pieces += (body[kept_from:start], b"<!")
        kept_from, body = start + 1, body[:end]
    return b"".join([*pieces, body[kept_from:]]), cut or bool(pieces)


def _oversized_tags(body: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start of each tag with too many attributes, and the length of the page that is kept."""
    work = _MAX_SCANS * len(body)
    for start in _START.finditer(body):
        tag = _TAG.match(body, start.start())
        assert tag is not None, "its start matched"
        work -= tag.end() - tag.start()
        if work < 0:
            yield start.start(), start.start() + 1
            return
        if tag[1] is not None:
            yield start.start(), len(body)


def _limit_roots(body: bytes) -> tuple[bytes, bool]:
    roots = _ROOT.finditer(body)
    last = next((root.end() for number, root in enumerate(roots, 1) if number == MAX_ROOT_TAGS), 0)
    if not last:
        return body, False
    rest, number = _ROOT.subn(b"<!", body[last:])
    return body[:last] + rest, number > 0
