"""The picture shows the house of the contract and the imports that are there, and tells when it is old."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import house
import pytest

CONTRACT = """
    [tool.importlinter]
    root_package = "ultracrawl"

    [[tool.importlinter.contracts]]
    name = "Another"
    type = "forbidden"

    [[tool.importlinter.contracts]]
    name = "Layers"
    type = "layers"
    layers = ["ultracrawl.high", "ultracrawl.left | ultracrawl.right", "ultracrawl.low.deep", "ultracrawl.low"]
    """
FILES = {
    "pyproject.toml": CONTRACT,
    "ultracrawl/__init__.py": "VERSION = 1",
    "ultracrawl/__main__.py": "import ultracrawl.high",
    "ultracrawl/high.py": "from ultracrawl import VERSION\nfrom ultracrawl.left import one",
    "ultracrawl/left/__init__.py": "",
    "ultracrawl/left/one.py": "from ultracrawl.low.deep import thing",
    "ultracrawl/right/__init__.py": "",
    "ultracrawl/low/__init__.py": "",
    "ultracrawl/low/alone.py": "",
    "ultracrawl/low/deep/__init__.py": "",
    "ultracrawl/low/deep/thing.py": "X = 1",
}


@pytest.fixture
def root(grow) -> Path:
    return grow(FILES).root


def write(root, name, text):
    path = root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def layers(root):
    return [[subpackage.name for subpackage in layer] for layer in house.diagram_of(root).layers]


def test_subpackages_stand_in_the_layers_of_the_contract(root):
    assert layers(root) == [["high"], ["left", "right"], ["low"]]


def test_a_subpackage_of_which_the_contract_does_not_speak_is_shown_at_the_bottom(root):
    write(root, "ultracrawl/new.py", "")
    assert layers(root) == [["high"], ["left", "right"], ["low"], ["new"]]


def test_a_subpackage_that_is_named_by_its_members_only_stands_where_the_first_does(root):
    text = (root / "pyproject.toml").read_text(encoding="utf-8").replace(', "ultracrawl.low"]', "]")
    write(root, "pyproject.toml", text)
    assert layers(root) == [["high"], ["left", "right"], ["low"]]


def test_layers_may_be_named_below_a_container(root):
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    named, _, _ = text.rpartition("layers =")
    write(root, "pyproject.toml", f'{named}containers = ["ultracrawl"]\nlayers = ["low", "(high)"]\n')
    assert layers(root) == [["low"], ["high"], ["left", "right"]]


def test_members_have_their_modules_counted_folders_first(root):
    subpackage = house.diagram_of(root).layers[2][0]
    assert (subpackage.modules, subpackage.lines) == (4, 1)
    assert subpackage.members == (
        house.Member("deep", 2, True, False),
        house.Member("alone", 1, False, False),
    )


def test_arrows_are_imports_between_subpackages(root):
    shown = house.diagram_of(root)
    assert shown.arrows == {("high", "left"), ("left", "low")}
    assert shown.red == frozenset()


def test_an_arrow_that_points_up_is_red(root):
    write(root, "ultracrawl/low/alone.py", "import ultracrawl.right")
    assert house.diagram_of(root).red == {("low", "right")}


def test_a_cycle_of_subpackages_is_red_also_where_no_module_imports_itself(root):
    write(root, "ultracrawl/low/alone.py", "def late():\n    from ..left import other")
    write(root, "ultracrawl/left/other.py", "")
    shown = house.diagram_of(root)
    assert shown.red == {("left", "low"), ("low", "left")}
    assert all(subpackage.in_cycles == 0 for layer in shown.layers for subpackage in layer)


def test_a_cycle_in_a_subpackage_is_shown_in_its_rooms(root):
    write(root, "ultracrawl/low/alone.py", "import ultracrawl.low.deep.thing")
    write(root, "ultracrawl/low/deep/thing.py", "import ultracrawl.low.alone")
    subpackage = house.diagram_of(root).layers[2][0]
    assert subpackage.in_cycles == 2
    assert [member.name for member in subpackage.members if member.in_cycle] == ["deep", "alone"]
    house.main(["--tree", str(root)])
    drawn = (root / house.PICTURE).read_text(encoding="utf-8")
    assert drawn.count('class="folder cycle"') == drawn.count('class="module cycle"') == 1


def test_members_in_a_cycle_are_shown_also_where_no_module_imports_itself(root):
    for name, text in {
        "ultracrawl/low/a/one.py": "import ultracrawl.low.deep.thing",
        "ultracrawl/low/a/two.py": "",
        "ultracrawl/low/deep/other.py": "import ultracrawl.low.a.two",
    }.items():
        write(root, name, text)
    members = house.diagram_of(root).layers[2][0].members
    assert [member.name for member in members if member.in_cycle] == ["a", "deep"]


def test_the_picture_is_the_same_whoever_draws_it(root):
    pictures = set()
    for seed in ("1", "2"):
        subprocess.run(
            [sys.executable, house.__file__, "--tree", str(root)], check=True, env={"PYTHONHASHSEED": seed}
        )
        pictures.add((root / house.PICTURE).read_text(encoding="utf-8"))
    assert len(pictures) == 1
    texts = [
        "".join(text.itertext())
        for text in ET.fromstring(pictures.pop()).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert {"ultracrawl", "high", "left", "right", "low", "deep 2", "alone", "4 · 1 lines"} <= set(texts)


CHANGES = {
    "a member": ("ultracrawl/left/two.py", ""),
    "a subpackage": ("ultracrawl/new.py", ""),
    "an arrow": ("ultracrawl/right/__init__.py", "import ultracrawl.low"),
    "much code": ("ultracrawl/right/__init__.py", "X = 1\n" * 3),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_picture_of_another_house_is_refused(root, change, capsys):
    house.main(["--tree", str(root)])
    assert house.main(["--tree", str(root), "--check"]) == 0
    write(root, *CHANGES[change])
    assert house.main(["--tree", str(root), "--check"]) == 1
    assert "draw it anew: python tools/house.py" in capsys.readouterr().out
    house.main(["--tree", str(root)])
    assert house.main(["--tree", str(root), "--check"]) == 0


def test_sizes_may_move_a_little(root):
    write(root, "ultracrawl/right/__init__.py", "X = 1\n" * 50)
    house.main(["--tree", str(root)])
    write(root, "ultracrawl/right/__init__.py", "X = 1\n" * 54)
    assert house.main(["--tree", str(root), "--check"]) == 0
    write(root, "ultracrawl/right/__init__.py", "X = 1\n" * 60)
    assert house.main(["--tree", str(root), "--check"]) == 1


def test_no_picture_is_refused(root):
    assert house.main(["--tree", str(root), "--check"]) == 1
