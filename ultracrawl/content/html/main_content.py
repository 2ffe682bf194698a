"""Which parts of a page are its text: not what is out of sight, nor navigation, headers and footers of the site."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

from selectolax.lexbor import LexborNode

from ultracrawl.content.html.harvest import Harvest, Span
from ultracrawl.content.html.links import Reader
from ultracrawl.content.html.tags import tag_number
from ultracrawl.content.scanning import one_pass


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


def rule_for(url: str, rules: Iterable[ContentRule]) -> ContentRule:
    """Return the first rule that is for a page, else that without options."""
    return next((one for one in rules if one.applies is None or one.applies(url)), MAIN_CONTENT)


_MARKED = one_pass(r"""[\s"'/](?:role\s*=|hidden[\s=>/]|data-nosnippet)|display\s*:\s*none|nofollow""")
"""A page without it has no elements whose attributes say what to make of them."""
_MARKED_ELEMENTS = "[hidden],[role],[data-nosnippet],[style*=display i],[rel*=nofollow i]"
_HIDING = frozenset({"hidden", "data-nosnippet"})
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


def set_apart(found: Harvest, root: LexborNode, body: bytes, rule: ContentRule) -> bool:
    """Find what is treated in another way than its neighbours; return whether landmarks tell what is content.

    `body` is the page. Where nothing of what is to be included is found, the rest of the rule counts.
    """
    _add(found, root, rule.include, inside=True)
    main = rule.main and not found.regions
    _add(found, root, rule.exclude, inside=False)
    if _MARKED.search(body):
        for node in root.css(_MARKED_ELEMENTS):
            _read_attributes(found, node, main=main)
    beginning = body[:_BEGINNING] if main else b""
    for mark, selector in _GENERATED:
        if mark in beginning:
            _add(found, root, selector, inside=False)
    return main


def _add(found: Harvest, root: LexborNode, selector: str, *, inside: bool) -> None:
    if selector:
        found.regions += [(node, inside) for node in root.css(selector)]


def _read_attributes(found: Harvest, node: LexborNode, *, main: bool) -> None:
    attributes = node.attributes
    role = (attributes.get("role") or "").lower()
    if (
        role == "navigation"
        or attributes.keys() & _HIDING
        or _NOT_DISPLAYED.search(attributes.get("style") or "")
    ):
        found.hidden.append(node)
    elif main and role == "main":
        found.regions.append((node, True))
    elif main and (role == "search" or (role in _OF_A_SITE and _is_of_the_site(node))):
        found.regions.append((node, False))
    found.watch_nofollow = found.watch_nofollow or "nofollow" in (attributes.get("rel") or "").lower()


def _is_of_the_site(node: LexborNode | None) -> bool:
    """Tell whether a header, footer or aside is that of the site, and not of an article or a section."""
    for _ in range(_HIGHEST):
        node = node.parent if node is not None else None
        if node is None:
            return True
        if node.tag_id in _ARTICLES:
            return False
    return False


def _read_main(found: Harvest, node: LexborNode) -> None:
    found.regions.append((node, True))


def _read_of_the_site(found: Harvest, node: LexborNode) -> None:
    if _is_of_the_site(node):
        found.regions.append((node, False))


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
    kept = [part for one in spans for part in parts[one.begin : one.end]]
    characters = sum(map(len, parts))
    if 2 * sum(map(len, kept)) >= characters:
        return True
    words = len("".join(kept).split())
    most = characters / 2 + 1  # that many words the whole has at most; counting them takes time
    return words >= _LEAST_KEPT * most or words >= _LEAST_KEPT * len("".join(parts).split())


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
