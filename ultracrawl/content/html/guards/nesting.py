"""A limit on the depth of elements: building the tree takes time quadratic in the depth."""

from __future__ import annotations

import re
from collections import Counter

MAX_DEPTH = 2000
"""Maximum levels; deeper tags are dropped, their text stays."""

_HARMLESS_TAGS = 20_000
"""Pages with fewer tags are not checked: even if all are nested, they take less than half a second."""

_MIN_TAG_BYTES = 3
_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9-]*)")
_find_tags = re.compile(rb"</?[a-zA-Z][a-zA-Z0-9-]*").findall
_COUNTED_TAGS = 500
"""Tags that are counted together; the depth between them is not known."""
_NEVER_DEEP = frozenset(
    b"a area base br col dd dt embed hr html head body img input li link meta option p param source tbody td"
    b" tfoot th thead title tr track wbr".split()
)


def limit_nesting(body: bytes) -> tuple[bytes, bool]:
    """Return `body` without the tags deeper than `MAX_DEPTH`, and whether there were any.

    An end tag only counts if an element of its name is open, so stray ones cannot hide the depth.
    """
    if len(body) < _MIN_TAG_BYTES * _HARMLESS_TAGS or body.count(b"<") < _HARMLESS_TAGS:
        return body, False
    if not _may_be_deep(body):
        return body, False
    opened: Counter[bytes] = Counter()
    depth = kept_from = 0
    pieces: list[bytes] = []
    for tag in _TAG.finditer(body):
        name = tag[2].lower()
        if name in _NEVER_DEEP or (tag[1] and not opened[name]):
            continue
        step = -1 if tag[1] else 1
        too_deep = max(depth, depth + step) > MAX_DEPTH
        opened[name] += step
        depth += step
        if too_deep and tag.start() >= kept_from:
            pieces.append(body[kept_from : tag.start()])
            kept_from = (body.find(b">", tag.end()) + 1) or len(body)
    return (b" ".join([*pieces, body[kept_from:]]), True) if pieces else (body, False)


def _may_be_deep(body: bytes) -> bool:
    """Whether tags may be deeper than `MAX_DEPTH`: an estimate by counting, which takes a third of the time.

    No depth is higher than if all end tags of a few hundred tags came before their start tags.
    """
    levels: dict[bytes, int] = {}
    tags = _find_tags(body)
    for at in range(0, len(tags), _COUNTED_TAGS):
        opened: Counter[bytes] = Counter()
        closed: Counter[bytes] = Counter()
        for tag, number in Counter(tags[at : at + _COUNTED_TAGS]).items():
            name = tag.lstrip(b"</").lower()
            if name not in _NEVER_DEEP:
                (closed if tag[1:2] == b"/" else opened)[name] += number
        if sum(levels.values()) + opened.total() > MAX_DEPTH:
            return True
        for name, number in closed.items():
            levels[name] = max(0, levels.get(name, 0) - number)
        for name, number in opened.items():
            levels[name] = levels.get(name, 0) + number
    return False
