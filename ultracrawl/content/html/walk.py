"""The one walk over a parsed page: text, links and everything the head says, in document order."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ultracrawl.content.html.harvest import Harvest
from ultracrawl.content.html.head import HEAD_READERS
from ultracrawl.content.html.links import LinkPlan, plain_urls
from ultracrawl.content.html.tags import BLOCKS, COMMENT, FIRST_OWN_NUMBER, TEXT, UNSEEN, tag_number
from ultracrawl.model.page import LinkKind

_TITLE = tag_number("title")
_SWITCH = re.compile(
    r"(?:google(off|on):\s*(?:index|all)|(stop)index|startindex|(?:htdig_)?(no)index|/(?:htdig_)?noindex)",
    re.IGNORECASE,
)
_LONGEST_SWITCH = 40


def walk(root: LexborNode, found: Harvest, plan: LinkPlan, unseen: frozenset[int]) -> None:
    """Fill `found` from the tree below `root`.

    `unseen` holds the memory addresses of further elements whose text does not count. The end of an element
    is known by the node that follows it: the traversal itself only tells of beginnings.
    """
    parts = found.parts
    readers = {**HEAD_READERS, **plan.by_number}
    block_ends: set[int] = set()
    hidden = switched_off = False
    hidden_end = 0
    for node in root.traverse(include_text=True):
        tag = node.tag_id
        here = node.mem_id
        if here in block_ends:
            parts.append(" ")
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
            block_ends.add(_following(node, BLOCKS) if after is None else after.mem_id)
        if not hidden and (tag in UNSEEN or here in unseen):
            hidden, hidden_end = True, _following(node)
            if tag == _TITLE and found.title is None:
                found.title = node.text()
        if (reader := readers.get(tag)) is not None:
            reader(found, node)
        elif tag >= FIRST_OWN_NUMBER and plan.by_name and (named := plan.by_name.get(node.tag or "")):
            named(found, node)


def _following(node: LexborNode, stop: frozenset[int] = frozenset()) -> int:
    """Return the address of the node after the subtree of `node`; 0 if none or if a `stop` element ends."""
    after = node.next
    while after is None:
        parent = node.parent
        if parent is None or parent.tag_id in stop:
            return 0
        node = parent
        after = node.next
    return after.mem_id


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
