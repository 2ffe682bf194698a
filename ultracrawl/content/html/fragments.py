"""Finds what the marks of a page mark: a mark belongs to the next text, wherever the tree puts it.

A mark is an element whose id a link can name: an empty one, one that the page links to, or one around a heading.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import unquote

from selectolax.lexbor import LexborNode

from ultracrawl.content.html.tags import BLOCKS, COMMENT, TEXT, tag_number
from ultracrawl.model.page import PERMALINKS

LONGEST_ANCHOR = 500
"""A section with a longer id is kept without it."""
_TOP = "top"
"""The fragment for the start of a document (HTML Standard, "indicated part of the document")."""
_LONGEST_OPTION = 200
"""Characters of the words in bold that name a part; more are a paragraph."""
_FEWEST_LETTERS = 2
"""Letters in the text of a link that names a part; those of footnotes have fewer."""
_LEVELS_AROUND, _LEVELS = 6, 14
"""Elements around a heading, and around a text, that are looked at."""
_BLANK = f"{string.whitespace}\xa0{PERMALINKS}"

_A, _BODY, _SECTION, _SPAN = map(tag_number, ("a", "body", "section", "span"))
_EMPTY = frozenset(map(tag_number, ("a", "p", "span")))
"""Elements that are marks if they have no text; scripts fill others."""
_LINES = frozenset(
    map(
        tag_number,
        ("a", "b", "code", "dd", "dfn", "dt", "em", "font", "i", "li", "p", "pre", "span", "strong"),
    )
) | frozenset(map(tag_number, ("td", "th", "tr", "tt")))
"""Elements that may be a part although nothing in them is its name. Others, such as `div`, are whole pages, too."""
_BOLD = frozenset(map(tag_number, ["b", "big", "code", "dfn", "kbd", "samp", "strong", "tt", "var"]))
"""Elements that name a part at whose beginning they stand."""
_BREAKS = BLOCKS | {_BODY, tag_number("br"), tag_number("hr")}
_NO_TEXT = {COMMENT, tag_number("img"), tag_number("wbr")}


class Part(NamedTuple):
    """A part of a page without a heading: its name in bold, or its first text and the text of a link to it."""

    node: LexborNode
    anchor: str
    name: str = ""


def id_of(node: LexborNode) -> str:
    """Return the id of an element, or the name of an anchor."""
    return node.id or (node.attributes.get("name") if node.tag_id == _A else "") or ""


def is_usable(anchor: str) -> bool:
    """Whether a fragment can lead to a section."""
    return 0 < len(anchor) <= LONGEST_ANCHOR and anchor.lower() != _TOP


class MarkFinder:
    """Finds the marks of a page, and what they mark."""

    def __init__(
        self, root: LexborNode, url: str, headings: Mapping[int, bool], hidden: Collection[int]
    ) -> None:
        """Take the page and its address.

        `hidden` and `headings` have elements by `mem_id`, `headings` with whether one has an anchor of its own.
        """
        self._root = root
        self._headings = headings
        self._hidden = hidden
        own = url.partition("#")[0].partition("?")[0].rpartition("/")[2]
        is_quotable = own.isprintable() and "'" not in own and "\\" not in own
        to_own = f",a[href^='{own}#']" if own and is_quotable else ""
        self._selector = f"[id],a[name],a[href^='#']{to_own}"
        self._links: dict[int, LexborNode] = {}
        """The first link before a mark that leads to it."""
        self._texts: dict[int, LexborNode | None] = {}
        """The texts of marks."""

    def find(self, around: Collection[int]) -> tuple[dict[int, str], list[Part]]:
        """Return the anchors of headings by `mem_id`, and the parts without a heading.

        `around` has the elements around headings that look for an anchor there.
        """
        anchors: dict[int, str] = {}
        parts: dict[int, Part] = {}
        for text, marks in reversed(self._by_text(around)):  # in document order
            heading = self._heading_of(text)
            if heading is not None and self._headings[heading]:
                continue
            own = [mark for mark in marks if self._marks(mark, text, around, is_heading=heading is not None)]
            if own and heading is not None:
                anchors.setdefault(heading, id_of(self._nearest(own, around)))
            elif own and (part := self._part(text, self._linked(own))) is not None:
                parts.setdefault(part.node.mem_id, part)
        names = Counter(part.name for part in parts.values() if part.name)
        return anchors, [part for part in parts.values() if names[part.name] <= 1]

    def _by_text(self, around: Collection[int]) -> list[tuple[LexborNode, list[LexborNode]]]:
        """Return each text with the marks before it, from the last to the first."""
        found: list[tuple[LexborNode, list[LexborNode]]] = []
        last = 0
        for mark in reversed(self._all_marks(around)):
            text = self._texts[mark.mem_id] = self._next_text(mark)
            if text is None:
                continue
            if text.mem_id == last:
                found[-1][1].append(mark)
            else:
                found.append((text, [mark]))
                last = text.mem_id
        return found

    def _all_marks(self, around: Collection[int]) -> list[LexborNode]:
        """Return the elements that may be marks, in document order."""
        marks: list[LexborNode] = []
        links: dict[str, LexborNode] = {}
        for node in self._root.css(self._selector):
            number, anchor, href = node.mem_id, node.id or "", None
            if node.tag_id == _A:
                attributes = node.attributes
                anchor, href = anchor or attributes.get("name") or "", attributes.get("href")
            is_linked = anchor in links
            if is_linked:
                self._links[number] = links[anchor]
            elif href and "#" in href:  # a link from where another one leads is a way back
                links.setdefault(unquote(href.partition("#")[2]), node)
            is_mark = is_linked or number in around or (not href and node.tag_id in _EMPTY)
            if is_mark and number not in self._headings and is_usable(anchor):
                marks.append(node)
        return marks

    def _next_text(self, node: LexborNode) -> LexborNode | None:
        """Return the first visible text from the beginning of an element on; those of later marks are known."""
        known, hidden = self._texts, self._hidden
        child = node.first_child
        while True:
            if child is None:
                while (child := node.next) is None:
                    parent = node.parent
                    if parent is None or parent.mem_id in hidden:
                        return None
                    node = parent
            node = child
            number = node.mem_id
            if number in known:
                return known[number]
            if node.tag_id == TEXT and (node.text_content or "").strip(_BLANK):
                return node
            child = None if number in hidden else node.first_child

    def _heading_of(self, text: LexborNode) -> int | None:
        """Return the `mem_id` of the heading that a text stands in."""
        around = text.parent
        for _ in range(_LEVELS):
            if around is None:
                break
            if around.mem_id in self._headings:
                return around.mem_id
            around = around.parent
        return None

    def _marks(
        self, mark: LexborNode, text: LexborNode, around: Collection[int], *, is_heading: bool
    ) -> bool:
        """Whether a mark marks the next text."""
        if mark.mem_id in self._links:
            return True
        if mark.mem_id in around:
            return is_heading
        is_named = mark.tag_id == _A and bool(mark.attributes.get("name"))
        return is_named or mark.first_child is None or not _is_in(text, mark)

    def _nearest(self, marks: list[LexborNode], around: Collection[int]) -> LexborNode:
        """Return the mark of a heading: the last one, or the `<section>` around it, in which others are further names.

        `marks` begin with the last one.
        """
        if marks[0].mem_id in around:
            return marks[0]
        sections = (mark for mark in marks if mark.tag_id == _SECTION and mark.mem_id in around)
        return next(sections, None) or self._linked([mark for mark in marks if mark.mem_id not in around])

    def _linked(self, marks: list[LexborNode]) -> LexborNode:
        """Return the last mark that the page links to, or the last one."""
        return next((mark for mark in marks if mark.mem_id in self._links), marks[0])

    def _part(self, text: LexborNode, mark: LexborNode) -> Part | None:
        """Return the part that begins with a text: named in bold, or by a link before it."""
        bold = _bold(text)
        if not _begins_line(bold or text):
            return None
        if bold is not None and len(bold.text().strip()) <= _LONGEST_OPTION:
            return Part(bold, id_of(mark))
        link = self._links.get(mark.mem_id)
        if link is None or (mark.tag_id not in _LINES and _is_in(text, mark)):
            return None
        name = " ".join(link.text().split()).strip(PERMALINKS)
        says_something = sum(map(str.isalpha, name[:_LONGEST_OPTION])) >= _FEWEST_LETTERS
        is_skipped_to = "tabindex" in mark.attributes  # "Skip to content"
        return Part(text, id_of(mark), name) if says_something and not is_skipped_to else None


def elements_around(heading: LexborNode) -> Iterator[int]:
    """Yield the numbers of the elements around a heading, from the inside, below the body."""
    around = heading.parent
    for _ in range(_LEVELS_AROUND):
        if around is None or around.tag_id == _BODY:
            return
        yield around.mem_id
        around = around.parent


def _is_in(text: LexborNode, element: LexborNode) -> bool:
    """Whether a text is in an element, or so deep in others that it may be."""
    number, around = element.mem_id, text.parent
    for _ in range(_LEVELS):
        if around is None:
            return False
        if around.mem_id == number:
            return True
        around = around.parent
    return True


def _bold(text: LexborNode) -> LexborNode | None:
    """Return the outermost element in the block of a text that makes it bold.

    What is explained on another page is explained there: a link to one names nothing.
    """
    bold, around = None, text.parent
    for _ in range(_LEVELS):
        if around is None or around.tag_id in _BREAKS:
            break
        if around.tag_id == _A and (around.attributes.get("href") or "#")[0] != "#":
            return None
        if around.tag_id in _BOLD:
            bold = around
        around = around.parent
    return bold


def _begins_line(node: LexborNode) -> bool:
    """Whether there is no text before a node in its block, or in its line."""
    for _ in range(_LEVELS):
        before = node.prev
        while before is not None and _is_blank(before):
            before = before.prev
        if before is not None:
            return before.tag_id in _BREAKS
        parent = node.parent
        if parent is None or parent.tag_id in _BREAKS:
            return True
        node = parent
    return False


def _is_blank(node: LexborNode) -> bool:
    """Return whether a node in a line has no text."""
    if node.tag_id == TEXT:
        return not (node.text_content or "").strip(_BLANK)
    return node.tag_id in _NO_TEXT or (node.tag_id in {_A, _SPAN} and not node.text().strip(_BLANK))
