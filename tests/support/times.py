"""How many processor seconds the cases of a test take: counted in every run, stored in `tests/times.json`.

The file has a line a module of tests: the tests whose cases take more than `LONG` each, and under `OTHERS` what a case
of the others takes. A case that goes through rows by `subtests` is long if a row of it takes more than `LONG`.
`make times` writes the file; what was not run keeps what is said of it. Seconds of the clock depend on what else the
machine does, processor seconds hardly.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Generator, Mapping
from contextlib import suppress
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

FILE = Path(__file__).parents[1] / "times.json"
LONG = 0.15
"""Maximum processor seconds of a case, or of a row of it, of a test that `make test` runs for this alone."""
OTHERS = "others"
"""What stands in a line for all tests that are not long."""
UNKNOWN = 0.03
"""Processor seconds that a case is taken to need as long as its module was never counted."""
COUNTED = "processor seconds"
"""The name under which the report of a case has them."""
_TICKS = os.sysconf("SC_CLK_TCK")

Rows = Mapping[str, Mapping[str, float]]
"""Processor seconds of a case by test, by module."""


def name_of(nodeid: str) -> tuple[str, str]:
    """Return the module and the test of a case."""
    module, _, test = nodeid.partition("::")
    return module, test.partition("[")[0]


def read(file: Path) -> Rows:
    """Return what is stored; nothing if there is no such file."""
    rows: Rows = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return rows


def is_long(rows: Rows, nodeid: str) -> bool:
    """Return whether a case is known to take more than `LONG`."""
    module, test = name_of(nodeid)
    return test in rows.get(module, {})


def seconds(rows: Rows, nodeid: str) -> float:
    """Return what a case takes by what is stored."""
    module, test = name_of(nodeid)
    row = rows.get(module, {})
    return row.get(test, row.get(OTHERS, UNKNOWN))


def rows_of(counted: Mapping[str, float], subtests: Mapping[str, int]) -> Rows:
    """Return the rows of modules from the processor seconds of their cases, and the numbers of subtests of some."""
    tests: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    most: Counter[tuple[str, str]] = Counter()
    for nodeid, spent in counted.items():
        module, test = name_of(nodeid)
        tests[module][test].append(spent)
        most[module, test] = max(most[module, test], subtests.get(nodeid, 1))
    made = {}
    for module, cases in sorted(tests.items()):
        means = {test: round(fmean(spent), 2) for test, spent in sorted(cases.items())}
        row = {test: mean for test, mean in means.items() if mean > LONG * most[module, test]}
        others = [one for test, spent in cases.items() if test not in row for one in spent]
        made[module] = row | ({OTHERS: round(fmean(others), 3)} if others else {})
    return made


def merged(before: Rows, counted: Mapping[str, float], subtests: Mapping[str, int], root: Path) -> Rows:
    """Return the rows before with what was counted now, without modules and tests that are no longer below `root`."""
    tests = {name_of(nodeid) for nodeid in counted}
    rows = {**rows_of(counted, subtests)}
    for module, row in before.items():
        if not (file := root / module).exists():
            continue
        text = file.read_text(encoding="utf-8")
        kept = {
            test: spent
            for test, spent in row.items()
            if (module, test) not in tests and (test == OTHERS or f"def {test}(" in text)
        }
        rows[module] = kept | rows.get(module, {})
    return rows


def write(rows: Rows, file: Path) -> None:
    """Store rows, a module a line."""
    ordered = {module: dict(sorted(rows[module].items(), key=_others_last)) for module in sorted(rows)}
    lines = (f"{json.dumps(module)}: {json.dumps(row)}" for module, row in ordered.items())
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


class Counting:
    """Counts what each case takes: this process, the processes that it waited for, and those of hosted commands."""

    def __init__(self) -> None:
        self._before = 0.0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, Any, Any]:
        self._before = _spent()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        report = yield
        if call.when == "teardown":
            report.user_properties.append((COUNTED, round(_spent() - self._before, 4)))
        return report


class Collecting:
    """Gathers what the cases of a run took, in the process that hears of all of them."""

    def __init__(self) -> None:
        self.counted: dict[str, float] = {}
        self.subtests: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if isinstance(report, pytest.SubtestReport):
            self.subtests[report.nodeid] += 1
        for name, value in report.user_properties:
            if name == COUNTED:
                assert isinstance(value, float)
                self.counted[report.nodeid] = value


def _others_last(pair: tuple[str, float]) -> tuple[bool, str]:
    return pair[0] == OTHERS, pair[0]


def _spent() -> float:
    times = os.times()
    spent = times.user + times.system + times.children_user + times.children_system
    hosted = sys.modules.get("support.hosted")  # it is heavy to import, and most runs do without it
    if hosted and (host := hosted.host_process()):
        with suppress(OSError):  # no Linux
            fields = Path(f"/proc/{host}/stat").read_bytes().rpartition(b")")[2].split()
            spent += sum(map(int, fields[11:15])) / _TICKS
    return spent
