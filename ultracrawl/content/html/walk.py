"""The one walk over a parsed page: text, links and everything the head says, in document order."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ultracrawl.content.html.harvest import Harvest
from ultracrawl.content.html.head import HEAD_READERS
from ultracrawl.content.html.links import LinkPlan, plain_urls
from ultracrawl.content.html.main_content import HIDDEN, INSIDE, OUTSIDE, SetApart, begin_region
from ultracrawl.content.html.sections import SECTION_READERS
from ultracrawl.content.html.tags import (
    BLOCKS,
    COMMENT,
    FIRST_OWN_NUMBER,
    TEXT,
    UNSEEN,
    following,
    tag_number,
)
from ultracrawl.model.page import LinkKind

_TITLE = tag_number("title")
_SWITCH = re.compile(
    r"(?:google(off|on):\s*(?:index|all)|(stop)index|startindex|(?:htdig_)?(no)index|/(?:htdig_)?noindex)",
    re.IGNORECASE,
)
_LONGEST_SWITCH = 40


def walk(root: LexborNode, found: Harvest, plan: LinkPlan, apart: SetApart) -> None:
    """Fill `found` from the tree below `root`.

    `apart` says which elements are out of sight, or the content of the page or not. The end of an element is known by
    the node that follows it: the traversal itself only tells of beginnings.
    """
    parts = found.parts
    readers = {**HEAD_READERS, **SECTION_READERS, **plan.by_number, **apart.readers}
    elements = apart.elements
    by_name = plan.by_name
    block_ends, open_spans = found.block_ends, found.open_spans
    hidden = switched_off = False
    hidden_end: int | None = None
    for node in root.traverse(include_text=True):
        tag = node.tag_id
        here = node.mem_id
        if here in block_ends:
            parts.append(" ")
            if here in open_spans:
                found.end_spans(here)
        if hidden and here == hidden_end:
            hidden = False
        if tag == TEXT:
            if not hidden and not switched_off:
                parts.append(node.text_content or "")
            continue
        if tag == COMMENT:
            switched_off = _read_comment(found, node.comment_content or "", plan, switched_off)
            continue
        if tag in BLOCKS:
            parts.append(" ")
            after = node.next
            block_ends.add(following(node, BLOCKS) if after is None else after.mem_id)
        if not hidden and (tag in UNSEEN or here in elements):
            hidden_end = _set_apart(found, node, elements.get(here, HIDDEN))
            hidden = hidden_end is not None
        if reader := readers.get(tag) or (
            tag >= FIRST_OWN_NUMBER and by_name and by_name.get(node.tag or "")
        ):
            reader(found, node)


def _set_apart(found: Harvest, node: LexborNode, kind: int) -> int | None:
    """Treat an element as what it is; return the address of the node behind one that is out of sight, else None."""
    if node.tag_id in UNSEEN or kind & HIDDEN:
        if node.tag_id == _TITLE and found.title is None:
            found.title = node.text()
        return following(node)
    for one, spans in ((INSIDE, found.inside), (OUTSIDE, found.outside)):
        if kind & one:
            begin_region(found, spans, node)
    return None


def _read_comment(found: Harvest, comment: str, plan: LinkPlan, off: bool) -> bool:
    """Keep the links of a comment if wanted; return whether the text after it stays out of the index."""
    if LinkKind.COMMENT in plan.kinds:
        _read_comment_links(found, comment, plan)
    if len(comment) > _LONGEST_SWITCH:
        return off
    switch = _SWITCH.fullmatch(comment.strip())
    if switch is None:
        return off
    return (switch[1] or "").lower() == "off" or bool(switch[2] or switch[3])


def _read_comment_links(found: Harvest, comment: str, plan: LinkPlan) -> None:
    if "<" in comment:
        root = LexborHTMLParser(comment).root
        for node in root.traverse() if root is not None else ():
            if (reader := plan.by_number.get(node.tag_id)) is not None:
                reader(found, node)
    for url in plain_urls(comment):
        found.add(url, LinkKind.COMMENT)
