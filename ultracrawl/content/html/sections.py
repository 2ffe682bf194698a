"""The sections of a page: its headings and terms with an id, and their positions in the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from selectolax.lexbor import LexborNode

from ultracrawl.content.html.collector import LINE_END, MOST_SECTIONS, Heading, PageCollector
from ultracrawl.content.html.links import Reader
from ultracrawl.content.html.main_content import ContentRule
from ultracrawl.content.html.tags import COMMENT, TEXT, UNSEEN, tag_number
from ultracrawl.content.limits import limit_text
from ultracrawl.model.page import PERMALINKS, SECTION_LEVELS, Section

LONGEST_TITLE = 200
LONGEST_ANCHOR = 500
"""A section with a longer id is kept without it."""

TERM_LEVEL = SECTION_LEVELS
"""The level of terms (`dt`), below all headings."""
_LEVELS = {tag_number(f"h{level}"): level for level in range(1, TERM_LEVEL)} | {tag_number("dt"): TERM_LEVEL}

_TOP = "top"
"""The fragment for the start of a document (HTML Standard, "indicated part of the document")."""
_DESCENDANT_LEVELS, _ANCESTOR_LEVELS = 2, 6
"""Levels below and above a heading that are searched for an id."""
_NEAR = 100
"""Nodes before and around a heading that are looked at for an id, so that no page takes quadratic time."""
_BODY, _SECTION = tag_number("body"), tag_number("section")
_WHOLE = frozenset(map(tag_number, ("html", "body", "main")))
"""Elements that stand for the whole page."""
_BUTTON = tag_number("button")
_A = tag_number("a")
_ANCHOR_TAGS = frozenset({_A, tag_number("span")})


def read_section(collector: PageCollector, node: LexborNode) -> None:
    """Start a section with a heading, or with a term that has an id."""
    level = _LEVELS[node.tag_id]
    _start_section(collector, node, level, is_term=level == TERM_LEVEL)


def read_levels(collector: PageCollector, root: LexborNode, selectors: Sequence[str]) -> None:
    """Start a section with each element that a selector matches; the number of the selector is its level.

    An element that several selectors match has the highest of their levels. Elements inside another one that starts a
    section belong to its title.
    """
    levels: dict[int, int] = {}
    for level, selector in enumerate(selectors, 1):
        for node in root.css(selector) if selector else ():
            levels.setdefault(node.mem_id, level)
    started: set[int] = set()
    for node in root.css(", ".join(filter(None, selectors))) if any(selectors) else ():
        if node.mem_id in started or any(around.mem_id in started for around in _ancestors(node)):
            continue
        started.add(node.mem_id)
        _start_section(collector, node, levels[node.mem_id], looks_before=True)


def _start_section(
    collector: PageCollector,
    node: LexborNode,
    level: int,
    *,
    is_term: bool = False,
    looks_before: bool = False,
) -> None:
    if len(collector.headings) == MOST_SECTIONS:
        return
    if collector.may_have_tooltips:
        _hide_tooltips(collector, node)
    anchor = _id_of(node) or _id_inside(node)
    if not is_term:
        anchor = anchor or _id_around(node) or _linked_id(node) or _id_of_headed(collector, node, level)
        if not anchor and looks_before:
            anchor = _name_of(node) or _id_before(node)
    if len(anchor) > LONGEST_ANCHOR or anchor.lower() == _TOP:
        anchor = ""
    if anchor or not is_term:
        collector.headings.append(Heading(node, level, anchor))


def _read_button(collector: PageCollector, node: LexborNode) -> None:
    """Hide a button in a heading ("Copy"), which is no part of its title."""
    parent = node.parent
    for _ in range(_DESCENDANT_LEVELS):
        if parent is not None and parent.tag_id in _LEVELS:
            collector.hidden.append(node)
            return
        parent = None if parent is None else parent.parent


SECTION_READERS: dict[int, Reader] = {**dict.fromkeys(_LEVELS, read_section), _BUTTON: _read_button}
"""Readers of elements that start a section, and of buttons in them."""


def text_and_sections(
    collector: PageCollector, limit: int, rule: ContentRule
) -> tuple[str, tuple[Section, ...], bool]:
    """Return the text of a page with white space folded, its sections, and whether it was cut at `limit` characters.

    The sections are in document order, without those that have no title. If a rule names what starts sections, titles
    and included elements are lines, and what is stripped from them is not in the text.
    """
    parts, pieces = collector.parts, list[str]()
    sections: list[Section] = []
    length = kept_from = 0
    strips, in_lines = rule.title_strips, bool(rule.levels)
    for section in collector.sections:
        title = section.title
        above = parts[kept_from : title.begin]
        if before := _lines(above, rule.text_strip) if in_lines else _folded(above):
            pieces.append(before)
            length += len(before) + 1
        written = _folded(parts[title.begin : title.end])
        words = written.strip(strips[section.level - 1])
        if in_lines:
            written = words = words.strip()
        if words:
            start = length + written.index(words)
            sections.append(Section(start, section.level, section.anchor, _shortened(words)))
        kept_from = title.begin  # headings may stand in headings
        if in_lines:  # those of a rule do not
            kept_from = len(parts) if title.end is None else title.end
            if words:
                pieces.append(words)
                length += len(words) + 1
    below = parts[kept_from:]
    if rest := _lines(below, rule.text_strip) if in_lines else _folded(below):
        pieces.append(rest)
    text, is_cut = limit_text(("\n" if in_lines else " ").join(pieces), limit)
    if is_cut:
        sections = [each for each in sections if each.matches_text(text)]
    return text, tuple(sections), is_cut


def _lines(parts: Sequence[str], strip: str) -> str:
    """Return the lines of a text, without those of which nothing is left."""
    folded = (" ".join(line.split()) for line in "".join(parts).split(LINE_END))
    return "\n".join(kept for line in folded if (kept := line.strip(strip).strip()))


def _folded(parts: Sequence[str]) -> str:
    return " ".join("".join(parts).split())


def _shortened(title: str) -> str:
    if len(title) <= LONGEST_TITLE:
        return title
    return title[: LONGEST_TITLE + 1].rpartition(" ")[0].rstrip() or title[:LONGEST_TITLE]


def _id_of(node: LexborNode) -> str:
    return node.id or (node.attributes.get("name") if node.tag_id == _A else "") or ""


def _id_inside(node: LexborNode) -> str:
    """Return the id of a child of a heading or term, or of the first descendants of its first child.

    Examples: `<h2><a name=x></a>A</h2>`, `<h2>A <a id=x></a></h2>`, `<dt><span><a id=x></a>A</span></dt>`.
    """
    first = None
    for child in node.iter():
        if child.tag_id != _BUTTON and (child_id := _id_of(child)):
            return child_id
        if first is None and child.tag_id != COMMENT:
            first = child
    for _ in range(_DESCENDANT_LEVELS):
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
    """Return the id of the element that starts with the heading, or of an empty anchor before it.

    The id of a `<section>` takes precedence over that of an anchor in it, which is an additional name.
    """
    anchor = ""
    for _ in range(_ANCESTOR_LEVELS):
        before = node.prev
        while before is not None:
            if not _is_blank(before):
                return anchor
            if not anchor and before.tag_id in _ANCHOR_TAGS:
                anchor = _id_of(before)
            before = before.prev
        parent = node.parent
        if parent is None or parent.tag_id == _BODY:
            break
        if (parent_id := parent.id) and (not anchor or parent.tag_id == _SECTION):
            return parent_id
        node = parent
    return anchor


def _id_of_headed(collector: PageCollector, node: LexborNode, level: int) -> str:
    """Return the id of the nearest element around a heading whose first heading it is; a main title needs none."""
    earlier = next((each.node for each in reversed(collector.headings) if each.level < TERM_LEVEL), None)
    if earlier is None or level == 1:
        return ""
    headed = {around.mem_id for around in _ancestors(earlier)}
    return next((around.id for around in _ancestors(node) if around.id and around.mem_id not in headed), "")


def _id_before(node: LexborNode) -> str:
    """Return the id or name of the nearest element beside and before an element, or around it.

    Those that begin with `_` are of frameworks, which have them around whole pages.
    """
    near: LexborNode | None = node
    elements = 0
    for _ in range(_NEAR):
        near = near.prev or near.parent if near is not None else None
        if near is None or near.tag_id in _WHOLE:
            break
        if not near.is_element_node:
            continue
        elements += 1
        is_mark = elements == 1 and not near.text().strip()  # `<p><a name=x></a></p>`
        if named := _name_of(near) or (_id_inside(near) if is_mark else ""):
            return named
    return ""


def _name_of(node: LexborNode) -> str:
    name = node.id or node.attributes.get("name") or ""
    return "" if name.startswith("_") else name


def _ancestors(node: LexborNode) -> Iterator[LexborNode]:
    """Yield the elements around a node, from the inside, that do not stand for the whole page."""
    parent = node.parent
    while parent is not None and parent.tag_id not in _WHOLE:
        yield parent
        parent = parent.parent


def _linked_id(node: LexborNode) -> str:
    """Return the fragment of the permalink in or beside a heading: `<a href="#x">#</a><h4>title</h4>`."""
    before, after = node.prev, node.next
    if before is not None and before.tag_id == TEXT and _is_blank(before):
        before = before.prev
    for near in (*node.iter(), before, after):
        if near is not None and near.tag_id == _A and not near.text().strip(PERMALINKS):
            href = near.attributes.get("href") or ""
            if href.startswith("#"):
                return unquote(href[1:])
    return ""


def _hide_tooltips(collector: PageCollector, node: LexborNode) -> None:
    """Hide the tooltips in a heading, which are no part of its title."""
    for child in node.iter():
        if child.tag_id in UNSEEN or child.tag_id == COMMENT:
            continue
        attributes = child.attributes
        if attributes.get("role") == "tooltip" or "tooltip" in (attributes.get("class") or ""):
            collector.hidden.append(child)
        else:
            _hide_tooltips(collector, child)


def _is_blank(node: LexborNode) -> bool:
    """Return whether a node has no content: a comment, white space, or an anchor without text."""
    if node.tag_id == TEXT:
        return not (node.text_content or "").strip()
    return node.tag_id == COMMENT or (node.tag_id in _ANCHOR_TAGS and not node.text().strip())
