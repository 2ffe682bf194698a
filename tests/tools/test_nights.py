"""Nights: what runs for a room, what is written down, and when a room is due."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import mutants
import nights
import pytest
from nights import MOST_CHANGES, Night, Result
from support.project import ROOT

WHO = ("-c", "user.name=t", "-c", "user.email=t@localhost")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with a commit and a table in which each room had a night at it."""
    tree = tmp_path / "tree"
    (tree / "tests").mkdir(parents=True)
    (tree / "tests/test_a.py").write_text("")
    git(tree, "init", "-q")
    write_nights(tree, commit(tree, "tests/test_a.py"))
    return tree


def git(tree: Path, *words: str) -> str:
    done = subprocess.run(["git", *WHO, *words], cwd=tree, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(tree: Path, *files: str) -> str:
    for name in files:
        file = tree / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as text:
            text.write("#\n")
    git(tree, "add", ".")
    git(tree, "commit", "-q", "-m", "A change")
    return git(tree, "rev-parse", "--short=12", "HEAD")


def write_nights(tree: Path, since: str) -> None:
    nights.write(tree / nights.TABLE, dict.fromkeys(nights.ROOMS, Night(since)))


def red_rooms(tree: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the rooms that `--check` complains about."""
    status = nights.main(["--check"], tree)
    rooms = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert bool(rooms) == bool(status)
    return rooms


def test_a_room_that_has_changed_too_often_is_due(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(MOST_CHANGES):
        commit(tree, "ultracrawl/stores/a.py", "ultracrawl/other.py")
    assert red_rooms(tree, capsys) == []
    last = commit(tree, "ultracrawl/stores/b.py")
    assert red_rooms(tree, capsys) == ["stores"]
    write_nights(tree, last)
    assert red_rooms(tree, capsys) == []


@pytest.mark.parametrize("table", ["", "{}", '{"stores": {"since": "0123456789ab", "result": "green"}}'])
def test_a_room_without_a_night_that_can_be_counted_from_is_due(
    tree: Path, capsys: pytest.CaptureFixture[str], table: str
) -> None:
    (tree / nights.TABLE).write_text(table) if table else (tree / nights.TABLE).unlink()
    assert red_rooms(tree, capsys) == list(nights.ROOMS)


def test_without_history_nothing_is_due(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = nights.read(tree / nights.TABLE)["stores"].since
    commit(tree, *(f"ultracrawl/stores/{number}.py" for number in range(99)))
    shallow, exported = tmp_path / "shallow", tree / "exported"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{tree}", str(shallow))
    shutil.copytree(tree, tmp_path / "copy")
    shutil.move(tmp_path / "copy", exported)
    shutil.rmtree(exported / ".git")
    for folder in (shallow, exported):
        write_nights(folder, first[::-1])
        assert nights.main(["--check"], folder) == 0
        assert capsys.readouterr().out


class Commands:
    """Notes what a night runs instead of running it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.codes: dict[str, int] = {}
        self.run: list[list[str]] = []
        monkeypatch.setattr(nights, "run", self._run)

    def _run(self, command: list[str], tree: Path) -> int:
        self.run.append(command[1:])
        return self.codes.get("pytest" if "pytest" in command else "mutants", 0)


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> Commands:
    return Commands(monkeypatch)


def test_a_night_runs_the_tests_and_the_mutants_of_its_room(tree: Path, commands: Commands) -> None:
    for name in ("run", "golden", "agents", "stores"):
        (tree / "tests" / name).mkdir()
    assert nights.main(["run", "agents", "--workers", "3"], tree) == 0
    tests = ["-m", "pytest", "-n", "3", "--dist", "worksteal", "--tier", "night"]
    assert commands.run == [
        [*tests, "tests/run", "tests/golden"],
        ["tools/mutants.py", "run"],
        [*tests, "tests/agents"],
    ]


@pytest.mark.parametrize(
    ("codes", "result"),
    [
        ({}, Result.GREEN),
        ({"pytest": 5}, Result.GREEN),
        ({"pytest": 1}, Result.RED),
        ({"mutants": 1}, Result.RED),
    ],
)
def test_the_result_is_written_down(
    tree: Path, commands: Commands, codes: dict[str, int], result: Result
) -> None:
    before, head = nights.read(tree / nights.TABLE), commit(tree, "ultracrawl/stores/a.py")
    commands.codes = codes
    assert nights.main(["stores"], tree) == (result is Result.RED)
    after = nights.read(tree / nights.TABLE)
    assert (after["stores"].result, after["stores"].commit) == (result, head)
    assert after["stores"].since == (head if result is Result.GREEN else before["stores"].since)
    assert {**after, "stores": before["stores"]} == before


def test_what_is_not_committed_has_no_night(tree: Path, commands: Commands) -> None:
    commit(tree, "tests/test_a.py")
    before = nights.read(tree / nights.TABLE)
    (tree / "ultracrawl").mkdir()
    (tree / "ultracrawl/new.py").write_text("")
    assert nights.main(["stores"], tree) == 0
    assert nights.read(tree / nights.TABLE) == before


def test_an_unknown_room_is_refused(tree: Path) -> None:
    with pytest.raises(SystemExit):
        nights.main(["cellar"], tree)


def test_each_test_of_the_night_is_of_a_room() -> None:
    mark = ".".join(("pytest", "mark", "night"))
    marked = {
        file for file in (ROOT / "tests").rglob("test_*.py") if mark in file.read_text(encoding="utf-8")
    }
    folders = {file.relative_to(ROOT / "tests").parts[0] for file in marked}
    folders -= {"support_selftest"}  # its cases are those of a run in a test
    assert folders <= {*nights.ROOMS, *(name for names in nights.OTHER_TESTS.values() for name in names)}
    assert {*mutants.ROOMS} <= {*nights.ROOMS}
    assert json.loads((ROOT / nights.TABLE).read_text()).keys() == {*nights.ROOMS}
