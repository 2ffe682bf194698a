"""Parses the bytes of an HTML page into a `Page`."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from ultracrawl.content.charset.decoding import decode_as, find_charset, is_utf8
from ultracrawl.content.charset.urls import in_charset_of_page
from ultracrawl.content.directives import parse_directives
from ultracrawl.content.followed import DEFAULT_KINDS
from ultracrawl.content.html import articles
from ultracrawl.content.html.collector import PageCollector
from ultracrawl.content.html.guards import (
    MAX_ATTRIBUTES,
    MAX_DEPTH,
    limit_attributes,
    limit_formatting,
    limit_nesting,
)
from ultracrawl.content.html.links import plain_urls
from ultracrawl.content.html.main_content import (
    WHOLE_PAGE,
    ContentRule,
    find_regions,
    find_regions_of_article,
    keep_main_content,
)
from ultracrawl.content.html.marks import mark_block_edges, read_text
from ultracrawl.content.html.rewritten_tags import set_noscript_apart, show_shadow_roots
from ultracrawl.content.html.sections import find_anchors, read_levels, text_and_sections
from ultracrawl.content.html.selection import PagePicks
from ultracrawl.content.html.walk import walk
from ultracrawl.content.languages import language_tag
from ultracrawl.content.limits import (
    DEFAULT_LIMITS,
    LINKS_CUT,
    NODES_CUT,
    TEXT_CUT,
    PageLimits,
    join_reasons,
    limit_nodes,
    limit_text,
)
from ultracrawl.model.page import LinkKind, Page, Section

_EMPTY = re.compile(rb"<([a-zA-Z][\w:.-]*)((?:\s[^<>]*)?)/>")
_AS_WRITTEN = LexborDocumentOptions.WO_EVENTS.value
"""Prevents copies within the tree: the text of a selected option is in it once (`<selectedcontent>`)."""
_VOID = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())


def parse_html(
    body: bytes,
    *,
    url: str,
    content_type: str = "",
    link_kinds: frozenset[LinkKind] = DEFAULT_KINDS,
    x_robots_tag: Sequence[str] = (),
    robots_name: str = "ultracrawl",
    default_charset: str = "",
    picks: PagePicks | None = None,
    content: ContentRule = WHOLE_PAGE,
    xml: bool = False,
    limits: PageLimits = DEFAULT_LIMITS,
) -> Page:
    """Parse a page; never raises: broken HTML is parsed as in a browser.

    `url` is the page's own, absolute. `content_type` and `x_robots_tag` are header values as received. `link_kinds`
    selects the links collected. `default_charset` is for pages without a declaration. `picks` are evaluated on a
    separate tree. `content` selects the text. `xml`: the page is XHTML. `Page.truncated` names exceeded limits.
    """
    body, charset = _to_utf8(body, content_type, default_charset)
    body, cut = _apply_limits(body, limits, xml=xml)
    collector = PageCollector(url, robots_name.lower(), link_kinds, limits, 2 * len(body), charset)
    collector.may_have_tooltips = b"tooltip" in body
    root = LexborHTMLParser(mark_block_edges(body), options=_AS_WRITTEN).root
    has_content, landmarks = True, False
    if root is not None:
        has_content = not content.required or root.css_first(content.required) is not None
        landmarks = find_regions(collector, root, body, content)
        walk(root, collector, landmarks=landmarks, headings=not content.levels)
        if landmarks:
            find_regions_of_article(collector, root, body)
        if content.levels:
            read_levels(collector, root, content.levels)
        find_anchors(collector, root, by_rule=bool(content.levels))
        read_text(collector, root)
    article = ""
    if content.article and landmarks:
        article = articles.article_of(body.decode("utf-8", "replace"))
    text, sections, is_cut = _text(collector, link_kinds, content, limits.text, article)
    page = Page(
        title=limit_text(" ".join((collector.title or "").split()), limits.text)[0],
        text=text,
        language=language_tag(collector.language) or _language_pragma(collector),
        charset=charset,
        base=collector.base,
        canonical=collector.canonical,
        refresh=collector.refresh,
        meta=collector.meta,
        robots=parse_directives(collector.robots, x_robots_tag, name=robots_name),
        links=tuple(collector.links),
        picked=picks.values(url, body) if picks is not None else {},
        sections=sections,
        has_content=has_content,
        truncated=join_reasons(
            *cut,
            (LINKS_CUT, limits.links, collector.too_many_links),
            (TEXT_CUT, limits.text, is_cut or collector.meta_budget < 0),
        ),
    )
    return in_charset_of_page(page, charset)


def _text(
    collector: PageCollector, kinds: frozenset[LinkKind], content: ContentRule, limit: int, article: str
) -> tuple[str, tuple[Section, ...], bool]:
    """Return the text, its sections and whether it was cut; collects URLs in the whole visible text, if requested.

    `article` is what an extractor takes for the text; empty for none.
    """
    if LinkKind.TEXT in kinds:
        for url in plain_urls(limit_text(" ".join("".join(collector.parts).split()), limit)[0]):
            collector.add(url, LinkKind.TEXT)
    if any(collector.spans.values()):
        keep_main_content(collector, content)
    if article:
        articles.keep_words_of(collector, article)
    return text_and_sections(collector, limit, content)


def _apply_limits(
    body: bytes, limits: PageLimits, *, xml: bool
) -> tuple[bytes, tuple[tuple[str, int, bool], ...]]:
    """Return a body that is safe to parse, and the limits with whether each was exceeded."""
    body, has_too_many_nodes = limit_nodes(set_noscript_apart(show_shadow_roots(body)), limits.nodes)
    body, has_too_many_attributes = limit_attributes(body)
    body, is_too_deep = limit_nesting(limit_formatting(body))
    if xml:
        body = _expand_empty_tags(body)
    return body, (
        (NODES_CUT, limits.nodes, has_too_many_nodes),
        ("elements nest deeper than {} levels", MAX_DEPTH, is_too_deep),
        ("a tag has more than {} attributes", MAX_ATTRIBUTES, has_too_many_attributes),
    )


def _expand_empty_tags(body: bytes) -> bytes:
    """Rewrite `<title/>` to `<title></title>`; void elements are left unchanged.

    Otherwise everything after a `<title/>`, `<script/>` or `<iframe/>` would be inside it.
    """
    return _EMPTY.sub(_open_and_end, body) if b"/>" in body else body


def _open_and_end(tag: re.Match[bytes]) -> bytes:
    name, attributes = tag[1], tag[2]
    return tag[0] if name.lower() in _VOID else b"<%b%b></%b>" % (name, attributes, name)


def _to_utf8(body: bytes, content_type: str, default_charset: str) -> tuple[bytes, str]:
    """Return the body in UTF-8, and its original charset."""
    charset = find_charset(body, content_type, default_charset)
    if charset != "utf-8" or not is_utf8(body):
        decoded, charset = decode_as(charset, body, default_charset)
        body = decoded.encode("utf-8", "replace")
    return body.removeprefix(codecs.BOM_UTF8), charset


def _language_pragma(collector: PageCollector) -> str:
    return language_tag(next(iter(collector.meta.get("content-language", ())), ""))
