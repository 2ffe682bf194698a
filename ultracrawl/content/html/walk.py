"""The one walk over the elements of a parsed page: links and everything the head says, in document order."""

from __future__ import annotations

import re
from functools import lru_cache

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ultracrawl.content.html.harvest import Harvest
from ultracrawl.content.html.head import HEAD_READERS
from ultracrawl.content.html.links import Reader, both, plain_urls, plan_for
from ultracrawl.content.html.main_content import LANDMARK_READERS
from ultracrawl.content.html.sections import SECTION_READERS
from ultracrawl.content.html.tags import COMMENT, EDGE, UNSEEN, tag_number
from ultracrawl.model.page import LinkKind

_SWITCH = re.compile(
    r"(?:google(off|on):\s*(?:index|all)|(stop)index|startindex|(?:htdig_)?(no)index|/(?:htdig_)?noindex)",
    re.IGNORECASE,
)
_LONGEST_SWITCH = 40


def walk(root: LexborNode, found: Harvest, *, landmarks: bool) -> None:
    """Fill `found` from the elements below `root`, but for texts; `landmarks` tell what is content."""
    readers = _readers(found.kinds, landmarks)
    if by_name := plan_for(found.kinds).by_name:
        readers = readers.copy()
        for name, reader in by_name.items():
            if (first := root.css_first(name)) is not None:
                readers[first.tag_id] = reader
    reader_for = readers.get
    for node in root.traverse():
        if (read := reader_for(node.tag_id)) is not None:
            read(found, node)


@lru_cache(maxsize=256)
def _readers(kinds: frozenset[LinkKind], landmarks: bool) -> dict[int, Reader]:
    """Return what reads the elements of a page, by their numbers."""
    readers: dict[int, Reader] = {}
    seen = dict.fromkeys(UNSEEN, _read_unseen) | {_TITLE: _read_title, COMMENT: _read_comment}
    verbatim = dict.fromkeys(_VERBATIM, _read_verbatim)
    landmark = LANDMARK_READERS if landmarks else {}
    for more in (seen, verbatim, landmark, HEAD_READERS, SECTION_READERS, plan_for(kinds).by_number):
        for number, reader in more.items():
            earlier = readers.get(number)
            readers[number] = reader if earlier is None else both(earlier, reader)
    return readers


_TITLE = tag_number("title")
_VERBATIM = frozenset(map(tag_number, ("plaintext", "textarea", "xmp")))
"""Elements that can be seen, in which tags are text."""
_MOST_TITLES = 50
"""Titles out of sight; one behind more of them is none."""


def _read_unseen(found: Harvest, node: LexborNode) -> None:
    found.hidden.append(node)


def _read_title(found: Harvest, node: LexborNode) -> None:
    """Take the title: the first one that is in sight, which those of pictures are not."""
    if found.title is None and found.titles_out_of_sight < _MOST_TITLES:
        if found.hidden and _is_hidden(found, node):
            found.titles_out_of_sight += 1
        else:
            found.title = node.text().replace(EDGE, "")
    found.hidden.append(node)


def _is_hidden(found: Harvest, node: LexborNode) -> bool:
    hidden = {one.mem_id for one in found.hidden}
    parent = node.parent
    while parent is not None:
        if parent.mem_id in hidden:
            return True
        parent = parent.parent
    return False


def _read_verbatim(_: Harvest, node: LexborNode) -> None:
    """Take out the marks of what only looks like blocks."""
    text = node.first_child
    if text is not None and EDGE in (written := node.text()):
        text.replace_with(
            written[:-1].replace(EDGE, "") + written[-1:]
        )  # the last one parts it from what follows


def _read_comment(found: Harvest, node: LexborNode) -> None:
    """Keep the links of a comment if wanted; see whether the text after it stays out of the index."""
    comment = (node.comment_content or "").strip()
    if LinkKind.COMMENT in found.kinds:
        _read_comment_links(found, comment)
    if len(comment) <= _LONGEST_SWITCH and (switch := _SWITCH.fullmatch(comment)):
        off = (switch[1] or "").lower() == "off" or bool(switch[2] or switch[3])
        found.switches.append((node, off))


def _read_comment_links(found: Harvest, comment: str) -> None:
    if "<" in comment:
        by_number = plan_for(found.kinds).by_number
        root = LexborHTMLParser(comment).root
        for node in root.traverse() if root is not None else ():
            if (reader := by_number.get(node.tag_id)) is not None:
                reader(found, node)
    for url in plain_urls(comment):
        found.add(url, LinkKind.COMMENT)
