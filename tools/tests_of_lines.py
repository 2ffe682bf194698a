"""A plug-in of pytest for `tools/mutants.py`: writes down which test runs which lines, or runs chosen tests in order.

With the environment variable `LINES_OF_TESTS` it measures the package and writes two files of this name: `.coverage`
(contexts are the ids of tests, and of fixtures of a wider scope) and `.json` (`Measured`). With `CHOSEN_TESTS`, the
path of a JSON list of ids, only these tests run, in their order; the id of the first that fails is written beside it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import coverage
import pytest

MEASURE = "LINES_OF_TESTS"
CHOOSE = "CHOSEN_TESTS"
FAILED = ".failed"
"""Suffix of the file that names the first test that failed."""
FIXTURE = "fixture:"
"""Prefix of the context of a fixture that several tests share."""

Ids = frozenset[str]


class Measured:
    """What was measured: the processor seconds of each test that passed, and the tests by line of a file."""

    def __init__(self, stem: Path) -> None:
        noted = json.loads(stem.with_suffix(".json").read_text(encoding="utf-8"))
        self.seconds: Mapping[str, float] = noted["seconds"]
        self._users: Mapping[str, list[str]] = noted["users"]
        self._data = coverage.CoverageData(str(stem.with_suffix(".coverage")))
        self._data.read()

    @cached_property
    def _files(self) -> Mapping[str, str]:
        """The measured files by their paths from the folder of the package on."""
        return {
            "ultracrawl/" + name.rpartition("/ultracrawl/")[2]: name for name in self._data.measured_files()
        }

    def of(self, path: str, lines: Iterable[int]) -> Ids:
        """Return the tests that run one of the lines of a file."""
        contexts = self._contexts(path)
        return self._tests(name for line in lines for name in contexts.get(line, ()))

    def of_file(self, path: str) -> Ids:
        """Return the tests that run anything in a file but its import."""
        return self._tests(name for names in self._contexts(path).values() for name in names)

    def _contexts(self, path: str) -> Mapping[int, list[str]]:
        name = self._files.get(path)
        return self._data.contexts_by_lineno(name) if name else {}

    def _tests(self, contexts: Iterable[str]) -> Ids:
        tests: set[str] = set()
        for name in set(contexts):
            tests.update(self._users.get(name, ()) if name.startswith(FIXTURE) else (name,))
        return frozenset(tests & self.seconds.keys())


class _Recorder:
    """Switches the context of coverage with each test and each fixture that several tests share."""

    def __init__(self, stem: Path) -> None:
        self._stem = stem
        stem.parent.mkdir(parents=True, exist_ok=True)
        self._coverage = coverage.Coverage(
            data_file=str(stem.with_suffix(".coverage")),
            source=["ultracrawl"],
            config_file=False,
            messages=False,
        )
        self._coverage.erase()
        self._coverage.start()
        self._test = ""
        self._seconds: dict[str, float] = {}
        self._users: dict[str, list[str]] = defaultdict(list)
        self._failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        self._test = item.nodeid
        self._coverage.switch_context(self._test)
        started = time.process_time()
        result = yield
        self._seconds[item.nodeid] = round(time.process_time() - started, 3)
        for name in getattr(item, "fixturenames", ()):
            self._users[FIXTURE + name].append(item.nodeid)
        self._test = ""
        self._coverage.switch_context(self._test)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, Any]:
        wide = fixturedef.scope != "function"
        if wide:
            self._coverage.switch_context(FIXTURE + fixturedef.argname)
        result = yield
        if wide:
            self._coverage.switch_context(self._test)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome != "passed":
            self._failed.add(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        self._coverage.save()
        passed = {name: value for name, value in self._seconds.items() if name not in self._failed}
        noted = {"seconds": passed, "users": self._users}
        self._stem.with_suffix(".json").write_text(json.dumps(noted), encoding="utf-8")


class _Chooser:
    """Leaves the chosen tests, in their order, without limits of time: these end the process from outside."""

    def __init__(self, chosen: Path) -> None:
        self._noted = chosen.with_suffix(FAILED)
        self._noted.unlink(missing_ok=True)
        self._rank = {name: rank for rank, name in enumerate(json.loads(chosen.read_text(encoding="utf-8")))}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        package = sys.modules.get("ultracrawl")
        if package and not (package.__file__ or "").startswith(os.getcwd()):
            pytest.exit(f"the tests import {package.__file__}, which is not the changed copy", returncode=3)
        items[:] = sorted(
            (one for one in items if one.nodeid in self._rank), key=lambda one: self._rank[one.nodeid]
        )
        for item in items:
            item.add_marker(pytest.mark.timeout(0), append=False)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            with self._noted.open("a", encoding="utf-8") as noted:
                noted.write(report.nodeid + "\n")


def pytest_configure(config: pytest.Config) -> None:
    """Register what the environment asks for."""
    if stem := os.environ.get(MEASURE):
        config.pluginmanager.register(_Recorder(Path(stem)))
    elif chosen := os.environ.get(CHOOSE):
        config.pluginmanager.register(_Chooser(Path(chosen)))
