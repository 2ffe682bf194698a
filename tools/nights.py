"""Run what takes a night, a room at a time, and keep when each room had its last green one.

    python tools/nights.py [ROOM ...] [--workers 4]
    python tools/nights.py --check

A room is a folder of `ultracrawl`. Its night is the cases marked `night` in the folder of `tests` that has its name,
and in those that `OTHER_TESTS` gives it, then its mutants (`tools/mutants.py`). The commit and the result are written
into `tests/nights.json`, which is to be committed; only what is committed has a night.

`--check` asks no test. It fails when a room has changed in more than `MOST_CHANGES` commits since its last green night.
Where there is no history, in a tree without a repository or in a shallow clone, it says so and passes.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from mutants import ROOMS as OF_MUTANTS

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path("tests", "nights.json")
MOST_CHANGES = 30
OTHER_TESTS: Mapping[str, Sequence[str]] = {"run": ("golden", "release"), "service": ("soak",)}
"""Folders of `tests` by the room whose night they are a part of, where the room has another name."""
ROOMS = tuple(sorted({*OF_MUTANTS, "agents"}))
_NO_TESTS = 5
"""The status of pytest where a room has no tests of the night."""


class Result(StrEnum):
    """How the last night of a room ended."""

    GREEN = "green"
    RED = "red"
    NEVER = "never"
    """It had none."""


@dataclass(frozen=True)
class Night:
    """The last night of a room, and where counting begins."""

    since: str
    """The commit of its last green night; before the first, one whose changes and those before it are not counted."""
    result: Result = Result.NEVER
    commit: str = ""
    """The commit that had the last night."""
    minutes: int = 0
    told: str = ""
    """What failed."""


class History:
    """What git says of a tree."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._git = shutil.which("git")

    @property
    def head(self) -> str:
        """The commit that is checked out, in twelve digits; nothing where there is no repository."""
        if self._ask("rev-parse", "--show-prefix") != "":  # that of a folder above is another one's
            return ""
        return self._ask("rev-parse", "--short=12", "HEAD") or ""

    @property
    def is_clean(self) -> bool:
        """Whether everything is committed but what this tool writes."""
        return self._ask("status", "--porcelain", "--", ".", f":(exclude){TABLE}") == ""

    @property
    def is_shallow(self) -> bool:
        """Whether older commits are not at hand."""
        return self._ask("rev-parse", "--is-shallow-repository") == "true"

    def changes(self, room: str, since: str) -> int | None:
        """Return how many commits after one changed a room; None if that one is not among those before `HEAD`."""
        if self._ask("merge-base", "--is-ancestor", since, "HEAD") is None:
            return None
        counted = self._ask("rev-list", "--count", f"{since}..HEAD", "--", f"ultracrawl/{room}")
        return None if counted is None else int(counted)

    def _ask(self, *words: str) -> str | None:
        if self._git is None:
            return None
        command = [self._git, *words]
        asked = subprocess.run(command, cwd=self._root, capture_output=True, text=True, check=False)
        return asked.stdout.strip() if asked.returncode == 0 else None


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the nights of rooms, or look whether one is due; the status is 1 if one is red, or due."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=f"default: {' '.join(ROOMS)}")
    parser.add_argument("--workers", type=int, default=4, help="how many processes run tests")
    parser.add_argument("--check", action="store_true", help="look whether a room is due")
    given = parser.parse_args(arguments)
    if unknown := sorted({*given.rooms} - {*ROOMS}):
        parser.error(f"no such room: {', '.join(unknown)}; rooms are {', '.join(ROOMS)}")
    history = History(root)
    if given.check:
        return _check(root, history)
    head = history.head if history.is_clean else ""
    results = []
    for room in given.rooms or ROOMS:
        night = _run(root, room, given.workers, head)
        results.append(night.result)
        print(f"{room}: {night.result}, {night.minutes} minutes {night.told}".rstrip(), flush=True)
        if head:
            write(root / TABLE, read(root / TABLE) | {room: night})
    if not head:
        print("Nothing is written down: there are changes that are not committed, or there is no repository.")
    return int(Result.RED in results)


def due(nights: Mapping[str, Night], history: History) -> Iterator[str]:
    """Yield why rooms need a night."""
    for room in ROOMS:
        if (night := nights.get(room)) is None:
            yield f"{room}: {TABLE} does not say when it had its last night"
        elif (changes := history.changes(room, night.since)) is None:
            yield f"{room}: {night.since}, from which changes are counted, is not in the history"
        elif changes > MOST_CHANGES:
            yield (
                f"{room}: {changes} commits have changed it since {night.since}, {MOST_CHANGES} may. "
                f"Its last night: {night.result}. Run `make night ROOM={room}`, and commit {TABLE}"
            )


def commands(root: Path, room: str, workers: int) -> Iterator[list[str]]:
    """Yield what the night of a room runs."""
    python = sys.executable
    folders = [Path("tests", name) for name in (room, *OTHER_TESTS.get(room, ()))]
    tests = [str(folder) for folder in folders if (root / folder).exists()]
    yield [python, "-m", "pytest", "-n", str(workers), "--dist", "worksteal", "--tier", "night", *tests]
    if room in OF_MUTANTS:
        yield [python, "tools/mutants.py", room]


def run(command: list[str], root: Path) -> int:
    """Run a command, and return its status."""
    return subprocess.run(command, cwd=root, check=False).returncode


def _check(root: Path, history: History) -> int:
    if not history.head:
        print("There is no repository here: whether a night is due cannot be said.")
        return 0
    if history.is_shallow:
        print("This is a shallow clone: whether a night is due cannot be said.")
        return 0
    wrong = list(due(read(root / TABLE), history))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return int(bool(wrong))


def _run(root: Path, room: str, workers: int, head: str) -> Night:
    """Run the night of a room; return what is to be written down."""
    started, failed = time.monotonic(), []
    for command in commands(root, room, workers):
        print(f"{room}: {shlex.join(command)}", flush=True)
        code = run(command, root)
        if code not in (0, _NO_TESTS):
            failed.append(f"{Path(command[2] if command[1] == '-m' else command[1]).stem} ended with {code}")
    before = read(root / TABLE).get(room, Night(head))
    return Night(
        since=before.since if failed else head,
        result=Result.RED if failed else Result.GREEN,
        commit=head,
        minutes=round((time.monotonic() - started) / 60),
        told=", ".join(failed),
    )


def read(file: Path) -> dict[str, Night]:
    """Return the nights by room; none if there is no such file."""
    if not file.exists():
        return {}
    rows = json.loads(file.read_text(encoding="utf-8"))
    return {room: Night(**{**row, "result": Result(row["result"])}) for room, row in rows.items()}


def write(file: Path, nights: Mapping[str, Night]) -> None:
    """Write the nights, a room a line."""
    lines = (f"{json.dumps(room)}: {json.dumps(asdict(night))}" for room, night in sorted(nights.items()))
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
