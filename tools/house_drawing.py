"""The house as SVG: a row a wing, with its rooms at the left and its imports at the right, drawn as wires.

Each wing has a wire that starts at its row and runs to the wings that it imports; where it meets the line that leads
into a wing there is a dot. The wire of the topmost wing is the outermost, so that none crosses where another starts.
Where things stand depends on names only, never on sizes: those may change without the picture being another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from house import House, Room, Wing

WIDTH = 1000
MARGIN = 16
HEAD = 48
NAMES = 126
"""The width of the column with the names of wings."""
PITCH = 15
"""From one wire to the next."""
LINE, LETTER, GAP = 20, 6.7, 5
"""The height of a line of rooms, the width of a letter in it, and what is left free between two."""
LEAST = 50
"""The height of a row with one line of rooms."""
COLOURS = ("#3b82f6", "#16a34a", "#d97706", "#9333ea", "#0891b2", "#78716c")

STYLE = """
    text { font-family: -apple-system, "Segoe UI", "DejaVu Sans", Helvetica, Arial, sans-serif; fill: #1f2328; }
    .back { fill: #ffffff; stroke: #d1d9e0; }
    .layer { fill: #f6f8fa; stroke: #d1d9e0; }
    .wing { font-size: 15px; font-weight: 600; }
    .size, .title { font-size: 11px; fill: #59636e; }
    .room { font-size: 11px; font-family: ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", monospace; }
    .folder { fill: #ddf4ff; stroke: #54aeff; }
    .module { fill: none; stroke: #d1d9e0; }
    .wire { fill: none; stroke-width: 1.6; }
    .into { stroke: #8c959f; stroke-width: 1; fill: none; }
    .head { fill: #8c959f; }
    .ring { stroke: #e5484d; }
    text.red { fill: #d1242f; }
    .wire.red, .into.red { stroke: #e5484d; stroke-width: 2.2; }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc; }
      .back { fill: #0d1117; stroke: #3d444d; }
      .layer { fill: #151b23; stroke: #3d444d; }
      .size, .title { fill: #9198a1; }
      .folder { fill: #0c2d5a; stroke: #1f6feb; }
      .module { stroke: #3d444d; }
      .ring { stroke: #f85149; }
      text.red { fill: #ff7b72; }
    }
"""


@dataclass(frozen=True)
class Row:
    """A wing and where it is drawn."""

    wing: Wing
    top: float
    height: float
    wire: float
    """Where its wire runs, from the left."""
    colour: str

    @property
    def into(self) -> float:
        """The height of the line that leads into it."""
        return self.top + self.height / 2 - 7

    @property
    def out(self) -> float:
        """The height at which its wire starts."""
        return self.top + self.height / 2 + 7


def draw(house: House) -> str:
    """Return the picture of a house."""
    rows = _rows(house)
    edge = _edge(house)
    bottom = rows[-1].top + rows[-1].height if rows else HEAD
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {_n(bottom + MARGIN + 26)}" role="img"',
        f'     aria-label="The wings of {escape(house.package)} in their layers, and which imports which">',
        f"  <style>{STYLE}  </style>",
        f'  <rect class="back" x="0.5" y="0.5" width="{WIDTH - 1}" height="{_n(bottom + MARGIN + 25)}" rx="8"/>',
        f'  <text class="wing" x="{MARGIN}" y="30">{escape(house.package)}</text>',
        f'  <text class="title" x="{MARGIN + NAMES + 10}" y="30">a wing a row, with its rooms; '
        "a row imports only from rows below</text>",
        f'  <text class="title" x="{WIDTH - MARGIN}" y="30" text-anchor="end">who imports whom</text>',
    ]
    parts += _bands(house, rows, edge)
    parts += [line for row in rows for line in _wing(row, edge)]
    parts += _wires(house, rows, edge)
    parts.append(
        f'  <text class="title" x="{MARGIN}" y="{_n(bottom + MARGIN + 8)}">'
        "A wire runs from a wing to those it imports, with a dot at each. Sizes are modules and lines of code. "
        "Red: a ring of imports, or one that points up.</text>"
    )
    return "\n".join([*parts, "</svg>", ""])


def _rows(house: House) -> list[Row]:
    wings = [wing for layer in house.layers for wing in layer]
    starts = {layer[0].name for layer in house.layers}
    edge, rows, top = _edge(house), list[Row](), float(HEAD)
    for number, wing in enumerate(wings):
        if number and wing.name in starts:
            top += 8
        least = LEAST + 14.0 if wing.in_rings else float(LEAST)
        height = max(least, LINE * len(_shelves(wing.rooms, edge)) + 14.0)
        wire = edge + 26 + PITCH * (len(wings) - 1 - number)
        rows.append(Row(wing, top, height, wire, COLOURS[number % len(COLOURS)]))
        top += height
    return rows


def _edge(house: House) -> float:
    """Return where the rows end and the wires begin."""
    return WIDTH - MARGIN - 26 - PITCH * sum(map(len, house.layers))


def _bands(house: House, rows: Sequence[Row], edge: float) -> Iterator[str]:
    by_name = {row.wing.name: row for row in rows}
    for layer in house.layers:
        first, last = by_name[layer[0].name], by_name[layer[-1].name]
        yield (
            f'  <rect class="layer" x="{MARGIN}" y="{_n(first.top)}" width="{_n(edge - MARGIN)}" '
            f'height="{_n(last.top + last.height - first.top)}" rx="6"/>'
        )
        for wing in layer[1:]:
            top = _n(by_name[wing.name].top)
            yield f'  <path class="layer" d="M{MARGIN} {top}H{_n(edge)}"/>'


def _wing(row: Row, edge: float) -> Iterator[str]:
    wing, middle = row.wing, row.top + row.height / 2
    lift = 7 if wing.in_rings else 0
    yield f'  <rect x="{MARGIN}" y="{_n(row.top + 6)}" width="4" height="{_n(row.height - 12)}" fill="{row.colour}"/>'
    yield f'  <text class="wing" x="{MARGIN + 12}" y="{_n(middle - 2 - lift)}">{escape(wing.name)}</text>'
    yield (
        f'  <text class="size" x="{MARGIN + 12}" y="{_n(middle + 14 - lift)}">'
        f"{_count(wing.modules)} · {_count(_rounded(wing.lines))} lines</text>"
    )
    if wing.in_rings:
        yield (
            f'  <text class="size red" x="{MARGIN + 12}" y="{_n(middle + 28 - lift)}">'
            f"rings: {_count(wing.in_rings)} rooms</text>"
        )
    shelves = _shelves(wing.rooms, edge)
    top = middle - LINE * len(shelves) / 2
    for number, shelf in enumerate(shelves):
        for room, left, width in shelf:
            yield from _room(room, left, top + LINE * number, width)


def _room(room: Room, left: float, top: float, width: float) -> Iterator[str]:
    kind = "folder" if room.is_folder else "module"
    red = " ring" if room.in_ring else ""
    yield (
        f'  <rect class="{kind}{red}" x="{_n(left)}" y="{_n(top + 1.5)}" width="{_n(width)}" '
        f'height="{LINE - 3}" rx="{4 if room.is_folder else 8}"/>'
    )
    inner = f' <tspan class="size">{room.modules}</tspan>' if room.is_folder else ""
    yield f'  <text class="room" x="{_n(left + 6)}" y="{_n(top + 14)}">{escape(room.name)}{inner}</text>'


def _shelves(rooms: Sequence[Room], edge: float) -> list[list[tuple[Room, float, float]]]:
    """Return the rooms line by line, each with its left side and its width."""
    start = MARGIN + NAMES + 10.0
    shelves: list[list[tuple[Room, float, float]]] = [[]]
    left = start
    for room in rooms:
        width = LETTER * (len(room.name) + (3 if room.is_folder else 0)) + 12
        if left > start and left + width > edge - 8:
            shelves.append([])
            left = start
        shelves[-1].append((room, left, width))
        left += width + GAP
    return shelves


def _wires(house: House, rows: Sequence[Row], edge: float) -> Iterator[str]:
    by_name = {row.wing.name: row for row in rows}
    for row in rows:
        sources = [by_name[wing] for wing, other in sorted(house.arrows) if other == row.wing.name]
        if sources:
            end = max(source.wire for source in sources)
            yield f'  <path class="into" d="M{_n(edge + 6)} {_n(row.into)}H{_n(end)}"/>'
            yield f'  <path class="head" d="M{_n(edge + 1)} {_n(row.into)}l8 -4v8z"/>'
    for red in (False, True):
        for row in rows:
            yield from _wire(house, row, by_name, edge, red=red)


def _wire(house: House, row: Row, by_name: dict[str, Row], edge: float, *, red: bool) -> Iterator[str]:
    """Draw the wire of a wing, first what is as it should be, then what is red above it."""
    arrows = sorted(
        arrow for arrow in house.arrows if arrow[0] == row.wing.name and (arrow in house.red) is red
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
    """Return a number with its two leading digits."""
    return int(float(f"{number:.2g}"))


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
