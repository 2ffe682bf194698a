"""Marks in a page, by which the text that the parser returns as one string is split into parts.

Edges of blocks are marked before parsing, regions, headings and switches in the tree afterwards.
"""

from __future__ import annotations

import re
from itertools import groupby

from selectolax.lexbor import LexborNode

from ultracrawl.content.html.collector import OpenSection, PageCollector, Region, Span
from ultracrawl.content.html.tags import BLOCK_NAMES, BLOCKS, EDGE, tag_number

_NUL = "\0"
"""Delimits a mark in the tree; text from the parser never contains it."""
_SECTION, _END, _OFF, _ON = "s", "/", "-", "+"
"""Beside these there are the marks of regions."""

_BY_LETTER = "|".join(
    f"{letter}(?:{'|'.join(name[1:] for name in names)})"
    for letter, names in groupby(BLOCK_NAMES, lambda name: name[0])
)
_NAME = rf"(?:{_BY_LETTER})[\t\n\f\r />]"
_BLOCK_TAG = re.compile(rf"<(?<![\t\n\r ]<)(?=/?+(?:{_NAME}|(?=[A-Z])(?i:{_NAME})))".encode())
"""A tag of a block without white space before it; names are only matched case-insensitively after a capital."""
_EDGE = EDGE.encode()
_SPACE = re.compile(r"\s")
_SWITCHES = re.compile(f"{_NUL}[{_OFF}{_ON}]{_NUL}")
_HTML = tag_number("html")
_WITHOUT_ELEMENTS = frozenset(map(tag_number, ("iframe", "noembed", "noframes", "script", "style", "title")))


def mark_block_edges(body: bytes) -> bytes:
    """Mark the edges of the blocks of a page."""
    body = body.replace(_EDGE, b"\n")
    return _BLOCK_TAG.sub(_EDGE + b"<", body)


def read_text(collector: PageCollector, root: LexborNode) -> None:
    """Collect the texts of a page and the spans of regions and titles; the tree is unusable afterwards."""
    for node, region in collector.regions:
        _enclose(node, region, " ")
    for number, heading in enumerate(collector.headings):
        name = f"{_SECTION}{number}"
        if heading.name:
            heading.node.insert_before(_mark(name) + _mark(_END + name))
        else:
            _enclose(heading.node, name)
    for comment, off in collector.switches:
        comment.insert_before(_mark(_OFF if off else _ON))
    _hide(collector, root)
    pieces = root.text().split(_NUL)
    collector.parts = pieces[::2]
    _read_marks(collector, pieces[1::2])


def _mark(name: str) -> str:
    return f"{_NUL}{name}{_NUL}"


def _enclose(node: LexborNode, name: str, behind: str = "") -> None:
    begin, end = _mark(name), _mark(_END + name) + behind
    if node.tag_id != _HTML:
        node.insert_before(begin)
        node.insert_after(end)
        return
    first = node.first_child
    if first is not None:  # the text of the root starts inside it
        first.insert_before(begin)
        node.insert_child(end)


def _hide(collector: PageCollector, root: LexborNode) -> None:
    """Remove invisible elements from the tree, the inner ones first, so that no element is visited often."""
    for node in reversed(collector.hidden):
        left = EDGE if _separates_words(node) else ""
        if collector.switches:  # only the last one affects the text after the element
            left += "".join(_SWITCHES.findall(node.text())[-1:])
        if node.mem_id != root.mem_id:
            node.replace_with(left)
            continue
        for child in root.iter():
            child.decompose()


def _separates_words(node: LexborNode) -> bool:
    """Whether an invisible element separates words: it has an edge of a block, or a block that ended an SVG."""
    if node.tag_id in _WITHOUT_ELEMENTS:
        return False
    return EDGE in node.text() or any(child.tag_id in BLOCKS for child in node.traverse())


def _read_marks(collector: PageCollector, marks: list[str]) -> None:
    """Read the spans of regions and titles from the marks: part n of the text starts after the nth mark."""
    open_spans: dict[str, list[Span]] = {region: [] for region in Region}
    titles: dict[str, Span] = {}
    off = False
    for at, mark in enumerate([*marks, _ON], 1):
        if off:
            collector.parts[at - 1] = " " if _SPACE.search(collector.parts[at - 1]) else ""
        name = mark.removeprefix(_END)
        if name in open_spans:
            if name != mark:
                open_spans[name].pop().end = at
                continue
            open_spans[name].append(Span(at))
            collector.spans[Region(name)].append(open_spans[name][-1])
        elif name in (_OFF, _ON):
            off = name == _OFF
        elif name == mark:
            heading = collector.headings[int(name.removeprefix(_SECTION))]
            titles[name] = Span(at)
            of_link = "" if off else heading.name
            collector.sections.append(OpenSection(titles[name], heading.level, heading.anchor, of_link))
        else:
            titles[name].end = at
