"""Selects the main content of a page: without invisible elements, navigation, and headers and footers of the site."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from selectolax.lexbor import LexborNode

from ultracrawl.content.html import articles
from ultracrawl.content.html.collector import PageCollector, Region, Span, subtract
from ultracrawl.content.html.links import Reader
from ultracrawl.content.html.tags import tag_number
from ultracrawl.content.scanning import compile_for_bodies
from ultracrawl.dataclass import dataclass
from ultracrawl.model.page import PERMALINKS, SECTION_LEVELS

HINT = (
    r"display\s*:\s*none|opacity\s*:\s*[0.]|font-size\s*:\s*[0.]|visibility\s*:\s*[hc]"
    r"|(?:left|top|right|bottom|text-indent)\s*:\s*-\d{3}|clip(?:-path)?\s*:"
)
"""Expression that a page with such elements matches."""
SELECTOR = ",".join(
    f"[style*={name} i]"
    for name in ("display", "opacity", "font-size", "visibility", "position", "text-indent", "clip-path")
)
"""Selector of all elements that may be such; `is_invisible` decides."""

_END = r"\s*(?:!\s*important\s*)?(?:;|$)"
_HIDDEN = re.compile(
    rf"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse){_END}"
    r"|text-indent\s*:\s*-(?:999|\d{4,}|\d{3,}(?:\.\d+)?r?em)"
    r"|clip-path\s*:\s*(?:inset\(\s*(?:50|100)%|circle\(\s*0|polygon\(\s*0(?:px)?\s+0(?:px)?\s*\)))",
    re.IGNORECASE,
)
_NOT_DISPLAYED = re.compile(r"(?:^|;)\s*display\s*:\s*none", re.IGNORECASE)
_TRANSPARENT = re.compile(rf"(?:^|;)\s*opacity\s*:\s*(?:0+(?:\.0*)?|\.0+)%?{_END}", re.IGNORECASE)
_ANIMATED = re.compile(r"transform|transition|animation|will-change", re.IGNORECASE)
_TINY = re.compile(rf"(?:^|;)\s*font-size\s*:\s*(?:0+(?:\.0*)?|\.0+)(?:[a-z]+|%)?{_END}", re.IGNORECASE)
_TAKEN_OUT = re.compile(r"(?:^|;)\s*position\s*:\s*(?:absolute|fixed)", re.IGNORECASE)
_AWAY = re.compile(
    r"(?:^|;)\s*(?:(?:left|top|right|bottom)\s*:\s*-(?:999|\d{4,}|\d{3,}(?:\.\d+)?r?em)"
    r"|clip\s*:\s*rect\(\s*[01](?:px)?(?:\s*,?\s*[01](?:px)?){3}\s*\))",
    re.IGNORECASE,
)
_WHOLE = frozenset(map(tag_number, ("html", "body", "main")))
"""Elements with all the content, which scripts make visible after they have changed it."""
_MAX_STYLE = 2000
"""Characters of a style that are read."""


def is_invisible(node: LexborNode, style: str) -> bool:
    """Return whether an element with this `style` attribute, and all the text in it, cannot be seen."""
    style = style[:_MAX_STYLE]
    if node.tag_id in _WHOLE:
        return bool(_NOT_DISPLAYED.search(style))
    return bool(
        _HIDDEN.search(style)
        or (_TAKEN_OUT.search(style) and _AWAY.search(style))
        or (_TRANSPARENT.search(style) and not _is_faded_in(node, style))
        or (_TINY.search(style) and not _has_larger_text(node))
    )


def _is_faded_in(node: LexborNode, style: str) -> bool:
    """Whether a script makes a transparent element visible: it is moved as well, or has data for the script."""
    return bool(_ANIMATED.search(style)) or any(name.startswith("data-") for name in node.attributes)


def _has_larger_text(node: LexborNode) -> bool:
    """Whether a child sets its own size: without one, the size 0 only removes the gaps between the children."""
    child = node.first_child
    while child is not None:
        style = child.attributes.get("style") or "" if child.is_element_node else ""
        if "font-size" in style.lower() and not _TINY.search(style[:_MAX_STYLE]):
            return True
        child = child.next
    return False


@dataclass(frozen=True, slots=True)
class ContentRule:
    """A rule that selects the text of a page; CSS selectors, empty for none."""

    include: str = ""
    """The text is that of these elements, if a page has any."""
    exclude: str = ""
    """These elements are excluded from the text."""
    main: bool = True
    """Exclude what landmarks and well-known generators mark as no content; not with `include`."""
    applies: Callable[[str], bool] | None = None
    """Decides by the URL whether the rule applies to a page; None for all pages."""
    levels: tuple[str, ...] = ()
    """The elements that start sections, one selector per level from the highest; empty: headings and terms.

    A level without elements has an empty selector.
    """
    title_strips: tuple[str, ...] = (PERMALINKS,) * SECTION_LEVELS
    """Characters that are removed at both ends of titles, by their level."""
    text_strip: str = ""
    """Characters that are removed at both ends of other lines of text, if `levels` names some."""
    required: str = ""
    """A page without any of these elements is not indexed."""
    article: bool = False
    """Keep only what an extractor of articles takes for the article, where `main` applies."""


MAIN_CONTENT = ContentRule()
WHOLE_PAGE = ContentRule(main=False)


def rule_for(url: str, rules: Iterable[ContentRule]) -> ContentRule:
    """Return the first rule that applies to a page, else the default rule."""
    return next((rule for rule in rules if rule.applies is None or rule.applies(url)), MAIN_CONTENT)


_MARKED = compile_for_bodies(rf"""[\s"'/](?:role\s*=|hidden[\s=>/]|data-nosnippet)|{HINT}|nofollow""")
"""Quick check: a page without a match has no `_MARKED_ELEMENTS`."""
_MARKED_ELEMENTS = f"[hidden],[role],[data-nosnippet],[rel*=nofollow i],{SELECTOR}"
_HIDING = frozenset({"hidden", "data-nosnippet"})
_SITE_ROLES = frozenset({"banner", "complementary", "contentinfo"})

_GENERATED = (
    (b"oxygen", "#titlearea,#main-nav,.tabs,.tabs2,.tabs3,#nav-path,.navpath,.header>.summary,.footer"),
    (b"navheader", ".navheader,.navfooter"),  # DocBook
    (b"topNav", ".topNav,.subNav,.bottomNav,.legalCopy"),  # Javadoc before 11
    (b"/wp-includes/", "#respond"),  # WordPress
)
"""Marks of generators, and selectors of the unmarked elements that they add around the content."""
_GENERATOR_BYTES = 4096
"""Bytes of a page searched for marks of generators."""

_ARTICLE_META = frozenset(
    {"article:published_time", "article:modified_time", "article:author", "article:section"}
)
_ARTICLE_KINDS = ("article", "blog", "news")
"""What `og:type` begins with."""
_SCHEMA = b"schema.org"
_ARTICLE_TYPES = (b'NewsArticle"', b'BlogPosting"', b"NewsArticle'", b"BlogPosting'")
"""Types of schema.org in JSON-LD and microdata. `Article` says little: encyclopedias and manuals have it."""
_BLOG_POST = b"single-post"
"""Class of the body of posts of WordPress."""

_ARTICLES = frozenset(map(tag_number, ("article", "main", "section")))
_MAX_ANCESTORS = 50
"""Ancestors checked; elements nested deeper belong to the text."""
_MIN_KEPT_SHARE = 0.05


def find_regions(collector: PageCollector, root: LexborNode, body: bytes, rule: ContentRule) -> bool:
    """Find the included, excluded and hidden elements; return whether landmarks decide what is content.

    `body` is the page. If no included element is collector, the rest of the rule applies.
    """
    _add_regions(collector, root, rule.include, Region.INSIDE)
    main = rule.main and not collector.regions
    _add_regions(collector, root, rule.exclude, Region.OUTSIDE)
    if _MARKED.search(body):
        for node in root.css(_MARKED_ELEMENTS):
            _read_attributes(collector, node, main=main)
    head = body[:_GENERATOR_BYTES] if main else b""
    for mark, selector in _GENERATED:
        if mark in head:
            _add_regions(collector, root, selector, Region.OUTSIDE)
    return main


def find_regions_of_article(collector: PageCollector, root: LexborNode, body: bytes) -> None:
    """Find what stands in and beside the article, if a page declares to be one of a newspaper or a blog."""
    if _declares_article(collector.meta, body):
        articles.find_article(collector, root)


def _declares_article(meta: Mapping[str, Sequence[str]], body: bytes) -> bool:
    if not _ARTICLE_META.isdisjoint(meta):
        return True
    if any(kind.lower().startswith(_ARTICLE_KINDS) for kind in meta.get("og:type", ())):
        return True
    if _SCHEMA in body and any(kind in body for kind in _ARTICLE_TYPES):
        return True
    generators = meta.get("generator", ())
    return any(generator.startswith("WordPress") for generator in generators) and _BLOG_POST in body


def _add_regions(collector: PageCollector, root: LexborNode, selector: str, region: Region) -> None:
    if selector:
        collector.regions += [(node, region) for node in root.css(selector)]


def _read_attributes(collector: PageCollector, node: LexborNode, *, main: bool) -> None:
    attributes = node.attributes
    role = (attributes.get("role") or "").lower()
    style = attributes.get("style")
    if role == "navigation" or attributes.keys() & _HIDING or (style and is_invisible(node, style)):
        collector.hidden.append(node)
    elif main and role == "main":
        collector.regions.append((node, Region.INSIDE))
    elif main and (role == "search" or (role in _SITE_ROLES and _belongs_to_site(node))):
        collector.regions.append((node, Region.OUTSIDE))
    collector.watch_nofollow = collector.watch_nofollow or "nofollow" in (attributes.get("rel") or "").lower()


def _belongs_to_site(node: LexborNode | None) -> bool:
    """Return whether a header, footer or aside belongs to the site, and not to an article or a section."""
    for _ in range(_MAX_ANCESTORS):
        node = node.parent if node is not None else None
        if node is None:
            return True
        if node.tag_id in _ARTICLES:
            return False
    return False


def _read_main(collector: PageCollector, node: LexborNode) -> None:
    collector.regions.append((node, Region.INSIDE))


def _read_site_landmark(collector: PageCollector, node: LexborNode) -> None:
    if _belongs_to_site(node):
        collector.regions.append((node, Region.OUTSIDE))


LANDMARK_READERS: dict[int, Reader] = {
    tag_number("main"): _read_main,
    **dict.fromkeys(map(tag_number, ("aside", "footer", "header")), _read_site_landmark),
}
"""Readers of elements that are landmarks by their names."""


def keep_main_content(collector: PageCollector, rule: ContentRule) -> None:
    """Remove the texts and sections that are not content.

    If landmarks would leave nearly nothing, they are used for something else: then more is kept, up to the whole page.
    """
    whole = [Span(0, len(collector.parts))]
    inside, outside = collector.spans[Region.INSIDE], collector.spans[Region.OUTSIDE]
    choices = [(inside or whole, outside), (whole, outside), (whole, [])]
    spans: Sequence[Span] = whole
    for kept, excluded in choices if rule.main else choices[:1]:
        spans = subtract(kept, excluded, len(collector.parts))
        if _is_enough(collector.parts, spans):
            break
    if collector.is_article:
        spans = articles.keep_article(collector, spans)
    collector.keep_spans(spans, _outer_ends(inside) if rule.levels else ())


def _outer_ends(spans: Iterable[Span]) -> list[int]:
    """Return the ends of the spans that are within no other one, in their order; one that never ends has none."""
    ends = [-1]
    for span in sorted(spans, key=lambda span: (span.begin, span.end is not None, -(span.end or 0))):
        if span.end is None:
            break
        if span.end > ends[-1]:
            ends.append(span.end)
    return ends[1:]


def _is_enough(parts: list[str], spans: Sequence[Span]) -> bool:
    kept = [part for span in spans for part in parts[span.begin : span.end]]
    characters = sum(map(len, parts))
    if 2 * sum(map(len, kept)) >= characters:
        return True
    words = len("".join(kept).split())
    max_words = characters / 2 + 1  # an upper bound for the whole page, since counting takes time
    return words >= _MIN_KEPT_SHARE * max_words or words >= _MIN_KEPT_SHARE * len("".join(parts).split())
