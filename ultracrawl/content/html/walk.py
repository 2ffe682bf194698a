"""The walk over the elements of a parsed page, in document order, and the readers for its head."""

from __future__ import annotations

import re
from functools import lru_cache

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ultracrawl.content.html.collector import PageCollector
from ultracrawl.content.html.guards import limit_attributes, limit_formatting, limit_nesting
from ultracrawl.content.html.links import (
    Reader,
    both,
    kind_of_rel,
    link_tags,
    plain_urls,
    plan_for,
    wholly_absolute,
)
from ultracrawl.content.html.main_content import LANDMARK_READERS
from ultracrawl.content.html.marks import mark_block_edges
from ultracrawl.content.html.refresh import parse_refresh
from ultracrawl.content.html.rewritten_tags import NOSCRIPT, SHADOW_ROOT
from ultracrawl.content.html.sections import SECTION_READERS
from ultracrawl.content.html.tags import COMMENT, EDGE, UNSEEN, tag_number
from ultracrawl.content.limits import limit_nodes
from ultracrawl.model.page import LinkKind

_SWITCH = re.compile(
    r"(?:google(off|on):\s*(?:index|all)|(stop)index|startindex|(?:htdig_)?(no)index|/(?:htdig_)?noindex)",
    re.IGNORECASE,
)
_MAX_SWITCH_CHARS = 40


def walk(root: LexborNode, collector: PageCollector, *, landmarks: bool, headings: bool = True) -> None:
    """Collect the data of the elements below `root`, except texts.

    `landmarks`: they decide what is content. `headings`: they start sections.
    """
    readers = _readers(collector.kinds, landmarks, headings)
    plan = plan_for(collector.kinds)
    if plan.by_name:
        readers = readers.copy()
        for name, reader in plan.by_name.items():
            if (first := root.css_first(name)) is not None:
                readers[first.tag_id] = reader
    reader_for = readers.get
    for node in root.traverse():
        if (read := reader_for(node.tag_id)) is not None:
            read(collector, node)
    for selector, read in plan.by_selector:
        for node in root.css(selector):
            read(collector, node)
    if LinkKind.COMMENT in collector.kinds:
        _read_comments_beside(collector, root)


@lru_cache(maxsize=256)
def _readers(kinds: frozenset[LinkKind], landmarks: bool, headings: bool) -> dict[int, Reader]:
    """Return the readers of elements by tag number."""
    readers: dict[int, Reader] = {}
    visibility = dict.fromkeys(UNSEEN, _read_unseen) | {_TITLE: _read_title, COMMENT: _read_comment}
    verbatim = dict.fromkeys(_VERBATIM, _read_verbatim)
    landmark = LANDMARK_READERS if landmarks else {}
    section = SECTION_READERS if headings else {}
    for table in (visibility, _APART, verbatim, landmark, HEAD_READERS, section, plan_for(kinds).by_number):
        for number, reader in table.items():
            earlier = readers.get(number)
            readers[number] = reader if earlier is None else both(earlier, reader)
    return readers


_TITLE = tag_number("title")
_VERBATIM = frozenset(map(tag_number, ("plaintext", "textarea", "xmp")))
"""Visible elements in which tags are text."""
_HEAD = tag_number("head")
_LINK = tag_number("link")
_DRAWINGS = frozenset(map(tag_number, ("svg", "math")))
_MAX_ORDERS_IN_BODY = 200
"""Statements about the page behind its head; after more of them none is read."""
_MAX_HIDDEN_TITLES = 50
"""Invisible titles that are skipped; after more of them no title is read."""


def _read_unseen(collector: PageCollector, node: LexborNode) -> None:
    collector.hidden.append(node)


def _is_of_page(collector: PageCollector, node: LexborNode) -> bool:
    """Whether an element of the head says something about the page, as a browser takes it.

    Drawings and formulas have elements of these names, and what is in a shadow root is of its part alone. The parser
    keeps `template` apart; that of frames and comments is text.
    """
    parent = node.parent
    if parent is None or parent.tag_id == _HEAD:
        return True
    collector.orders_in_body += 1
    if collector.orders_in_body > _MAX_ORDERS_IN_BODY:
        return False
    while parent is not None:
        if parent.tag_id in _DRAWINGS or parent.tag == SHADOW_ROOT:
            return False
        parent = parent.parent
    return True


def _read_noscript(collector: PageCollector, node: LexborNode) -> None:
    """Collect the links in `noscript`, and with those of frames in `noframes`."""
    if LinkKind.FRAME in collector.kinds or NOSCRIPT in node.attributes:
        _read_links_in(collector, node.text().replace(EDGE, ""), {_LINK: _read_other_link})


def _read_frame(collector: PageCollector, node: LexborNode) -> None:
    """Put the document that a frame has in its `srcdoc` behind it, without what it says of itself.

    It is parsed apart, so that what is not closed in it does not hold the rest of the page.
    """
    html = (node.attrs.get("srcdoc") or "").replace(EDGE, "")
    collector.frame_budget -= len(html)
    if not html or collector.frame_budget < 0:
        return
    body, _ = limit_nodes(html.encode("utf-8", "replace"), _MAX_NODES_OF_FRAME)
    body, _ = limit_nesting(limit_formatting(limit_attributes(body)[0]))
    parser = LexborHTMLParser(mark_block_edges(b"<%b>%b</%b>" % (_FRAME, body, _FRAME)))
    content = parser.css_first(SHADOW_ROOT)
    if content is not None:
        for said in content.css("title, meta, base, link"):
            said.decompose()
        node.insert_after(EDGE)
        node.insert_after(content)
        node.insert_after(EDGE)


_FRAME = SHADOW_ROOT.encode()
_MAX_NODES_OF_FRAME = 100_000
_APART: dict[int, Reader] = {tag_number("noframes"): _read_noscript, tag_number("iframe"): _read_frame}


def _read_title(collector: PageCollector, node: LexborNode) -> None:
    """Read the first visible title; those of SVG graphics are not visible."""
    if collector.title is None and collector.titles_out_of_sight < _MAX_HIDDEN_TITLES:
        if collector.hidden and _is_hidden(collector, node):
            collector.titles_out_of_sight += 1
        else:
            collector.title = node.text().replace(EDGE, "")
    collector.hidden.append(node)


def _is_hidden(collector: PageCollector, node: LexborNode) -> bool:
    hidden = {each.mem_id for each in collector.hidden}
    parent = node.parent
    while parent is not None:
        if parent.mem_id in hidden:
            return True
        parent = parent.parent
    return False


def _read_verbatim(_: PageCollector, node: LexborNode) -> None:
    """Remove block marks, since tags are text here."""
    text = node.first_child
    if text is not None and EDGE in (written := node.text()):
        text.replace_with(
            written[:-1].replace(EDGE, "") + written[-1:]
        )  # the last one separates the text from what follows


def _read_comment(collector: PageCollector, node: LexborNode) -> None:
    """Collect the links of a comment, if requested; detect switches that exclude the text after it."""
    comment = (node.comment_content or "").strip()
    if LinkKind.COMMENT in collector.kinds:
        _read_comment_links(collector, comment)
    if len(comment) <= _MAX_SWITCH_CHARS and (switch := _SWITCH.fullmatch(comment)):
        off = (switch[1] or "").lower() == "off" or bool(switch[2] or switch[3])
        collector.switches.append((node, off))


def _read_comments_beside(collector: PageCollector, root: LexborNode) -> None:
    """Collect the links of comments before and behind the element `html`."""
    before, behind = root.prev, root.next
    while before is not None:
        if before.tag_id == COMMENT:
            _read_comment_links(collector, before.comment_content or "")
        before = before.prev
    while behind is not None:
        if behind.tag_id == COMMENT:
            _read_comment_links(collector, behind.comment_content or "")
        behind = behind.next


def _read_comment_links(collector: PageCollector, comment: str) -> None:
    _read_links_in(collector, comment, {})
    for url in plain_urls(comment):
        collector.add(url, LinkKind.COMMENT)


def _read_links_in(collector: PageCollector, html: str, others: dict[int, Reader]) -> None:
    """Collect the links of elements in a text, those of elements without a kind of their own by the given readers."""
    if not link_tags(collector.kinds).search(html):
        return
    readers, root = plan_for(collector.kinds).by_number | others, LexborHTMLParser(html).root
    for node in root.traverse() if root is not None else ():
        if (reader := readers.get(node.tag_id)) is not None:
            reader(collector, node)


def read_html(collector: PageCollector, node: LexborNode) -> None:
    """Read the language of the page from `lang` or `xml:lang`."""
    attributes = node.attributes
    collector.language = attributes.get("lang") or attributes.get("xml:lang") or ""


def read_base(collector: PageCollector, node: LexborNode) -> None:
    """Read the base URL; the first one counts."""
    if (href := node.attrs.get("href")) and _is_of_page(collector, node):
        collector.set_base(href)


def read_link(collector: PageCollector, node: LexborNode) -> None:
    """Read the canonical URL (the first one counts), and the link if its kind is collected."""
    attributes = node.attributes
    href = (attributes.get("href") or "").strip()
    kind = kind_of_rel(attributes.get("rel") or "")
    if not href or kind is None:
        return
    if kind is LinkKind.CANONICAL:
        if not _is_of_page(collector, node):
            return
        collector.canonical = collector.canonical or href
    if kind in collector.kinds:
        collector.add(href, kind, attributes.get("title") or "")


def _read_other_link(collector: PageCollector, node: LexborNode) -> None:
    """Read a link that is not the canonical one."""
    if kind_of_rel(node.attributes.get("rel") or "") is not LinkKind.CANONICAL:
        read_link(collector, node)


def read_meta(collector: PageCollector, node: LexborNode) -> None:
    """Read the value under `name`, `property` and `http-equiv`; robots and refresh values are parsed."""
    attributes = node.attributes
    content = attributes.get("content")
    if content is None:
        return
    content = content.replace(EDGE, "").strip()
    pragma = (attributes.get("http-equiv") or "").strip().lower()
    if pragma == "refresh":
        if _is_of_page(collector, node):
            _read_refresh(collector, content)
        return
    collector.meta_budget -= len(content)
    for attribute in (attributes.get("name"), attributes.get("property"), pragma):
        name = (attribute or "").strip().lower()
        if name and collector.meta_budget >= 0:
            collector.meta.setdefault(name, []).append(content)
        if name in ("robots", collector.robots_name) and name and _is_of_page(collector, node):
            collector.robots.append(content)
    if LinkKind.META in collector.kinds and (url := wholly_absolute(content)):
        collector.add(url, LinkKind.META)


def _read_refresh(collector: PageCollector, content: str) -> None:
    refresh = parse_refresh(content)
    if refresh is None or collector.refresh is not None:
        return
    collector.refresh = refresh
    if refresh[1] and LinkKind.META_REFRESH in collector.kinds:
        collector.add(refresh[1], LinkKind.META_REFRESH)


HEAD_READERS: dict[int, Reader] = {
    tag_number("html"): read_html,
    tag_number("base"): read_base,
    tag_number("link"): read_link,
    tag_number("meta"): read_meta,
}
"""Readers of every walk, whatever links are collected."""
