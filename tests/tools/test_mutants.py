"""Mutants: what is changed, which are drawn, which tests run, and what they say of it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import mutants
import pytest
from mutants import Fate, Row, as_text, choose, draw, merged, read_table
from mutations import Mutant, mutants_of

ROW = Row("rules", "ultracrawl/rules/a.py", 1, "constant", "1", "2", Fate.KILLED, "t", "c", "k")


def changes(text: str) -> list[tuple[str, str]]:
    """The changed texts, as one line, with their operators."""
    return [(one.operator.value, " ".join(one.apply(text).split())) for one in mutants_of("a.py", text)]


def at(path: str, text: str) -> list[Mutant]:
    return mutants_of(path, text)


@pytest.mark.parametrize(
    ("text", "operator", "changed"),
    [
        ("x = a == b", "comparison", "x = (a != b)"),
        ("x = a < b <= c", "boundary", "x = (a <= b <= c)"),
        ("x = a < b <= c", "boundary", "x = (a < b < c)"),
        ("x = (a) in (b)", "comparison", "x = (a not in b)"),
        ("if a:\n    b()", "negation", "if (not (a)): b()"),
        ("x = [a for a in b if a]", "negation", "x = [a for a in b if (not (a))]"),
        ("x = not a", "negation", "x = (a)"),
        ("x = a and b or c", "and/or", "x = ((a or b)) or c".replace("((a or b))", "(a or b)")),
        ("x = -3", "constant", "x = -4"),
        ("x = True", "constant", "x = False"),
        ("def f():\n    return g(\n        1)", "return", "def f(): return None"),
        ("self.x = 'ä', y == z", "removed", "pass"),
        ("for a in b:\n    continue", "removed", "for a in b: pass"),
        ("raise ValueError(a)", "removed", "pass"),
    ],
)
def test_a_place_is_changed(text, operator, changed):
    assert (operator, changed) in changes(text)


@pytest.mark.parametrize(
    "text",
    [
        "'''What it is.'''",
        "x: Literal[3]",
        "x = f'{1} heron'",
        "logger.info('read %d', 3)",
        "if TYPE_CHECKING:\n    x = 3",
        "class Port(Protocol):\n    def f(self): return 3",
        "def f():\n    raise NotImplementedError",
        "def f():\n    return None",
    ],
)
def test_types_and_what_people_read_stay(text):
    assert changes(text) == []


def test_a_negated_comparison_is_no_second_mutant():
    assert [name for name, _ in changes("if a == b:\n    x = c")] == ["comparison"]


def test_a_mutant_is_the_same_where_its_lines_move():
    text = "def f(a):\n    return a + 1\n\ndef g(a):\n    return a + 1, a + 1\n"
    before = {one.key for one in at("a.py", text)}
    assert len(before) == 5
    assert {one.key for one in at("a.py", "import b\n\n" + text)} == before
    assert not {one.key for one in at("a.py", text.replace("a + 1", "a - 1"))} & before


def test_a_seed_draws_the_same_mutants_beside_others():
    text = "\n".join(f"x{number} = {number}" for number in range(50))
    drawn = draw(at("a.py", text), {}, 5, seed=1)
    assert draw(reversed(at("a.py", text)), {}, 5, seed=1) == drawn
    assert draw(at("a.py", text), {}, 5, seed=2) != drawn


def test_mutants_of_the_table_stay_and_one_that_is_gone_is_replaced():
    text = "\n".join(f"x{number} = {number}" for number in range(50))
    drawn = draw(at("a.py", text), {}, 5, seed=1)
    table = {one.key: ROW for one in draw(at("a.py", text), {}, 5, seed=2)}
    assert {one.key for one in draw(at("a.py", text), table, 5, seed=1)} == set(table)
    gone = {**dict(list(table.items())[1:]), "gone": ROW}
    again = draw(at("a.py", text), gone, 5, seed=1)
    assert {one.key for one in again} == {*gone, next(one.key for one in drawn if one.key not in gone)} - {
        "gone"
    }


class Noted(SimpleNamespace):
    """What was measured: the tests by line, and their seconds."""

    def of(self, _path, lines):
        return frozenset(name for line in lines for name in self.lines.get(line, ()))

    def of_file(self, path):
        return self.of(path, self.lines)


def test_tests_beside_the_module_come_first_then_quick_ones():
    [mutant] = at("ultracrawl/rules/urls/a.py", "x = 1")
    near, slow, quick = "tests/rules/urls/test_a.py::a", "tests/run/test_b.py::b", "tests/run/test_c.py::c"
    seconds = {slow: 3.0, quick: 0.1, near: 9.0, "tests/run/test_c.py::other": 0.0}
    assert choose(
        mutant, [Noted(lines={1: [slow], 2: ["x"]}, seconds=seconds), Noted(lines={}, seconds={})]
    ) == (
        [slow],
        True,
    )
    assert choose(mutant, [Noted(lines={1: [slow, quick, near]}, seconds=seconds)]) == (
        [near, quick, slow],
        True,
    )


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("x = 1", True),
        ("def f(x=1): ...", True),
        ("class A:\n    x = 1", True),
        ("def f():\n    x = 1", False),
    ],
)
def test_what_an_import_runs_is_looked_for_by_the_tests_of_its_file(text, chosen):
    [mutant] = at("ultracrawl/rules/urls/a.py", text)
    noted = Noted(lines={7: ["tests/rules/test_a.py::a"]}, seconds={"tests/rules/test_a.py::a": 1.0})
    assert choose(mutant, [noted]) == (["tests/rules/test_a.py::a"] if chosen else [], True)


def test_tests_that_take_too_long_are_left_out_and_the_choice_says_so():
    [mutant] = at("ultracrawl/rules/urls/a.py", "x = 1")
    seconds = {f"tests/run/test_a.py::{number}": mutants.LIMIT for number in range(4)}
    chosen, complete = choose(mutant, [Noted(lines={1: list(seconds)}, seconds=seconds)])
    assert (len(chosen), complete) == (1, False)


def test_rows_of_a_room_replace_those_it_had():
    other, new = replace(ROW, room="index", key="i"), replace(ROW, key="n")
    assert merged({"k": ROW, "i": other}, [new]) == {"i": other, "n": new}
    assert as_text([ROW, new]).splitlines()[-1] == "rules: 2 killed, 0 survived, 0 unknown"


MODULE = """def half(number):
    if number > 10:
        number = unused(number)
    return number / 2


def unused(number):
    return number * 2
"""
TEST = """from pathlib import Path
import pytest
from ultracrawl.rules.half import half

@pytest.fixture(scope="module")
def halves():
    return [half(number) for number in (0, 4)]

def test_zero(halves):
    assert halves[0] == 0

def test_four(halves):
    assert halves[1] == 2

def test_that_fails_always():
    assert half(3) == 7
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    files = {
        "ultracrawl/__init__.py": "",
        "ultracrawl/rules/__init__.py": "",
        "ultracrawl/rules/half.py": MODULE,
    }
    for name, text in {**files, "tests/rules/test_half.py": TEST, "pytest.ini": MARKERS}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Half"]):
        who = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
        subprocess.run(["git", *who, *command], cwd=tmp_path, check=True)
    return tmp_path


MARKERS = "[pytest]\nmarkers =\n    servers: s\n    night: s\n    processes: p\n"


@pytest.mark.processes
def test_the_fates_of_a_little_package(repository, capfd):
    """What a fixture of several tests runs counts for each of them; a test that fails anyway kills nothing."""
    assert mutants.main(["rules", "--each", "99", "--write"], repository) == 0
    rows = read_table(repository / mutants.TABLE)
    fates = {(one.line, one.operator, one.now): one.fate for one in rows.values()}
    assert fates == {
        (2, "comparison", "(number <= 10)"): Fate.KILLED,
        (2, "boundary", "(number >= 10)"): Fate.SURVIVED,
        (2, "constant", "11"): Fate.SURVIVED,
        (4, "return", "return None"): Fate.KILLED,
        (4, "constant", "3"): Fate.KILLED,
        (8, "return", "return None"): Fate.SURVIVED,
        (8, "constant", "3"): Fate.SURVIVED,
    }
    assert all(
        one.by.startswith("tests/rules/test_half.py::test_")
        for one in rows.values()
        if one.fate == Fate.KILLED
    )
    assert (repository / "ultracrawl/rules/half.py").read_text() == MODULE
    capfd.readouterr()
    assert mutants.main(["rules", "--each", "99"], repository) == 0
    assert capfd.readouterr().err == ""  # all were known


@pytest.mark.processes
def test_a_mutant_that_was_killed_must_not_live(repository):
    [boundary] = [one for one in at("ultracrawl/rules/half.py", MODULE) if one.operator == "boundary"]
    row = replace(ROW, file=boundary.path, key=boundary.key)
    mutants.write_table(repository / mutants.TABLE, {row.key: row})
    assert mutants.main(["rules", "--each", "1"], repository) == 1


@pytest.mark.processes
def test_a_process_ends_when_it_has_used_its_limit():
    child = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"
    with subprocess.Popen([sys.executable, "-c", child]) as process:
        assert mutants._end(process, limit=0.2) is None
    assert process.returncode
