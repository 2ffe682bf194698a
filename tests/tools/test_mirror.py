"""The numbers of the mirror, on trees that are small enough to count by hand."""

from __future__ import annotations

import json

import mirror
import pytest


def test_cycles_are_listed_with_their_modules(grow):
    tree = grow(
        {
            "ultracrawl/a.py": "import ultracrawl.b",
            "ultracrawl/b.py": "def late():\n    from . import a",
            "ultracrawl/c.py": "from ultracrawl import a",
        }
    )
    numbers = mirror.mirror(tree.root)["cycles"]
    assert numbers["modules in cycles"] == 2
    assert numbers["cycles"] == ["2: ultracrawl.a, ultracrawl.b"]


def test_siblings_in_a_cycle_are_listed_by_their_folder_also_if_no_module_is_in_one(grow):
    tree = grow(
        {
            "ultracrawl/folder/a/one.py": "import ultracrawl.folder.b.one",
            "ultracrawl/folder/a/two.py": "",
            "ultracrawl/folder/b/one.py": "",
            "ultracrawl/folder/b/two.py": "import ultracrawl.folder.a.two",
            "ultracrawl/folder/c.py": "import ultracrawl.folder.a.one",
        }
    )
    numbers = mirror.mirror(tree.root)["cycles"]
    assert numbers["modules in cycles"] == 0
    assert numbers["folders with cycles of siblings"] == ["ultracrawl.folder: a, b"]


def test_the_hub_is_counted_by_who_touches_its_names(grow):
    tree = grow(
        {
            "ultracrawl/run/hall.py": """
                class MiddleHall:
                    opened = False

                    def __init__(self):
                        self.door = self._own = 1

                    def ring(self): ...
                """,
            "ultracrawl/run/one.py": """
                class One:
                    def __init__(self, hall):
                        self._hall = hall
                        hall.ring()

                    def use(self):
                        return self._hall.door, self._hall.door, self._hall.unknown
                """,
            "ultracrawl/other/two.py": """
                def use(it: MiddleHall | None, other):
                    return it.opened, other.opened
                """,
            "ultracrawl/other/three.py": "def use(door): return door.ring()",
        }
    )
    numbers = mirror.mirror(tree.root, "MiddleHall")["hub"]
    assert numbers == {
        "widest class": "ultracrawl.run.hall.MiddleHall",
        "attributes of the widest class": 3,
        "class": "MiddleHall",
        "attributes": 3,
        "names touched from outside": 3,
        "files that touch it": 2,
        "touches": 4,
        "touches by subpackage": ["3 ultracrawl.run", "1 ultracrawl.other"],
    }
    assert mirror.mirror(tree.root, "Nobody")["hub"]["class"] == "Nobody (there is none)"


@pytest.mark.parametrize(
    ("decorator", "writer", "objects"),
    [
        pytest.param("@dataclass", "visit.code = 1", 1, id="from two subpackages"),
        pytest.param("@dataclass", "visit.code += 1", 1, id="counted up"),
        pytest.param("", "visit.code = 1", 1, id="of a plain class"),
        pytest.param("@dataclass(frozen=True)", "visit.code = 1", 0, id="frozen, so it would fail"),
        pytest.param("@dataclass", "print(visit.code)", 0, id="only read"),
        pytest.param("@dataclass", "visit.other = 1", 0, id="a name of something else"),
    ],
)
def test_objects_that_several_subpackages_write(grow, decorator, writer, objects):
    tree = grow(
        {
            "ultracrawl/run/visit.py": f"{decorator}\nclass Visit:\n    code: int\n    size: int = 0\n",
            "ultracrawl/run/fetch.py": "def use(visit):\n    visit.size = 1",
            "ultracrawl/spiders/use.py": f"def use(visit):\n    {writer}",
        }
    )
    assert mirror.mirror(tree.root)["written from several subpackages"]["objects"] == objects


def test_sizes_prose_and_habits(grow):
    long = "\n".join(f"    x = {number}" for number in range(51))
    tree = grow(
        {
            "ultracrawl/one.py": f"def long():\n{long}\n",
            "ultracrawl/two.py": '''
                class Base:
                    """A base."""

                class Middle(Base): ...

                class Leaf(Middle):
                    """A leaf."""

                    def told(self, value: Any) -> None:
                        """Say it."""
                        try:
                            pass
                        except Exception:  # noqa: BLE001
                            pass

                    def _hidden(self): ...
                ''',
            "tests/test_one.py": """
                def test_one(monkeypatch):
                    monkeypatch.setattr("a.b", 1)

                def test_two(): ...
                """,
        }
    )
    numbers = mirror.mirror(tree.root)
    assert numbers["functions"]["functions"] == 3
    assert numbers["functions"]["over 50 lines %"] == 33.3
    assert numbers["classes"]["inheritance depth"] == 3
    assert numbers["classes"]["deepest class"] == "ultracrawl.two.Leaf"
    assert numbers["prose"]["public classes and functions"] == 5
    assert numbers["prose"]["not documented"] == ["ultracrawl.one.long", "ultracrawl.two.Middle"]
    code = numbers["size"]["code lines"]
    assert code == 52 + 9
    assert numbers["per 1000 code lines"] == dict.fromkeys(
        ("Any", "suppressions", "except Exception"), round(1000 / code, 1)
    )
    assert numbers["tests"]["patches per 100 tests"] == 50.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            "import os\n" * 31, "ultracrawl.run.one: 31 imports; a module has at most 30", id="a module"
        ),
        pytest.param("import os\n" * 30, "", id="a module as wide as it may be"),
        pytest.param(
            "class Wide:\n    def __init__(self, a, b, c, d, *, e, f, g): ...\n",
            "ultracrawl.run.one.Wide: 7 arguments; a constructor has at most 6",
            id="a constructor",
        ),
        pytest.param(
            "class X:\n    def __init__(self, a, b, c, *, d, e, f): ...", "", id="one as wide as it may be"
        ),
        pytest.param(
            "class One:\n    def __init__(self):\n        self.size = 1\n",
            "One: 1 names, from run, spiders; one subpackage writes an object, the others tell it by its methods",
            id="an object of two subpackages",
        ),
    ],
)
def test_the_check_says_what_is_too_wide_or_written_from_several_subpackages(grow, capsys, text, said):
    writing = "def use(one):\n    one.size = 2\n"
    tree = grow(
        {
            "ultracrawl/run/one.py": text,
            "ultracrawl/run/two.py": writing,
            "ultracrawl/spiders/three.py": writing,
        }
    )
    assert mirror.main(["--tree", str(tree.root), "--check"]) == bool(said)
    assert capsys.readouterr().out.strip() == (
        said or "nothing is too wide, and no object is written from several subpackages"
    )


@pytest.mark.parametrize("modules", [15, 16])
def test_the_check_says_which_folder_has_too_many_modules(grow, capsys, modules):
    tree = grow({f"ultracrawl/run/m{number}.py": "X = 1\n" for number in range(modules)})
    assert mirror.main(["--tree", str(tree.root), "--check"]) == (modules > 15)
    reported = "16 ultracrawl.run: more modules than 15 in a folder"
    assert (reported in capsys.readouterr().out) == (modules > 15)


def test_inheritance_is_followed_through_package_init_modules(grow):
    tree = grow(
        {
            "ultracrawl/low/__init__.py": "from ultracrawl.low.base import Base",
            "ultracrawl/low/base.py": "class Base: ...",
            "ultracrawl/high.py": "from ultracrawl import low\nclass High(low.Base): ...",
        }
    )
    assert mirror.inheritance_depths(tree)["ultracrawl.high", "High"] == 2


def test_folders_with_many_modules_are_listed(grow):
    tree = grow(
        {f"ultracrawl/wide/m{number}.py": "" for number in range(16)} | {"ultracrawl/wide/__init__.py": ""}
    )
    numbers = mirror.mirror(tree.root)["folders"]
    assert numbers == {"names below ultracrawl": 1, "folders over 15 modules": ["16 ultracrawl.wide"]}


def test_it_prints_lines_or_json(grow, capsys):
    tree = grow({"ultracrawl/one.py": "X = 1\n"})
    assert mirror.main(["--tree", str(tree.root), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["size"]["code lines"] == 1
    assert mirror.main(["--tree", str(tree.root)]) == 0
    assert "  code lines:                     1\n" in capsys.readouterr().out


def test_what_is_wide_today_may_shrink_only(grow, monkeypatch):
    monkeypatch.setattr(mirror, "WIDE", {"ultracrawl.one": 32})
    assert list(mirror.excesses(grow({"ultracrawl/one.py": "import os\n" * 32}))) == []
    assert list(mirror.excesses(grow({"ultracrawl/one.py": "import os\n" * 33}))) != []


def test_an_import_by_name_is_found_unless_it_is_listed(grow, monkeypatch):
    tree = grow(
        {
            "ultracrawl/a.py": "import importlib\ndef late(name):\n    return importlib.import_module(name)",
            "ultracrawl/b.py": "def late(name):\n    return __import__(name)",
            "ultracrawl/c.py": "from importlib.util import find_spec\nfind_spec('x')",
        }
    )
    found = [line.partition(":")[0] for line in mirror.excesses(tree)]
    assert found == ["ultracrawl.a", "ultracrawl.b"]
    monkeypatch.setattr(mirror, "DYNAMIC", {"ultracrawl.b": "a reason"})
    assert [line.partition(":")[0] for line in mirror.excesses(tree)] == ["ultracrawl.a"]


def test_imports_inside_functions_may_shrink_only(grow, monkeypatch):
    late = "    import os  # noqa: PLC0415 - slow\n"
    monkeypatch.setattr(mirror, "LATE_IMPORTS", 2)
    assert list(mirror.excesses(grow({"ultracrawl/one.py": f"def late():\n{late * 2}"}))) == []
    assert list(mirror.excesses(grow({"ultracrawl/one.py": f"def late():\n{late * 3}"}))) != []


@pytest.mark.parametrize("comment", ["noqa: PLC0415", "noqa: F401, PLC0415", "noqa: PLC0415 -"])
def test_an_import_inside_a_function_has_a_reason(grow, comment):
    tree = grow({"ultracrawl/one.py": f"def late():\n    import os  # {comment}\n"})
    assert [line.partition(": ")[0] for line in mirror.excesses(tree)] == ["ultracrawl/one.py:2"]


def test_a_face_has_only_names_of_its_package(grow):
    stub = "from .inner import One as One\nfrom ..outer import Two as Two\nfrom os import path\n"
    found = list(mirror.excesses(grow({"ultracrawl/a/__init__.pyi": stub})))
    assert [line.rpartition(": ")[0] for line in found] == [
        "ultracrawl/a/__init__.pyi:2",
        "ultracrawl/a/__init__.pyi:3",
    ]
