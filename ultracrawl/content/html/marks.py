"""Marks in a page, by which the text that the parser returns as a whole can be told apart.

Edges of blocks are marked before a page is parsed, what was found in its tree afterwards.
"""

from __future__ import annotations

import re
from itertools import groupby

from selectolax.lexbor import LexborNode

from ultracrawl.content.html.harvest import Harvest, OpenSection, Span
from ultracrawl.content.html.tags import BLOCK_NAMES, BLOCKS, EDGE, tag_number

_NUL = "\0"
"""Stands around a mark in a tree; no text that the parser has read holds one."""
_INSIDE, _OUTSIDE, _SECTION, _END, _OFF, _ON = "i", "o", "s", "/", "-", "+"

_BY_LETTER = "|".join(
    f"{letter}(?:{'|'.join(name[1:] for name in names)})"
    for letter, names in groupby(BLOCK_NAMES, lambda name: name[0])
)
_NAME = rf"(?:{_BY_LETTER})[\t\n\f\r />]"
_BLOCK_TAG = re.compile(rf"<(?<![\t\n\r ]<)(?=/?+(?:{_NAME}|(?=[A-Z])(?i:{_NAME})))".encode())
"""A tag of a block with no white space before it; case is looked at only where a name begins with a capital."""
_EDGE = EDGE.encode()
_SPACE = re.compile(r"\s")
_SWITCHES = re.compile(f"{_NUL}[{_OFF}{_ON}]{_NUL}")
_HTML = tag_number("html")
_WITHOUT_ELEMENTS = frozenset(map(tag_number, ("iframe", "noembed", "noframes", "script", "style", "title")))


def with_edges(body: bytes) -> bytes:
    """Return a page with the edges of its blocks marked."""
    body = body.replace(_EDGE, b"\n")
    return _BLOCK_TAG.sub(_EDGE + b"<", body)


def read_text(found: Harvest, root: LexborNode) -> None:
    """Fill in the texts of a page and what each region and title spans of them; the tree is of no use afterwards."""
    for node, inside in found.regions:
        _enclose(node, _INSIDE if inside else _OUTSIDE, " ")
    for number, heading in enumerate(found.headings):
        _enclose(heading.node, f"{_SECTION}{number}")
    for comment, off in found.switches:
        comment.insert_before(_mark(_OFF if off else _ON))
    _hide(found, root)
    pieces = root.text().split(_NUL)
    found.parts = pieces[::2]
    _read_marks(found, pieces[1::2])


def _mark(name: str) -> str:
    return f"{_NUL}{name}{_NUL}"


def _enclose(node: LexborNode, name: str, behind: str = "") -> None:
    begin, end = _mark(name), _mark(_END + name) + behind
    if node.tag_id != _HTML:
        node.insert_before(begin)
        node.insert_after(end)
        return
    first = node.first_child
    if first is not None:  # the text of the root begins within it
        first.insert_before(begin)
        node.insert_child(end)


def _hide(found: Harvest, root: LexborNode) -> None:
    """Take what is out of sight out of the tree: from the inside out, so that nothing is looked at often."""
    for node in reversed(found.hidden):
        left = EDGE if _parts_words(node) else ""
        if found.switches:  # only the last one makes a difference behind it
            left += "".join(_SWITCHES.findall(node.text())[-1:])
        if node.mem_id != root.mem_id:
            node.replace_with(left)
            continue
        for child in root.iter():
            child.decompose()


def _parts_words(node: LexborNode) -> bool:
    """Whether an element that is out of sight has edges of blocks, also that of a block which ends a picture."""
    if node.tag_id in _WITHOUT_ELEMENTS:
        return False
    return EDGE in node.text() or any(one.tag_id in BLOCKS for one in node.traverse())


def _read_marks(found: Harvest, marks: list[str]) -> None:
    """Take from the marks what lies between two of them: part n of the text begins with the nth mark."""
    regions = {_INSIDE: found.inside, _OUTSIDE: found.outside}
    depths = dict.fromkeys(regions, 0)
    titles: dict[str, Span] = {}
    off = False
    for at, mark in enumerate([*marks, _ON], 1):
        if off:
            found.parts[at - 1] = " " if _SPACE.search(found.parts[at - 1]) else ""
        name = mark.removeprefix(_END)
        if name in regions:
            depths[name] = _region_depth(regions[name], depths[name], at, begins=name == mark)
        elif name in (_OFF, _ON):
            off = name == _OFF
        elif name == mark:
            heading = found.headings[int(name.removeprefix(_SECTION))]
            titles[name] = Span(at)
            found.sections.append(OpenSection(titles[name], heading.level, heading.anchor))
        else:
            titles[name].end = at


def _region_depth(spans: list[Span], depth: int, at: int, *, begins: bool) -> int:
    """Return how many regions of a kind are open behind a mark; one that lies within another adds nothing to it."""
    if begins and not depth:
        spans.append(Span(at))
    depth += 1 if begins else -1
    if not depth:
        spans[-1].end = at
    return depth
