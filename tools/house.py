"""Draw the dependency diagram docs/images/house.svg: subpackages in their layers, their members and their imports.

    python tools/house.py [--tree PATH] [--check]

The layers are those of the import contract in pyproject.toml, the arrows are the actual imports, also those for types
only; import cycles are red. With `--check` nothing is drawn: the exit status is 1 if the picture is out of date. Small
changes of sizes are tolerated, so that not every commit has to draw the picture.
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
from source_tree import SourceTree, cycles, sibling_cycles

PICTURE = Path("docs") / "images" / "house.svg"
SLACK = 0.1
"""Tolerated relative difference between a size in the picture and in the code."""

_NUMBER = re.compile(r"(?<=>)[\d,]+(?=</tspan>)")


@dataclass(frozen=True)
class Member:
    """A direct child of a subpackage: a folder or a module."""

    name: str
    modules: int
    is_folder: bool
    in_cycle: bool


@dataclass(frozen=True)
class Subpackage:
    """A direct child of the package."""

    name: str
    members: tuple[Member, ...]
    modules: int
    lines: int

    @property
    def in_cycles(self) -> int:
        """Number of members that are in a cycle, or contain one."""
        return sum(member.in_cycle for member in self.members)


@dataclass(frozen=True)
class Diagram:
    """The contents of the picture."""

    package: str
    layers: tuple[tuple[Subpackage, ...], ...]
    """The subpackages by layer, from the top."""
    arrows: frozenset[tuple[str, str]]
    """(importing, imported) subpackage."""
    red: frozenset[tuple[str, str]]
    """The arrows that point up, or are part of a cycle of subpackages."""


def main(arguments: list[str] | None = None) -> int:
    """Draw the picture, or check whether it is current."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, default=Path(__file__).resolve().parents[1], help="a checkout")
    parser.add_argument("--check", action="store_true", help="only check whether the picture is current")
    options = parser.parse_args(arguments)
    root = options.tree.resolve()
    picture, drawn = root / PICTURE, house_drawing.draw(diagram_of(root))
    if not options.check:
        picture.parent.mkdir(parents=True, exist_ok=True)
        picture.write_text(drawn, encoding="utf-8")
    elif not picture.exists() or not is_alike(picture.read_text(encoding="utf-8"), drawn):
        print(f"{PICTURE} is not what the code gives; draw it anew: python tools/house.py")
        return 1
    return 0


def is_alike(old: str, new: str) -> bool:
    """Return whether two pictures are the same, with small differences in sizes."""
    if _NUMBER.sub("", old) != _NUMBER.sub("", new):
        return False
    sizes = zip(_sizes(old), _sizes(new), strict=True)
    return all(abs(first - second) <= max(2, SLACK * max(first, second)) for first, second in sizes)


def diagram_of(root: Path) -> Diagram:
    """Return the diagram of a checkout."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    tree = SourceTree(root, settings["root_package"])
    siblings = sibling_cycles(tree.graph)
    subpackages = _subpackages(tree, _in_cycles(tree, siblings))
    layers = [
        [subpackages.pop(name) for name in layer if name in subpackages]
        for layer in _layers(settings, tree.package)
    ]
    layers.append([subpackages[name] for name in sorted(subpackages)])  # not in the contract
    arrows = frozenset(
        (tree.subpackage(name), tree.subpackage(other))
        for name, others in tree.graph.items()
        for other in others
        if {tree.package, f"{tree.package}.__main__"}.isdisjoint((name, other))
        and tree.subpackage(name) != tree.subpackage(other)
    )
    level = {subpackage.name: number for number, layer in enumerate(layers) for subpackage in layer}
    in_cycle = [set(cycle) for cycle in siblings.get(tree.package, ())]
    red = {
        arrow
        for arrow in arrows
        if level[arrow[0]] > level[arrow[1]] or any(map(set(arrow).issubset, in_cycle))
    }
    return Diagram(tree.package, tuple(tuple(layer) for layer in layers if layer), arrows, frozenset(red))


def _in_cycles(tree: SourceTree, siblings: Mapping[str, list[list[str]]]) -> set[str]:
    """Return the names that are in a cycle of modules, or of the children of a folder."""
    found = {name for cycle in cycles(tree.graph) for name in cycle}
    return found | {
        f"{folder}.{name}" for folder, cycles in siblings.items() for cycle in cycles for name in cycle
    }


def _layers(settings: Mapping[str, Any], package: str) -> list[list[str]]:
    """Return the subpackages by layer; one of which the contract names members is in the layer of the first."""
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
            subpackage = ".".join(name.split(".")[:2])
            if subpackage not in seen and (name == subpackage or subpackage not in whole):
                seen.add(subpackage)
                layers[-1].append(subpackage.partition(".")[2])
    return layers


def _subpackages(tree: SourceTree, in_cycles: set[str]) -> dict[str, Subpackage]:
    members: dict[str, list[str]] = defaultdict(list)
    for name in tree.modules:
        if name not in (tree.package, f"{tree.package}.__main__"):
            members[tree.subpackage(name)].append(name)
    return {
        subpackage: Subpackage(
            subpackage,
            _members(tree, names, in_cycles),
            len(names),
            sum(len(tree.modules[name].code) for name in names),
        )
        for subpackage, names in members.items()
    }


def _members(tree: SourceTree, names: list[str], in_cycles: set[str]) -> tuple[Member, ...]:
    """Return the members, folders before modules, each sorted by name."""
    members: Counter[str] = Counter()
    folders = set()
    for name in names:
        parts = name.split(".")
        if len(parts) > 2:
            members[parts[2]] += 1
            if len(parts) > 3 or tree.modules[name].is_package:
                folders.add(parts[2])
    above = f"{tree.package}.{tree.subpackage(names[0])}"
    red = {parts[2] for name in in_cycles if name.startswith(f"{above}.") and (parts := name.split("."))}
    found = (Member(name, count, name in folders, name in red) for name, count in members.items())
    return tuple(sorted(found, key=lambda member: (not member.is_folder, member.name)))


def _sizes(picture: str) -> list[int]:
    return [int(found.replace(",", "")) for found in _NUMBER.findall(picture)]


if __name__ == "__main__":
    sys.exit(main())
