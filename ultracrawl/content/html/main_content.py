"""Which parts of a page are its text: not what is out of sight, nor navigation, headers and footers of the site."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from ultracrawl.content.html.harvest import Harvest, Span
from ultracrawl.content.html.links import Reader
from ultracrawl.content.html.tags import following, tag_number


@dataclass(frozen=True, slots=True)
class ContentRule:
    """What counts as the text of a page; CSS selectors, empty for none."""

    include: str = ""
    """The text is that of these elements, as far as a page has any."""
    exclude: str = ""
    """These elements are no part of the text."""
    main: bool = True
    """Leave out what landmarks and well-known generators tell to be no content; not with `include`."""
    applies: Callable[[str], bool] | None = None
    """Tells by the URL whether the rule is for a page; None: for every page."""


MAIN_CONTENT = ContentRule()
WHOLE_PAGE = ContentRule(main=False)


class SetApart(NamedTuple):
    """Elements of a page that are out of sight, or its text, or no part of it."""

    elements: dict[int, int]
    """By their addresses, what they are."""
    readers: dict[int, Reader]
    """Readers of those whose names say it."""


def rule_for(url: str, rules: Iterable[ContentRule]) -> ContentRule:
    """Return the first rule that is for a page, else that without options."""
    return next((one for one in rules if one.applies is None or one.applies(url)), MAIN_CONTENT)


HIDDEN, OUTSIDE, INSIDE = 1, 2, 4
"""What an element is: out of sight, no part of the text, the text."""

_MARKED = "[hidden],[role],[data-nosnippet],[style*=display i]"
_NOT_DISPLAYED = re.compile(r"(?:^|;)\s*display\s*:\s*none", re.IGNORECASE)
_OF_A_SITE = frozenset({"banner", "complementary", "contentinfo"})

_GENERATED = (
    (b"oxygen", "#titlearea,#main-nav,.tabs,.tabs2,.tabs3,#nav-path,.navpath,.header>.summary,.footer"),
    (b"navheader", ".navheader,.navfooter"),  # DocBook
    (b"topNav", ".topNav,.subNav,.bottomNav,.legalCopy"),  # Javadoc before 11
    (b"/wp-includes/", "#respond"),  # WordPress
)
"""What generators write around the text without saying so, and by what these are known."""
_BEGINNING = 4096
"""Bytes of a page in which its generator shows."""

_ARTICLES = frozenset(map(tag_number, ("article", "main", "section")))
_HIGHEST = 50
"""Levels of elements; what stands deeper belongs to the text."""
_LEAST_KEPT = 0.05


def set_apart(root: LexborNode, body: bytes, rule: ContentRule) -> SetApart:
    """Return what is treated in another way than its neighbours.

    `body` is the page. Where nothing of what is to be included is found, the rest of the rule counts.
    """
    found: dict[int, int] = {}
    _add(found, root, rule.include, INSIDE)
    main = rule.main and not found
    _add(found, root, rule.exclude, OUTSIDE)
    for node in root.css(_MARKED):
        if kind := _kind(node, main):
            found[node.mem_id] = found.get(node.mem_id, 0) | kind
    if not main:
        return SetApart(found, {})
    beginning = body[:_BEGINNING]
    for mark, selector in _GENERATED:
        if mark in beginning:
            _add(found, root, selector, OUTSIDE)
    return SetApart(found, LANDMARK_READERS)


def _add(found: dict[int, int], root: LexborNode, selector: str, kind: int) -> None:
    for node in root.css(selector) if selector else ():
        found[node.mem_id] = found.get(node.mem_id, 0) | kind


def _kind(node: LexborNode, main: bool) -> int:
    attributes = node.attributes
    if attributes.keys() & {"hidden", "data-nosnippet"}:
        return HIDDEN
    role = (attributes.get("role") or "").lower()
    if role == "navigation" or _NOT_DISPLAYED.search(attributes.get("style") or ""):
        return HIDDEN
    if main and role == "main":
        return INSIDE
    return OUTSIDE if main and (role == "search" or (role in _OF_A_SITE and _is_of_the_site(node))) else 0


def _is_of_the_site(node: LexborNode | None) -> bool:
    """Tell whether a header, footer or aside is that of the site, and not of an article or a section."""
    for _ in range(_HIGHEST):
        node = node.parent if node is not None else None
        if node is None:
            return True
        if node.tag_id in _ARTICLES:
            return False
    return False


def begin_region(found: Harvest, spans: list[Span], node: LexborNode) -> None:
    """Let a region begin with an element; one that lies within another of its kind adds nothing to it."""
    if not spans or spans[-1].end is not None:
        spans.append(found.begin_span(following(node)))


def _read_main(found: Harvest, node: LexborNode) -> None:
    begin_region(found, found.inside, node)


def _read_of_the_site(found: Harvest, node: LexborNode) -> None:
    if _is_of_the_site(node):
        begin_region(found, found.outside, node)


LANDMARK_READERS: dict[int, Reader] = {
    tag_number("main"): _read_main,
    **dict.fromkeys(map(tag_number, ("aside", "footer", "header")), _read_of_the_site),
}
"""Readers of the elements that tell by their names what they are."""


def keep_content(found: Harvest, rule: ContentRule) -> None:
    """Take out of what was found the texts and parts that are no content.

    Where landmarks would leave nearly nothing, they say something else: then more is kept, up to the whole page.
    """
    whole = [Span(0, len(found.parts))]
    choices = [(found.inside or whole, found.outside), (whole, found.outside), (whole, [])]
    for kept, left_out in choices if rule.main else choices[:1]:
        spans = _without(kept, left_out, len(found.parts))
        if _is_enough(found.parts, spans):
            break
    found.keep_spans(spans)


def _is_enough(parts: list[str], spans: list[Span]) -> bool:
    kept, whole = "".join("".join(parts[one.begin : one.end]) for one in spans), "".join(parts)
    return 2 * len(kept) >= len(whole) or len(kept.split()) >= _LEAST_KEPT * len(whole.split())


def _without(kept: list[Span], left_out: list[Span], end: int) -> list[Span]:
    """Return the spans of what is kept and not left out, in their order; each place at most once."""
    edges = [(0, 0, 0), (end, 0, 0)]
    for spans, which in ((kept, 1), (left_out, 2)):
        for one in spans:
            last = end if one.end is None else one.end
            edges += [(one.begin, which, 1), (last, which, -1)]
    edges.sort()
    depth = [0, 0, 0]
    found: list[Span] = []
    for (at, which, step), (until, _, _) in pairwise(edges):
        depth[which] += step
        if depth[1] and not depth[2] and until > at:
            found.append(Span(at, until))
    return found
