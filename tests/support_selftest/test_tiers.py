"""Each case runs in one tier: by its markers, then by what it takes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support import tiers, times
from support.tiers import CEILING, PROMISED, Tier, complaints, tier_of

ROWS = {"tests/test_a.py": {"test_long": 0.4, times.OTHERS: 0.02}}


def case(test: str, *marks: str) -> Any:
    found = SimpleNamespace(nodeid=f"tests/test_a.py::{test}")
    found.get_closest_marker = lambda name: name if name in marks else None
    return found


@pytest.mark.parametrize(
    ("test", "marks", "tier"),
    [
        ("test_short", [], Tier.TEST),
        ("test_short[long::test_long]", ["processes"], Tier.TEST),
        ("test_long", [], Tier.CI),
        ("test_long[1]", ["processes"], Tier.CI),
        ("test_long", ["essential"], Tier.TEST),
        ("test_short", ["servers"], Tier.CI),
        ("test_short", ["servers", "essential"], Tier.CI),
        ("test_short", ["night"], Tier.NIGHT),
        ("test_long", ["night", "servers", "essential"], Tier.NIGHT),
    ],
)
def test_a_case_is_of_one_tier(test: str, marks: list[str], tier: Tier) -> None:
    assert tier_of(case(test, *marks), ROWS) is tier


def test_rows_name_what_is_long_and_sum_up_the_others(tmp_path: Path) -> None:
    counted = {
        "tests/test_b.py::test_one[a]": 0.5,
        "tests/test_b.py::test_one[b]": 0.1,
        "tests/test_b.py::test_two[a::b]": 0.01,
        "tests/test_b.py::test_three": 0.05,
        "tests/test_c.py::test_one": 2.0,
    }
    rows = times.rows_of(counted, {})
    assert rows == {
        "tests/test_b.py": {"test_one": 0.3, times.OTHERS: 0.03},
        "tests/test_c.py": {"test_one": 2.0},
    }
    file = tmp_path / "times.json"
    assert times.read(file) == {}
    times.write(rows, file)
    assert times.read(file) == rows
    assert [times.is_long(rows, name) for name in counted] == [True, True, False, False, True]
    assert sum(times.seconds(rows, name) for name in counted) == pytest.approx(sum(counted.values()))
    assert times.seconds(rows, "tests/test_d.py::test_new") == times.UNKNOWN


def test_many_short_rows_of_one_test_are_not_long() -> None:
    counted = {"tests/test_b.py::test_rows[a]": 4.0, "tests/test_b.py::test_rows[b]": 2.0}
    assert times.rows_of(counted, dict.fromkeys(counted, 20)) == {"tests/test_b.py": {times.OTHERS: 3.0}}
    assert times.rows_of(counted, dict.fromkeys(counted, 19)) == {"tests/test_b.py": {"test_rows": 3.0}}


def test_what_was_not_counted_keeps_its_row_as_long_as_it_is_there(tmp_path: Path) -> None:
    (tmp_path / "test_b.py").write_text("def test_one(): ...\ndef test_two(): ...\ndef test_three(): ...\n")
    before = {
        "test_b.py": {"test_gone": 1.0, "test_one": 1.0, "test_two": 1.0, times.OTHERS: 0.01},
        "test_gone.py": {times.OTHERS: 0.01},
    }
    after = times.merged(before, {"test_b.py::test_two": 0.01, "test_b.py::test_three": 2.0}, {}, tmp_path)
    assert after == {"test_b.py": {"test_one": 1.0, "test_three": 2.0, times.OTHERS: 0.01}}


def test_what_is_promised_is_counted_by_what_is_stored() -> None:
    most = int(PROMISED[Tier.TEST] / 0.02)
    counted = {f"tests/test_a.py::test_short[{number}]": 1.0 for number in range(most + 1)}
    assert len(list(complaints(Tier.TEST, counted, ROWS))) == 1
    assert list(complaints(Tier.CI, counted, ROWS)) == []
    counted.popitem()
    assert list(complaints(Tier.TEST, counted, ROWS)) == []


@pytest.mark.parametrize(
    ("test", "spent", "tier", "is_wrong"),
    [
        ("test_new", CEILING + 0.1, Tier.TEST, True),
        ("test_new", CEILING, Tier.TEST, False),
        ("test_new", CEILING + 0.1, Tier.CI, False),
        ("test_long", CEILING + 0.1, Tier.TEST, False),
    ],
)
def test_a_new_test_that_takes_long_is_found(test: str, spent: float, tier: Tier, is_wrong: bool) -> None:
    found = list(complaints(tier, {f"tests/test_a.py::{test}": spent}, ROWS))
    assert bool(found) == is_wrong


def test_what_is_stored_is_of_tests_that_exist() -> None:
    """A long test under a new name would run in `make test`: rename it in tests/times.json, or count its module."""
    tests = times.FILE.parent
    texts = {f"tests/{file.relative_to(tests)}": file.read_text() for file in tests.rglob("test_*.py")}
    gone = [
        (module, test)
        for module, row in times.read(times.FILE).items()
        for test in row
        if module not in texts or (test != times.OTHERS and f"def {test}(" not in texts[module])
    ]
    assert gone == []


# ---- real runs

CASES = """\
import time

import pytest

def test_short(): pass

@pytest.mark.parametrize("number", [1, pytest.param(2, marks=pytest.mark.night)])
def test_busy(number):
    end = time.process_time() + 0.4
    while time.process_time() < end: pass

def test_rows(subtests):
    for row in range(4):
        with subtests.test(row=row):
            end = time.process_time() + 0.1
            while time.process_time() < end: pass

@pytest.mark.servers
def test_with_programs(): pass
"""
CONFTEST = """\
from pathlib import Path

from support import tiers, times

times.FILE = Path(__file__).with_name("times.json")
pytest_addoption, pytest_configure = tiers.add_options, tiers.register
"""
MARKERS = (
    "[pytest]\naddopts = -p no:cacheprovider\nmarkers =\n    servers: s\n    night: n\n    essential: e\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with tests of all tiers."""
    for name, text in {"test_a.py": CASES, "conftest.py": CONFTEST, "pytest.ini": MARKERS}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def run(folder: Path, *options: str) -> tuple[int, list[str]]:
    """Run the tests of a folder; return the status and the cases that passed."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", *options],
        cwd=folder,
        env={"PYTHONPATH": str(Path(tiers.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, sorted(re.findall(r"^PASSED test_a\.py::(\S+)", done.stdout, re.MULTILINE))


@pytest.mark.processes
def test_a_run_picks_counts_and_stores(folder: Path) -> None:
    assert run(folder, "--tier", "test") == (0, ["test_busy[1]", "test_rows", "test_short"])
    assert run(folder, "-n2", "--store-times") == (
        0,
        ["test_busy[1]", "test_busy[2]", "test_rows", "test_short", "test_with_programs"],
    )
    (row,) = times.read(folder / "times.json").values()
    assert {*row} == {"test_busy", times.OTHERS}
    assert run(folder, "--tier", "test") == (0, ["test_rows", "test_short"])
    assert run(folder, "--tier", "ci") == (0, ["test_busy[1]", "test_with_programs"])
    assert run(folder, "--tier", "night") == (0, ["test_busy[2]"])


@pytest.mark.processes
def test_a_run_that_does_not_keep_its_promise_fails(folder: Path) -> None:
    times.write({"test_a.py": {times.OTHERS: PROMISED[Tier.TEST]}}, folder / "times.json")
    status, passed = run(folder, "--tier", "test")
    assert (status, passed) == (1, ["test_busy[1]", "test_rows", "test_short"])
