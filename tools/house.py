"""Draw the house: the wings of the package in their layers, their rooms, and which wing imports which.

    python tools/house.py [--tree PATH] [--check]

The picture is docs/images/house.svg. The layers are those of the contract in pyproject.toml, the arrows are the imports
that are there, those for types included; what imports each other in a ring is red. With `--check` nothing is drawn: the
exit status is 1 if the picture shows another house. Sizes may have moved a little, so that not every change draws anew.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import house_drawing
from source_tree import SourceTree, rings, sibling_rings

PICTURE = Path("docs") / "images" / "house.svg"
SLACK = 0.1
"""By how much of itself a size in the picture may be another than that of the code."""

_NUMBER = re.compile(r"(?<=>)[\d,]+(?=</tspan>)")


@dataclass(frozen=True)
class Room:
    """A name in a wing: a folder, or a module that stands alone."""

    name: str
    modules: int
    is_folder: bool
    in_ring: bool


@dataclass(frozen=True)
class Wing:
    """A name below the package."""

    name: str
    rooms: tuple[Room, ...]
    modules: int
    lines: int

    @property
    def in_rings(self) -> int:
        """How many of its rooms are in a ring, or have one in them."""
        return sum(room.in_ring for room in self.rooms)


@dataclass(frozen=True)
class House:
    """What the picture shows."""

    package: str
    layers: tuple[tuple[Wing, ...], ...]
    """The wings, from the top; those of one layer side by side."""
    arrows: frozenset[tuple[str, str]]
    """Which wing imports which."""
    red: frozenset[tuple[str, str]]
    """The arrows that point up, or belong to a ring of wings."""


def main(arguments: list[str] | None = None) -> int:
    """Draw the picture, or check whether it is true."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, default=Path(__file__).resolve().parents[1], help="a checkout")
    parser.add_argument("--check", action="store_true", help="only say whether the picture is true")
    options = parser.parse_args(arguments)
    root = options.tree.resolve()
    picture, drawn = root / PICTURE, house_drawing.draw(house_of(root))
    if not options.check:
        picture.parent.mkdir(parents=True, exist_ok=True)
        picture.write_text(drawn, encoding="utf-8")
    elif not picture.exists() or not is_alike(picture.read_text(encoding="utf-8"), drawn):
        print(f"{PICTURE} is not what the code gives; draw it anew: python tools/house.py")
        return 1
    return 0


def is_alike(one: str, other: str) -> bool:
    """Whether two pictures show the same house, sizes being about the same."""
    if _NUMBER.sub("", one) != _NUMBER.sub("", other):
        return False
    sizes = zip(_sizes(one), _sizes(other), strict=True)
    return all(abs(first - second) <= max(2, SLACK * max(first, second)) for first, second in sizes)


def house_of(root: Path) -> House:
    """Return the house of a checkout."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    tree = SourceTree(root, settings["root_package"])
    siblings = sibling_rings(tree.graph)
    wings = _wings(tree, _in_rings(tree, siblings))
    layers = [
        [wings.pop(name) for name in layer if name in wings] for layer in _layers(settings, tree.package)
    ]
    layers.append([wings[name] for name in sorted(wings)])  # of which the contract does not speak
    arrows = frozenset(
        (tree.wing(name), tree.wing(other))
        for name, others in tree.graph.items()
        for other in others
        if {tree.package, f"{tree.package}.__main__"}.isdisjoint((name, other))
        and tree.wing(name) != tree.wing(other)
    )
    level = {wing.name: number for number, layer in enumerate(layers) for wing in layer}
    in_ring = [set(ring) for ring in siblings.get(tree.package, ())]
    red = {
        arrow
        for arrow in arrows
        if level[arrow[0]] > level[arrow[1]] or any(map(set(arrow).issubset, in_ring))
    }
    return House(tree.package, tuple(tuple(layer) for layer in layers if layer), arrows, frozenset(red))


def _in_rings(tree: SourceTree, siblings: Mapping[str, list[list[str]]]) -> set[str]:
    """Return the names that are in a ring of modules, or of the names in a folder."""
    found = {name for ring in rings(tree.graph) for name in ring}
    return found | {
        f"{folder}.{name}" for folder, circles in siblings.items() for ring in circles for name in ring
    }


def _layers(settings: Mapping[str, Any], package: str) -> list[list[str]]:
    """Return the names of wings by layer; of a wing whose rooms the contract names apart, the first counts."""
    contract: Mapping[str, Any] = next(
        (one for one in settings.get("contracts", ()) if one["type"] == "layers"), {"layers": []}
    )
    prefix = next((f"{container}." for container in contract.get("containers", ())), "")
    named = [[f"{prefix}{name}" for name in re.findall(r"[\w.]+", layer)] for layer in contract["layers"]]
    whole = {name for layer in named for name in layer if name.count(".") == 1}
    layers: list[list[str]] = []
    seen = {package}
    for layer in named:
        layers.append([])
        for name in layer:
            wing = ".".join(name.split(".")[:2])
            if wing not in seen and (name == wing or wing not in whole):
                seen.add(wing)
                layers[-1].append(wing.partition(".")[2])
    return layers


def _wings(tree: SourceTree, in_rings: set[str]) -> dict[str, Wing]:
    members: dict[str, list[str]] = defaultdict(list)
    for name in tree.modules:
        if name not in (tree.package, f"{tree.package}.__main__"):
            members[tree.wing(name)].append(name)
    return {
        wing: Wing(
            wing,
            _rooms(tree, names, in_rings),
            len(names),
            sum(len(tree.modules[name].code) for name in names),
        )
        for wing, names in members.items()
    }


def _rooms(tree: SourceTree, names: list[str], in_rings: set[str]) -> tuple[Room, ...]:
    """Return folders before modules, each by the alphabet."""
    rooms: Counter[str] = Counter()
    folders = set()
    for name in names:
        parts = name.split(".")
        if len(parts) > 2:
            rooms[parts[2]] += 1
            if len(parts) > 3 or tree.modules[name].is_package:
                folders.add(parts[2])
    above = f"{tree.package}.{tree.wing(names[0])}"
    red = {parts[2] for name in in_rings if name.startswith(f"{above}.") and (parts := name.split("."))}
    found = (Room(name, count, name in folders, name in red) for name, count in rooms.items())
    return tuple(sorted(found, key=lambda room: (not room.is_folder, room.name)))


def _sizes(picture: str) -> list[int]:
    return [int(found.replace(",", "")) for found in _NUMBER.findall(picture)]


if __name__ == "__main__":
    sys.exit(main())
