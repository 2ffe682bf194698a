"""Limits on input for which the parser takes quadratic time: attributes of a tag, open formatting elements, depth."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ultracrawl.content.scanning import compile_for_bodies

_MAX_COPIES = 200_000
"""Maximum elements that the parser may add by reopening: half a second of work."""
_ALWAYS_ALLOWED = 16
"""Formatting elements that may be open at once, however many tags a page has."""

_NAMES = ("b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u")
"""`a` and `nobr` close an open element of the same name, so they do not accumulate."""
_FORMATTING_TAG = re.compile(rb"<(/?)(%b)(?=[\s/>])" % "|".join(_NAMES).encode(), re.IGNORECASE)


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
    # In the worst case half of the tags open elements, and the other half reopens them all.
    if tags * tags <= 4 * _MAX_COPIES:
        return body
    if _THREE_OPEN.search(body) is None:
        return body
    return _drop_excess(body, max(_ALWAYS_ALLOWED, _MAX_COPIES // tags))


def _drop_excess(body: bytes, most: int) -> bytes:
    opened: Counter[bytes] = Counter()
    depth = kept_from = 0
    pieces: list[bytes] = []
    for tag in _FORMATTING_TAG.finditer(body):
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


MAX_DEPTH = 2000
"""Maximum levels; deeper tags are dropped, their text stays."""

_HARMLESS_TAGS = 20_000
"""Pages with fewer tags are not checked: even if all are nested, they take less than half a second."""

_MIN_TAG_BYTES = 3
_ANY_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9-]*)")
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
    for tag in _ANY_TAG.finditer(body):
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
_WHOLE_TAG = re.compile(
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
        tag = _WHOLE_TAG.match(body, start.start())
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
