"""Draws the dependency diagram as SVG: one row per subpackage, with its members on the left, its imports on the right.

Each subpackage has a wire from its row to the subpackages that it imports, with a dot at each of them. The wire of the
topmost subpackage is the outermost, so that no wire crosses the start of another. The layout depends on names only, not
on sizes, so that a change of sizes does not change the picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from house import Diagram, Member, Subpackage

WIDTH = 1000
MARGIN = 16
HEAD = 48
NAMES = 126
"""Width of the column with the names of subpackages."""
PITCH = 15
"""Distance between two wires."""
LINE, LETTER, GAP = 20, 6.7, 5
"""Height of a line of members, width of a letter in it, gap between two members."""
LEAST = 50
"""Minimum height of a row."""
COLOURS = ("#3b82f6", "#16a34a", "#d97706", "#9333ea", "#0891b2", "#78716c")

STYLE = """
    text { font-family: -apple-system, "Segoe UI", "DejaVu Sans", Helvetica, Arial, sans-serif; fill: #1f2328; }
    .back { fill: #ffffff; stroke: #d1d9e0; }
    .layer { fill: #f6f8fa; stroke: #d1d9e0; }
    .subpackage { font-size: 15px; font-weight: 600; }
    .size, .title { font-size: 11px; fill: #59636e; }
    .member { font-size: 11px; font-family: ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", monospace; }
    .folder { fill: #ddf4ff; stroke: #54aeff; }
    .module { fill: none; stroke: #d1d9e0; }
    .wire { fill: none; stroke-width: 1.6; }
    .into { stroke: #8c959f; stroke-width: 1; fill: none; }
    .head { fill: #8c959f; }
    .cycle { stroke: #e5484d; }
    text.red { fill: #d1242f; }
    .wire.red, .into.red { stroke: #e5484d; stroke-width: 2.2; }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc; }
      .back { fill: #0d1117; stroke: #3d444d; }
      .layer { fill: #151b23; stroke: #3d444d; }
      .size, .title { fill: #9198a1; }
      .folder { fill: #0c2d5a; stroke: #1f6feb; }
      .module { stroke: #3d444d; }
      .cycle { stroke: #f85149; }
      text.red { fill: #ff7b72; }
    }
"""


@dataclass(frozen=True)
class Row:
    """A subpackage and its position."""

    subpackage: Subpackage
    top: float
    height: float
    wire: float
    """x of its wire."""
    colour: str

    @property
    def into(self) -> float:
        """Y of the line that leads into it."""
        return self.top + self.height / 2 - 7

    @property
    def out(self) -> float:
        """Y of the start of its wire."""
        return self.top + self.height / 2 + 7


def draw(diagram: Diagram) -> str:
    """Return the SVG of a diagram."""
    rows = _rows(diagram)
    edge = _edge(diagram)
    bottom = rows[-1].top + rows[-1].height if rows else HEAD
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {_n(bottom + MARGIN + 26)}" role="img"',
        f'     aria-label="The subpackages of {escape(diagram.package)} in their layers, and which imports which">',
        f"  <style>{STYLE}  </style>",
        f'  <rect class="back" x="0.5" y="0.5" width="{WIDTH - 1}" height="{_n(bottom + MARGIN + 25)}" rx="8"/>',
        f'  <text class="subpackage" x="{MARGIN}" y="30">{escape(diagram.package)}</text>',
        f'  <text class="title" x="{MARGIN + NAMES + 10}" y="30">one row per subpackage, with its members; '
        "a row imports only from rows below</text>",
        f'  <text class="title" x="{WIDTH - MARGIN}" y="30" text-anchor="end">imports</text>',
    ]
    parts += _bands(diagram, rows, edge)
    parts += [line for row in rows for line in _draw_subpackage(row, edge)]
    parts += _wires(diagram, rows, edge)
    parts.append(
        f'  <text class="title" x="{MARGIN}" y="{_n(bottom + MARGIN + 8)}">'
        "A wire runs from a subpackage to those it imports, with a dot at each. Sizes are modules and lines of code. "
        "Red: an import cycle, or an import that points up.</text>"
    )
    return "\n".join([*parts, "</svg>", ""])


def _rows(diagram: Diagram) -> list[Row]:
    subpackages = [subpackage for layer in diagram.layers for subpackage in layer]
    starts = {layer[0].name for layer in diagram.layers}
    edge, rows, top = _edge(diagram), list[Row](), float(HEAD)
    for number, subpackage in enumerate(subpackages):
        if number and subpackage.name in starts:
            top += 8
        least = LEAST + 14.0 if subpackage.in_cycles else float(LEAST)
        height = max(least, LINE * len(_shelves(subpackage.members, edge)) + 14.0)
        wire = edge + 26 + PITCH * (len(subpackages) - 1 - number)
        rows.append(Row(subpackage, top, height, wire, COLOURS[number % len(COLOURS)]))
        top += height
    return rows


def _edge(diagram: Diagram) -> float:
    """Return x of the end of the rows, where the wires begin."""
    return WIDTH - MARGIN - 26 - PITCH * sum(map(len, diagram.layers))


def _bands(diagram: Diagram, rows: Sequence[Row], edge: float) -> Iterator[str]:
    by_name = {row.subpackage.name: row for row in rows}
    for layer in diagram.layers:
        first, last = by_name[layer[0].name], by_name[layer[-1].name]
        yield (
            f'  <rect class="layer" x="{MARGIN}" y="{_n(first.top)}" width="{_n(edge - MARGIN)}" '
            f'height="{_n(last.top + last.height - first.top)}" rx="6"/>'
        )
        for subpackage in layer[1:]:
            top = _n(by_name[subpackage.name].top)
            yield f'  <path class="layer" d="M{MARGIN} {top}H{_n(edge)}"/>'


def _draw_subpackage(row: Row, edge: float) -> Iterator[str]:
    subpackage, middle = row.subpackage, row.top + row.height / 2
    lift = 7 if subpackage.in_cycles else 0
    yield f'  <rect x="{MARGIN}" y="{_n(row.top + 6)}" width="4" height="{_n(row.height - 12)}" fill="{row.colour}"/>'
    yield f'  <text class="subpackage" x="{MARGIN + 12}" y="{_n(middle - 2 - lift)}">{escape(subpackage.name)}</text>'
    yield (
        f'  <text class="size" x="{MARGIN + 12}" y="{_n(middle + 14 - lift)}">'
        f"{_count(subpackage.modules)} · {_count(_rounded(subpackage.lines))} lines</text>"
    )
    if subpackage.in_cycles:
        yield (
            f'  <text class="size red" x="{MARGIN + 12}" y="{_n(middle + 28 - lift)}">'
            f"cycles: {_count(subpackage.in_cycles)} members</text>"
        )
    shelves = _shelves(subpackage.members, edge)
    top = middle - LINE * len(shelves) / 2
    for number, shelf in enumerate(shelves):
        for member, left, width in shelf:
            yield from _draw_member(member, left, top + LINE * number, width)


def _draw_member(member: Member, left: float, top: float, width: float) -> Iterator[str]:
    kind = "folder" if member.is_folder else "module"
    red = " cycle" if member.in_cycle else ""
    yield (
        f'  <rect class="{kind}{red}" x="{_n(left)}" y="{_n(top + 1.5)}" width="{_n(width)}" '
        f'height="{LINE - 3}" rx="{4 if member.is_folder else 8}"/>'
    )
    inner = f' <tspan class="size">{member.modules}</tspan>' if member.is_folder else ""
    yield f'  <text class="member" x="{_n(left + 6)}" y="{_n(top + 14)}">{escape(member.name)}{inner}</text>'


def _shelves(members: Sequence[Member], edge: float) -> list[list[tuple[Member, float, float]]]:
    """Return the members by line, each with x and width."""
    start = MARGIN + NAMES + 10.0
    shelves: list[list[tuple[Member, float, float]]] = [[]]
    left = start
    for member in members:
        width = LETTER * (len(member.name) + (3 if member.is_folder else 0)) + 12
        if left > start and left + width > edge - 8:
            shelves.append([])
            left = start
        shelves[-1].append((member, left, width))
        left += width + GAP
    return shelves


def _wires(diagram: Diagram, rows: Sequence[Row], edge: float) -> Iterator[str]:
    by_name = {row.subpackage.name: row for row in rows}
    for row in rows:
        sources = [
            by_name[subpackage]
            for subpackage, other in sorted(diagram.arrows)
            if other == row.subpackage.name
        ]
        if sources:
            end = max(source.wire for source in sources)
            yield f'  <path class="into" d="M{_n(edge + 6)} {_n(row.into)}H{_n(end)}"/>'
            yield f'  <path class="head" d="M{_n(edge + 1)} {_n(row.into)}l8 -4v8z"/>'
    for red in (False, True):
        for row in rows:
            yield from _wire(diagram, row, by_name, edge, red=red)


def _wire(diagram: Diagram, row: Row, by_name: dict[str, Row], edge: float, *, red: bool) -> Iterator[str]:
    """Draw the wire of a subpackage: either the regular part, or the red one."""
    arrows = sorted(
        arrow for arrow in diagram.arrows if arrow[0] == row.subpackage.name and (arrow in diagram.red) is red
    )
    if not arrows:
        return
    ends = [by_name[other].into for _, other in arrows]
    kind, colour = ("wire red", "") if red else ("wire", f' stroke="{row.colour}"')
    highest, lowest = min([row.out, *ends]), max([row.out, *ends])
    yield (
        f'  <path class="{kind}"{colour} d="M{_n(edge)} {_n(row.out)}H{_n(row.wire)}'
        f'M{_n(row.wire)} {_n(highest)}V{_n(lowest)}"/>'
    )
    for end in ends:
        fill = "#e5484d" if red else row.colour
        yield f'  <circle cx="{_n(row.wire)}" cy="{_n(end)}" r="3.4" fill="{fill}"/>'


def _count(number: int) -> str:
    return f"<tspan>{number:,}</tspan>"


def _rounded(number: int) -> int:
    """Round a number to two significant digits."""
    return int(float(f"{number:.2g}"))


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
