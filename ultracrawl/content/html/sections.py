"""The sections of a page: its headings and terms with an id, and their positions in the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from selectolax.lexbor import LexborNode

from ultracrawl.content.html.collector import LINE_END, MOST_SECTIONS, Heading, PageCollector
from ultracrawl.content.html.fragments import MarkFinder, elements_around, id_of, is_usable
from ultracrawl.content.html.links import Reader
from ultracrawl.content.html.main_content import ContentRule
from ultracrawl.content.html.tags import COMMENT, TEXT, UNSEEN, tag_number
from ultracrawl.content.limits import limit_text
from ultracrawl.model.page import PERMALINKS, SECTION_LEVELS, Section

LONGEST_TITLE = 200
TERM_LEVEL = SECTION_LEVELS
"""The level of terms (`dt`), below all headings."""
_LEVELS = {tag_number(f"h{level}"): level for level in range(1, TERM_LEVEL)} | {tag_number("dt"): TERM_LEVEL}

_DESCENDANT_LEVELS = 2
"""Levels below a heading that are searched for an id."""
_NEAR = 100
"""Nodes before and around a heading that are looked at for an id, so that no page takes quadratic time."""
_WHOLE = frozenset(map(tag_number, ("html", "body", "main")))
"""Elements that stand for the whole page."""
_BUTTON = tag_number("button")
_A = tag_number("a")


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
        _start_section(collector, node, levels[node.mem_id])


def _start_section(collector: PageCollector, node: LexborNode, level: int, *, is_term: bool = False) -> None:
    if collector.may_have_tooltips:
        _hide_tooltips(collector, node)
    anchor = id_of(node) or _id_inside(node)
    collector.headings.append(Heading(node, level, anchor if is_usable(anchor) else "", is_term=is_term))


def find_anchors(collector: PageCollector, root: LexborNode, *, by_rule: bool) -> None:
    """Give sections without an id of their own their anchors, and add the parts without a heading.

    `by_rule`: a rule says what starts sections, so that nothing else does.
    """
    started = collector.headings
    hidden = {node.mem_id for node in collector.hidden}
    finder = MarkFinder(
        root, collector.url, {each.node.mem_id: bool(each.anchor) for each in started}, hidden
    )
    looking = (each.node for each in started if not (each.anchor or each.is_term))
    anchors, parts = finder.find({number for node in looking for number in elements_around(node)})
    kept: list[Heading] = []
    earlier: LexborNode | None = None
    for heading in started:
        node, anchor = heading.node, heading.anchor or anchors.get(heading.node.mem_id, "")
        if not heading.is_term:
            anchor = anchor or _linked_id(node) or _id_of_headed(earlier, node, heading.level)
            if not anchor and by_rule:
                anchor = _name_of(node) or _id_before(node)
            earlier = node
        if anchor or not heading.is_term:
            kept.append(heading._replace(anchor=anchor if is_usable(anchor) else ""))
    if not by_rule:
        kept += (Heading(part.node, TERM_LEVEL, part.anchor, name=part.name) for part in parts)
    collector.headings = kept[:MOST_SECTIONS]


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
        if section.name:
            sections.append(Section(length, section.level, section.anchor, _shortened(section.name)))
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
        sections = [each for each in sections if each.offset + len(each.title) <= len(text)]
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


def _id_inside(node: LexborNode) -> str:
    """Return the id of a child of a heading or term, or of the first descendants of its first child.

    Examples: `<h2><a name=x></a>A</h2>`, `<h2>A <a id=x></a></h2>`, `<dt><span><a id=x></a>A</span></dt>`.
    """
    first = None
    for child in node.iter():
        if child.tag_id != _BUTTON and (child_id := id_of(child)):
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


def _id_of_headed(earlier: LexborNode | None, node: LexborNode, level: int) -> str:
    """Return the id of the nearest element around a heading whose first heading it is; a main title needs none."""
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
    if before is not None and before.tag_id == TEXT and not (before.text_content or "").strip():
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
