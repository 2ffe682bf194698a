"""The parts of a page: its headings and terms with an id, where each begins in the text, and what leads to it."""

from __future__ import annotations

from collections.abc import Sequence

from selectolax.lexbor import LexborNode

from ultracrawl.content.html.harvest import MOST_SECTIONS, Harvest, Heading
from ultracrawl.content.html.links import Reader
from ultracrawl.content.html.tags import COMMENT, TEXT, tag_number
from ultracrawl.content.limits import limit_text
from ultracrawl.model.page import Section

LONGEST_TITLE = 200
LONGEST_ANCHOR = 500
"""A part with a longer id is kept without it."""

OF_AN_ENTRY = 7
"""The level of what is no heading."""
_LEVELS = {tag_number(f"h{level}"): level for level in range(1, 7)} | {tag_number("dt"): OF_AN_ENTRY}

_PERMALINKS = " ¶§#◆🔗"
"""What generators write beside a heading, as a link to it."""
_TOP = "top"
"""The beginning of a document (HTML Standard, "indicated part of the document")."""
_DEEP, _HIGH = 2, 6
"""Levels below and above a heading in which an id is looked for."""
_BODY, _SECTION = tag_number("body"), tag_number("section")
_A = tag_number("a")
_MARKS = frozenset({_A, tag_number("span")})


def read_section(found: Harvest, node: LexborNode) -> None:
    """Begin a part with a heading, or with a term that has an id."""
    if len(found.headings) == MOST_SECTIONS:
        return
    level = _LEVELS[node.tag_id]
    anchor = _id_of(node) or _id_inside(node) or (_id_around(node) if level < OF_AN_ENTRY else "")
    if len(anchor) > LONGEST_ANCHOR or anchor.lower() == _TOP:
        anchor = ""
    if anchor or level < OF_AN_ENTRY:
        found.headings.append(Heading(node, level, anchor))


SECTION_READERS: dict[int, Reader] = dict.fromkeys(_LEVELS, read_section)
"""Readers of elements that begin a part."""


def text_and_sections(found: Harvest, most: int) -> tuple[str, tuple[Section, ...], bool]:
    """Return the text of a page with white space folded, its parts, and whether it had more than `most` characters.

    The parts are in their order, those without a title left out.
    """
    parts, pieces = found.parts, list[str]()
    sections: list[Section] = []
    length = kept_from = 0
    for one in found.sections:
        title = one.title
        if before := _folded(parts[kept_from : title.begin]):
            pieces.append(before)
            length += len(before) + 1
        kept_from = title.begin
        written = _folded(parts[title.begin : title.end])
        if words := written.strip(_PERMALINKS):
            sections.append(Section(length + written.index(words), one.level, one.anchor, _shortened(words)))
    if rest := _folded(parts[kept_from:]):
        pieces.append(rest)
    text, cut = limit_text(" ".join(pieces), most)
    return text, tuple(one for one in sections if one.matches_text(text)) if cut else tuple(sections), cut


def _folded(parts: Sequence[str]) -> str:
    return " ".join("".join(parts).split())


def _shortened(title: str) -> str:
    if len(title) <= LONGEST_TITLE:
        return title
    return title[: LONGEST_TITLE + 1].rpartition(" ")[0].rstrip() or title[:LONGEST_TITLE]


def _id_of(node: LexborNode) -> str:
    return node.id or (node.attributes.get("name") if node.tag_id == _A else "") or ""


def _id_inside(node: LexborNode) -> str:
    """Return the id of a child of a heading or term, or of what the first child begins with.

    So it is with `<h2><a name=x></a>A</h2>`, `<h2>A <a id=x></a></h2>` and `<dt><span><a id=x></a>A</span></dt>`.
    """
    first = None
    for child in node.iter():
        if found := _id_of(child):
            return found
        if first is None and child.tag_id != COMMENT:
            first = child
    for _ in range(_DEEP):
        for child in first.iter() if first is not None else ():
            if child.tag_id != COMMENT:
                first = child
                break
        else:
            return ""
        if first.id:
            return first.id
    return ""


def _id_around(node: LexborNode) -> str:
    """Return the id of the element whose first content a heading is, or of an empty mark before it.

    That of a `<section>` goes before that of a mark in it: the mark is another name.
    """
    marked = ""
    for _ in range(_HIGH):
        before = node.prev
        while before is not None:
            if not _is_blank(before):
                return marked
            if not marked and before.tag_id in _MARKS:
                marked = _id_of(before)
            before = before.prev
        parent = node.parent
        if parent is None or parent.tag_id == _BODY:
            break
        if (found := parent.id) and (not marked or parent.tag_id == _SECTION):
            return found
        node = parent
    return marked


def _is_blank(node: LexborNode) -> bool:
    """Tell whether this is no content: a comment, white space, or a mark without text."""
    if node.tag_id == TEXT:
        return not (node.text_content or "").strip()
    return node.tag_id == COMMENT or (node.tag_id in _MARKS and not node.text().strip())
