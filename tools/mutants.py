"""Change the package in little ways, one at a time, and print which changes the tests notice.

    python tools/mutants.py [ROOM ...] [--each 15] [--seed 1] [--workers 1] [--write]

The mutants of a room (a folder of `ultracrawl`) are drawn by a seed; those in `tests/mutants.json` whose place is still
there come first, so that two tables can be compared. Of each, the tests run that run its lines, likeliest first, until
one fails. A mutant is *killed* by a test that fails, *survived* if all of them pass, and *unknown* if they take too
long, or if the test fails without the change too. Limits are processor seconds, so other work on the machine does not
decide.

Everything happens in a copy of what is committed, in `var/mutants`, where also what was measured of the tests and the
fates until now are kept: the command goes on where it was stopped. The status is 1 if a mutant lives that was killed
according to the table. `--write` writes the table.

Tests of servers and of processes are left out, and so is what they alone can run.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.util import cache_from_source
from operator import attrgetter
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import psutil
import pytest
from mutations import Mutant, mutants_of
from tests_of_lines import CHOOSE, FAILED, MEASURE, Ids, Measured

ROOT = Path(__file__).parents[1]
WORK = Path("var", "mutants")
TABLE = Path("tests", "mutants.json")
ROOMS = ("rules", "content", "index", "stores", "run", "scheduler", "service", "dialects")
TESTS = (*ROOMS, "agents")
"""The folders of `tests` that are asked."""
OF_SERVERS = ("ultracrawl/index/opensearch/", "ultracrawl/stores/postgresql/", "ultracrawl/run/rendering/")
"""What no test runs without server programs or a browser."""
MARKS = "not servers and not night and not processes"
LIMIT = 60.0
"""Maximum processor seconds of the tests of a mutant."""
GUARD = 10
"""How many times that in seconds of the clock end it as well: a test waits for what the mutant does not do."""
SLOWER = 2
"""How many times longer a test takes while it is measured."""
FILE_SECONDS = 0.1
"""Estimated processor seconds that collecting a file of tests takes."""
IMPORT = "the import"
"""What kills a mutant with which the tests cannot even be collected."""
_NOT_COLLECTED = (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.USAGE_ERROR)
_TICK = 0.3
_PLUGINS = ("-p", "tests_of_lines", "-p", "no:cacheprovider")
_PYTEST = (sys.executable, "-m", "pytest", "-q", "--tb=no", *_PLUGINS, "-m", MARKS)


class Fate(StrEnum):
    """What the tests say about a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Row:
    """A mutant and its fate, as the table has it."""

    room: str
    file: str
    line: int
    operator: str
    was: str
    now: str
    fate: Fate
    by: str
    """The test that failed, or why there is none."""
    commit: str
    key: str


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the mutants of the rooms, and print them; the status is 1 if one lives that was killed before."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=f"default: {' '.join(ROOMS)}")
    parser.add_argument("--each", type=int, default=15, help="mutants a room")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1, help="how many run at once, each in its own copy")
    parser.add_argument("--write", action="store_true", help="write the rows into the table")
    given = parser.parse_args(arguments)
    table = root / TABLE
    before = read_table(table)
    trial = Trial(root, given.workers)
    rooms = given.rooms or [room for room in ROOMS if (root / "ultracrawl" / room).exists()]
    drawn = {room: draw(trial.mutants(room), before, given.each, given.seed) for room in rooms}
    rows = trial.run([(room, one) for room, mutants in drawn.items() for one in mutants])
    print(as_text(rows))
    if given.write:
        write_table(table, merged(before, rows), given.seed)
    lost = [one for one in rows if one.fate is not Fate.KILLED and _fate(before, one.key) is Fate.KILLED]
    for one in lost:
        print(f"killed before, {one.fate} now: {one.file}:{one.line} ({one.key})")
    return bool(lost)


def draw(mutants: Iterable[Mutant], before: Mapping[str, Row], number: int, seed: int) -> list[Mutant]:
    """Return `number` of the mutants: those of the table before that are still there, then the next of the seed."""
    ordered = sorted(mutants, key=lambda one: (one.key not in before, one.rank(seed)))
    return ordered[:number]


def choose(mutant: Mutant, measured: Iterable[Measured]) -> tuple[list[str], bool]:
    """Return the tests that may kill a mutant, likeliest first, and whether the limit leaves none of them out.

    What is run when its module is imported is looked for by all tests that run anything of the module.
    """
    maps = list(measured)
    ids: Ids = frozenset().union(*(one.of(mutant.path, mutant.lines) for one in maps))
    if mutant.at_import:
        ids |= frozenset().union(*(one.of_file(mutant.path) for one in maps))
    seconds = {name: value for one in maps for name, value in one.seconds.items() if name in ids}
    place = Path(mutant.path).with_suffix("").parts[1:]

    def likelihood(name: str) -> tuple[int, float, str]:
        folders = Path(name.partition("::")[0]).parts[1:]
        shared = sum(1 for one, other in zip(place, folders, strict=False) if one == other)
        return (-shared, seconds[name], name)

    by_file: dict[str, list[str]] = {}
    for name in sorted(seconds, key=likelihood):
        by_file.setdefault(name.partition("::")[0], []).append(name)
    chosen, spent = [], 0.0
    for names in by_file.values():
        spent += FILE_SECONDS
        for name in names:
            spent += seconds[name] / SLOWER
            if spent < LIMIT:
                chosen.append(name)
    return chosen, len(chosen) == len(seconds)


class Trial:
    """Copies of the committed tree, what was measured of its tests, and the fates of its mutants until now."""

    def __init__(self, root: Path, workers: int) -> None:
        self._root = root
        self._work = root / WORK
        self._commit = self._git("rev-parse", "--short=12", "HEAD").decode().strip()
        self._fates = self._work / f"fates-{self._commit}.json"
        self._copies: SimpleQueue[Path] = SimpleQueue()
        self._workers = workers
        for number in range(workers):
            self._copies.put(self._copy(f"copy-{number}"))
        self._texts: dict[str, str] = {}

    def mutants(self, room: str) -> Iterator[Mutant]:
        """Yield all mutants of a room."""
        copy = self._work / "copy-0"
        for file in sorted((copy / "ultracrawl" / room).rglob("*.py")):
            path = file.relative_to(copy).as_posix()
            if not path.startswith(OF_SERVERS):
                self._texts[path] = file.read_text(encoding="utf-8")
                yield from mutants_of(path, self._texts[path])

    def run(self, drawn: Sequence[tuple[str, Mutant]]) -> list[Row]:
        """Return the rows of mutants, by their rooms; each is kept as soon as it is known."""
        measured = [self._measured(room) for room in TESTS if (self._root / "tests" / room).exists()]
        known = read_table(self._fates)
        with ThreadPoolExecutor(self._workers) as pool:
            waiting = [(room, one) for room, one in drawn if one.key not in known]
            for row in pool.map(lambda pair: self._row(pair[0], pair[1], measured), waiting):
                known[row.key] = row
                write_table(self._fates, known)
                print(
                    f"{row.fate:<9}{row.file}:{row.line} {row.operator}: {row.by}",
                    file=sys.stderr,
                    flush=True,
                )
        return self._checked([known[one.key] for _, one in drawn])

    def _row(self, room: str, mutant: Mutant, measured: Sequence[Measured]) -> Row:
        text = self._texts[mutant.path]
        line = text.encode()[: mutant.begin].count(b"\n") + 1
        tests, all_of_them = choose(mutant, measured)
        fate, by = (Fate.SURVIVED, "no test runs it")
        if tests:
            fate, by = self._fate(mutant, text, tests)
            if fate is Fate.SURVIVED and not all_of_them:
                fate, by = Fate.UNKNOWN, f"{by}, and others take longer than {LIMIT:.0f} s"
        operator = mutant.operator.value
        return Row(
            room, mutant.path, line, operator, mutant.was, mutant.now, fate, by, self._commit, mutant.key
        )

    def _fate(self, mutant: Mutant, text: str, tests: Sequence[str]) -> tuple[Fate, str]:
        copy = self._copies.get()
        file = copy / mutant.path
        try:
            _write_source(file, mutant.apply(text))
            status, failed = _run_tests(copy, tests, "-x")
        finally:
            _write_source(file, text)
            self._copies.put(copy)
        if status is None:
            return Fate.UNKNOWN, "out of time"
        if failed or status in _NOT_COLLECTED:
            return Fate.KILLED, failed[0] if failed else IMPORT
        if status != pytest.ExitCode.OK:
            return Fate.UNKNOWN, f"pytest ends with {status}"
        return Fate.SURVIVED, f"{len(tests)} tests pass"

    def _checked(self, rows: Sequence[Row]) -> list[Row]:
        """Return the rows; a test that fails without a change, too, has killed nothing."""
        copy = self._copies.get()
        killers = sorted({one.by for one in rows if one.fate is Fate.KILLED} - {IMPORT})
        failed = _run_tests(copy, killers, limit=None)[1] if killers else []
        self._copies.put(copy)
        return [
            Row(**{**vars(one), "fate": Fate.UNKNOWN, "by": f"fails always: {one.by}"})
            if one.by in failed
            else one
            for one in rows
        ]

    def _measured(self, room: str) -> Measured:
        """Return the tests of a room by line; they are measured anew when they or the package have changed."""
        trees = self._git("rev-parse", "HEAD:ultracrawl", f"HEAD:tests/{room}")
        stem = self._work / "measured" / f"{room}-{hashlib.sha256(trees).hexdigest()[:12]}"
        if not stem.with_suffix(".json").exists():
            print(f"measuring the tests of {room}", file=sys.stderr, flush=True)
            copy = self._copies.get()
            environment = _environment(copy) | {MEASURE: str(stem)}
            subprocess.run(
                [*_PYTEST, f"tests/{room}"], cwd=copy, env=environment, stdout=subprocess.DEVNULL, check=False
            )
            self._copies.put(copy)
        return Measured(stem)

    def _copy(self, name: str) -> Path:
        """Make a copy of what is committed, with the samples that are beside it."""
        folder = self._work / name
        shutil.rmtree(folder, ignore_errors=True)
        archive = self._git("archive", "HEAD")
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        (folder / "var").mkdir()
        if (samples := self._root / "var" / "samples").exists():
            (folder / "var" / "samples").symlink_to(samples)
        return folder

    def _git(self, *arguments: str) -> bytes:
        command = [shutil.which("git") or "git", *arguments]
        return subprocess.run(command, cwd=self._root, capture_output=True, check=True).stdout


def _run_tests(
    copy: Path, tests: Sequence[str], *options: str, limit: float | None = LIMIT
) -> tuple[int | None, list[str]]:
    """Return the status of the tests in a copy, None if they took too long, and those that failed."""
    chosen = copy / "var" / "chosen.json"
    chosen.write_text(json.dumps(tests), encoding="utf-8")
    files = dict.fromkeys(name.partition("::")[0] for name in tests)
    with (copy / "var" / "output.txt").open("wb") as output:
        process = subprocess.Popen(
            [*_PYTEST, *options, *files],
            cwd=copy,
            env=_environment(copy) | {CHOOSE: str(chosen)},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        status = _end(process, limit)
    failed = chosen.with_suffix(FAILED)
    return status, failed.read_text(encoding="utf-8").splitlines() if failed.exists() else []


def _end(process: subprocess.Popen[bytes], limit: float | None) -> int | None:
    """Return the status of a process, or end it and its children once they have used the limit, and return None."""
    root = psutil.Process(process.pid)
    until = time.monotonic() + GUARD * (limit or 0)
    while True:
        try:
            return process.wait(_TICK)
        except subprocess.TimeoutExpired:
            if limit is None or (_used(root) < limit and time.monotonic() < until):
                continue
        for one in [*root.children(recursive=True), root]:
            with suppress(psutil.NoSuchProcess):
                one.kill()
        process.wait()
        return None


def _used(root: psutil.Process) -> float:
    """Return the processor seconds of a process, its children and those that have ended."""
    seconds = 0.0
    for one in [root, *root.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            seconds += sum(one.cpu_times()[:4])
    return seconds


def _environment(copy: Path) -> dict[str, str]:
    """Return the environment in which tests import the package from a copy."""
    paths = os.pathsep.join((str(copy), str(Path(__file__).parent)))
    return {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": ""}


def _write_source(file: Path, text: str) -> None:
    """Write a module so that the next process reads it, though it may have the size and second of its compiled form."""
    file.write_text(text, encoding="utf-8")
    Path(cache_from_source(str(file))).unlink(missing_ok=True)


def _fate(rows: Mapping[str, Row], key: str) -> Fate | None:
    return rows[key].fate if key in rows else None


def read_table(file: Path) -> dict[str, Row]:
    """Return the rows of a table by their keys; none if there is no such file."""
    if not file.exists():
        return {}
    rows: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["mutants"]
    return {one["key"]: Row(**{**one, "fate": Fate(one["fate"])}) for one in rows}


def write_table(file: Path, rows: Mapping[str, Row], seed: int = 0) -> None:
    """Write a table, a mutant a line."""
    ordered = sorted(rows.values(), key=attrgetter("room", "file", "line", "key"))
    lines = ",\n".join("  " + json.dumps(asdict(one), ensure_ascii=False) for one in ordered)
    new = file.with_suffix(".new")
    new.parent.mkdir(parents=True, exist_ok=True)
    new.write_text(f'{{"seed": {seed}, "mutants": [\n{lines}\n]}}\n', encoding="utf-8")
    new.replace(file)


def merged(before: Mapping[str, Row], rows: Sequence[Row]) -> dict[str, Row]:
    """Return the rows of a table with those of some rooms in place of the rows that these had."""
    rooms = {one.room for one in rows}
    return {key: one for key, one in before.items() if one.room not in rooms} | {one.key: one for one in rows}


def as_text(rows: Sequence[Row]) -> str:
    """Return the rows as a table, and a line of sums for each room."""
    lines = [
        f"{one.room:<10}{one.fate:<9}{one.operator:<11}{one.file.removeprefix('ultracrawl/')}:{one.line}"
        f"  {_short(one.was)} -> {_short(one.now)}  [{one.by.removeprefix('tests/')}]"
        for one in rows
    ]
    for room in dict.fromkeys(one.room for one in rows):
        counts = Counter(one.fate for one in rows if one.room == room)
        lines.append(f"{room}: " + ", ".join(f"{counts[fate]} {fate}" for fate in Fate))
    return "\n".join(lines)


def _short(code: str, width: int = 50) -> str:
    line = " ".join(code.split())
    return line if len(line) <= width else line[: width - 1] + "…"


if __name__ == "__main__":
    sys.exit(main())
