"""From the bytes of an HTML page to a `Page`, with one walk over one tree."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from ultracrawl.content.charset.decoding import decode_as, find_charset, is_utf8
from ultracrawl.content.directives import parse_directives
from ultracrawl.content.followed import DEFAULT_KINDS
from ultracrawl.content.html.guards.attribute_limit import MOST, limit_attributes
from ultracrawl.content.html.guards.formatting import limit_formatting
from ultracrawl.content.html.guards.nesting import MAX_DEPTH, limit_nesting
from ultracrawl.content.html.harvest import Harvest
from ultracrawl.content.html.links import plain_urls
from ultracrawl.content.html.main_content import WHOLE_PAGE, ContentRule, keep_content, set_apart
from ultracrawl.content.html.marks import read_text, with_edges
from ultracrawl.content.html.sections import text_and_sections
from ultracrawl.content.html.selection import PagePicks
from ultracrawl.content.html.walk import walk
from ultracrawl.content.limits import (
    DEFAULTS,
    LINKS,
    NODES,
    TEXT,
    PageLimits,
    limit_nodes,
    limit_text,
    reasons,
)
from ultracrawl.model.page import LinkKind, Page, Section

_EMPTY = re.compile(rb"<([a-zA-Z][\w:.-]*)((?:\s[^<>]*)?)/>")
_AS_WRITTEN = LexborDocumentOptions.WO_EVENTS.value
"""Nothing is copied within the tree: the text of a chosen option stands in it once (`<selectedcontent>`)."""
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
    limits: PageLimits = DEFAULTS,
) -> Page:
    """Read a page; broken HTML gives what a browser would make of it and never raises.

    `url` is the page's own, absolute. `content_type` and `x_robots_tag` are header values as received.
    `link_kinds` says where links are looked for. `default_charset` is the source's guess for pages that do
    not declare one. `picks` are looked for in a tree of their own. `content` says what the text is. `xml` says
    that the page is XHTML.
    What `limits` leaves out is named in `Page.truncated`.
    """
    body, charset = _utf8(body, content_type, default_charset)
    body, cut = _limited(body, limits, xml=xml)
    found = Harvest(url, robots_name.lower(), link_kinds, limits, 2 * len(body))
    root = LexborHTMLParser(with_edges(body), options=_AS_WRITTEN).root
    if root is not None:
        walk(root, found, landmarks=set_apart(found, root, body, content))
        read_text(found, root)
    text, sections, wordy = _text(found, link_kinds, content, limits.text)
    return Page(
        title=limit_text(" ".join((found.title or "").split()), limits.text)[0],
        text=text,
        language=found.language or _language_pragma(found),
        charset=charset,
        base=found.base,
        canonical=found.canonical,
        refresh=found.refresh,
        meta=found.meta,
        robots=parse_directives(found.robots, x_robots_tag, name=robots_name),
        links=tuple(found.links),
        picked=picks.values(url, body) if picks is not None else {},
        sections=sections,
        truncated=reasons(
            *cut,
            (LINKS, limits.links, found.too_many_links),
            (TEXT, limits.text, wordy or found.meta_budget < 0),
        ),
    )


def _text(
    found: Harvest, kinds: frozenset[LinkKind], content: ContentRule, most: int
) -> tuple[str, tuple[Section, ...], bool]:
    """Return the text, its parts and whether it was cut; URLs in all that can be seen become links, if wanted."""
    if LinkKind.TEXT in kinds:
        for plain in plain_urls(limit_text(" ".join("".join(found.parts).split()), most)[0]):
            found.add(plain, LinkKind.TEXT)
    if found.inside or found.outside:
        keep_content(found, content)
    return text_and_sections(found, most)


def _limited(
    body: bytes, limits: PageLimits, *, xml: bool
) -> tuple[bytes, tuple[tuple[str, int, bool], ...]]:
    """Return a body that the parser can be given, and what of it had to be left out."""
    body, long = limit_nodes(body, limits.nodes)
    body, crowded = limit_attributes(body)
    body, deep = limit_nesting(limit_formatting(body))
    if xml:
        body = _with_end_tags(body)
    return body, (
        (NODES, limits.nodes, long),
        ("elements nest deeper than {} levels", MAX_DEPTH, deep),
        ("a tag has more than {} attributes", MOST, crowded),
    )


def _with_end_tags(body: bytes) -> bytes:
    """Return a page with `<title/>` written as `<title></title>`; elements that are always empty stay as they are.

    Otherwise everything behind a `<title/>`, `<script/>` or `<iframe/>` would be inside it.
    """
    return _EMPTY.sub(_open_and_end, body) if b"/>" in body else body


def _open_and_end(found: re.Match[bytes]) -> bytes:
    name, attributes = found[1], found[2]
    return found[0] if name.lower() in _VOID else b"<%b%b></%b>" % (name, attributes, name)


def _utf8(body: bytes, content_type: str, default_charset: str) -> tuple[bytes, str]:
    """Return a body in UTF-8, and the charset that it came in."""
    charset = find_charset(body, content_type, default_charset)
    if charset != "utf-8" or not is_utf8(body):
        decoded, charset = decode_as(charset, body, default_charset)
        body = decoded.encode("utf-8", "replace")
    return body.removeprefix(codecs.BOM_UTF8), charset


def _language_pragma(found: Harvest) -> str:
    return next(iter(found.meta.get("content-language", ())), "").partition(",")[0].strip()
