"""benchmarks/calls.py: what counts, what may grow, and when figures are compared; `make calls` runs it."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from support.benchmarks import load_benchmark
from support.client import ask
from support.project import ROOT

FEW = 40
"""Pages of the site on which costs are put back."""
WORKING = """
import re
import sqlite3

import re2

WORD = re.compile(r"[a-z]+")


def scan():
    WORD.search("12ab345")
    WORD.search("12345")
    WORD.match("ab345")
    WORD.match("xx345", 2)
    WORD.findall("ab cd")
    WORD.sub("-", "abc")
    re.split(",", "a,b")
    re2.compile("b").search("aabaa")


def sort():
    sorted({3, 1, 2})


def store():
    with sqlite3.connect(":memory:", isolation_level=None) as db:
        db.execute("create table t (a)")
        db.executemany("insert into t values (?)", [(1,), (2,)])
    db.close()
"""
COSTS = """
from contextlib import closing

from scrapy import signals


class Cost:
    def __init__(self, crawler):
        self.crawler = crawler
        crawler.signals.connect(self.put_back, signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def put_back(self):
        pass


class Words(Cost):
    def put_back(self):
        from ultracrawl.rules.duplicates.likeness import Version
        from ultracrawl.run.placement.changes import ChangeGuard

        judge = ChangeGuard.judge

        def judge_as_known(guard, visit, document):
            Version(visit.url, document.title, document.text).look(frozenset())
            return judge(guard, visit, document)

        ChangeGuard.judge = judge_as_known


class Index(Cost):
    def put_back(self):
        from ultracrawl.index.project_index import open_index
        from ultracrawl.run.lifecycle import context_of

        context = context_of(self.crawler)
        with closing(open_index(context.project, context.source.feeding.primary_index)):
            pass


class Start(Cost):
    def put_back(self):
        import re
        from dataclasses import make_dataclass

        from pydantic import create_model

        create_model("Section", option=(int, 1))
        make_dataclass("Holder", ["value"])
        re.compile("put back")
"""
Figures = dict[str, float]


@pytest.fixture(scope="module")
def calls() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        yield load_benchmark("calls", patch)


@pytest.fixture(scope="module")
def crawl_with(
    calls: ModuleType, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Figures]]:
    """A crawl that has one of `COSTS`: its figures."""
    with calls.counted_site(FEW).serve() as url:

        def crawl(cost: str) -> Figures:
            folder = tmp_path_factory.mktemp(cost)
            (folder / "costs.py").write_text(COSTS)
            first = calls.crawled(folder, ROOT, url, f"costs.{cost}")
            figures: Figures = calls.a_page(calls.by_process(first), FEW)
            return figures | calls.start_of("crawl", first[0])

        yield crawl


@pytest.fixture(scope="module")
def figures_before(crawl_with: Callable[[str], Figures]) -> Figures:
    return crawl_with("Cost")


# ---- what is counted


@pytest.mark.processes
def test_what_functions_in_c_are_given_counts(calls: ModuleType, tmp_path: Path) -> None:
    package = tmp_path / "ultracrawl"
    package.mkdir()
    (package / "working.py").write_text(WORKING)
    script = "from ultracrawl.working import *; [work() for work in (scan, sort, store)]; sorted('not ours')"
    folders = {"PYTHONPATH": f"{calls.counting.COUNTER}:{tmp_path}", "CALLS_TREE": str(tmp_path)}

    subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=folders | {"CALLS_FOLDER": str(tmp_path)},
        check=True,
    )

    (file,) = tmp_path.glob("*.json")
    counted = calls.counting.by_file(json.loads(file.read_text()))
    place = "ultracrawl/working.py"
    assert counted["characters matched"] == {place: 4 + 5 + 2 + 0 + 5 + 3 + 3 + 3}
    assert counted["items sorted"] == {place: 3}
    assert counted["statements"] == {place: 3}
    assert counted["calls"][place] > 10


def test_what_hangs_on_time_does_not_count(calls: ModuleType) -> None:
    place, by_time = "ultracrawl/content/html/walk.py", f"{calls.counting.NOT_COUNTED[0]}.py"
    process = {
        "functions": {place: 3, by_time: 100},
        "in_c": {place: 4, by_time: 100},
        "given": {"items sorted": {place: 5, by_time: 100}},
    }
    assert calls.counting.by_file(process) == {"calls": {place: 7}, "items sorted": {place: 5}}


def test_what_does_not_count_is_there(calls: ModuleType) -> None:
    assert [place for place in calls.counting.NOT_COUNTED if not list(ROOT.glob(f"{place}*"))] == []


def test_counted_crawls_tick_with_pages(calls: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(calls.counting.COUNTER))
    ticks = importlib.import_module("ticks_by_pages")
    assert ticks.lifecycle is not None, "where it looks for the tasks of a crawl there are none"


def test_a_site_is_the_same_each_time(calls: ModuleType) -> None:
    bodies = []
    for _ in range(2):
        with calls.counted_site().serve() as url:
            paths = ("/", "/manual/page-1.html", f"/manual/page-{calls.PAGES - 1}.html")
            bodies.append([ask(f"{url}{path}")[2] for path in paths])
    assert bodies[0] == bodies[1]
    assert len(set(bodies[0])) == 3


# ---- what may grow


@pytest.mark.parametrize(
    ("figure", "before", "now", "has_grown"),
    [
        ("crawl process: calls", 1000.0, 1029.0, False),
        ("crawl process: calls", 1000.0, 1031.0, True),
        ("second crawl: statements", 1000.0, 1031.0, True),
        ("index process: calls", 1000.0, 1049.0, False),
        ("index process: items sorted", 1000.0, 1051.0, True),
        ("index process: statements", 0.0, 0.01, True),
        ("start of crawl: modules", 1000.0, 1000.0, False),
        ("start of serve: modules", 1000.0, 1001.0, True),
        ("start of crawl: modules", 1000.0, 900.0, False),
    ],
)
def test_figures_of_a_page_may_grow_by_some_per_cent_and_those_of_a_start_by_nothing(
    calls: ModuleType, figure: str, before: float, now: float, has_grown: bool
) -> None:
    assert calls.ratchet.grown({figure: now}, {figure: before}) == ([figure] if has_grown else [])


def test_figures_are_stored_for_a_version_of_python_and_what_is_stored_has_not_grown(
    calls: ModuleType, tmp_path: Path
) -> None:
    file, now = tmp_path / "stored.json", {"start of crawl: modules": 1000.0, "second crawl: calls": 2 / 3}
    calls.ratchet.store_figures(file, "3.11", {"other": 1.0})
    calls.ratchet.store_figures(file, "3.12", now)
    stored = calls.ratchet.read_figures(file)
    assert stored["3.11"] == {"other": 1.0}
    assert calls.ratchet.grown(now, stored["3.12"]) == []


def test_a_new_figure_is_compared_once_it_is_stored(calls: ModuleType) -> None:
    assert calls.ratchet.grown({"new": 5.0}, {}) == []


def test_a_figure_that_is_stored_and_not_measured_fails(calls: ModuleType) -> None:
    assert [*calls.ratchet.failures({"a": 1.0}, {"a": 1.0, "b": 1.0}, {}, [])]


def test_the_table_has_each_figure_beside_what_is_stored_and_its_budget(calls: ModuleType) -> None:
    lines = calls.table({"a": 110.0, "new": 1.0}, {"a": 100.0}, {"a": 200.0}).splitlines()
    assert lines[2:] == ["| a | 110 | 100 | +10.0% | -45.0% |", "| new | 1 |  |  |  |"]


@pytest.mark.parametrize(("now", "fails"), [(1049.0, False), (1051.0, True)])
def test_what_is_stored_does_not_raise_the_budget(calls: ModuleType, now: float, fails: bool) -> None:
    figures, budget = {"start of crawl: modules": now}, {"start of crawl: modules": 1000.0}
    assert bool([*calls.ratchet.failures(figures, figures, budget, [])]) is fails


def test_each_stored_figure_has_a_budget(calls: ModuleType) -> None:
    stored, budget = (calls.ratchet.read_figures(file) for file in (calls.STORED, calls.BUDGET))
    assert {python: set(figures) for python, figures in stored.items()} == {
        python: set(figures) for python, figures in budget.items()
    }


@pytest.mark.parametrize(
    ("before", "others", "in_ci", "fails"),
    [
        ({"a": 1.0}, [], False, True),
        ({}, [], False, False),
        ({}, [], True, True),
        ({"a": 1.0}, ["scrapy"], False, False),
        ({"a": 1.0}, ["scrapy"], True, True),
    ],
)
def test_figures_are_compared_with_those_of_this_python_and_these_packages_and_in_ci_always(
    calls: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    before: Figures,
    others: list[str],
    in_ci: bool,
    fails: bool,
) -> None:
    monkeypatch.setenv("CI", "1" if in_ci else "")
    assert bool([*calls.ratchet.failures({"a": 2.0}, before, {}, others)]) is fails


def test_packages_of_other_versions_than_the_lock_file_are_named(calls: ModuleType) -> None:
    lock = "pytest==0.0.1 \\\n    --hash=sha256:00\nno-such-package==1.0 ; python_version < '3.12'\n"
    assert calls.ratchet.other_versions(lock) == ["pytest"]
    assert (
        calls.ratchet.other_versions(f"{lock}pytest=={pytest.__version__} ; python_version >= '3.11' \\\n")
        == []
    )


@pytest.mark.parametrize(
    ("figure", "message", "named"),
    [
        (2.0, "Subject", ["a"]),
        (2.0, "Subject\n\nIt buys something.", []),
        (0.5, "Subject", []),
    ],
)
def test_a_commit_that_raises_a_figure_says_what_it_buys(
    calls: ModuleType, tmp_path: Path, figure: float, message: str, named: list[str]
) -> None:
    file = tmp_path / "calls.json"
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    for stored, words in ((1.0, "First"), (figure, message)):
        calls.ratchet.store_figures(file, "3.11", {"a": stored, f"new at {stored}": 1.0})
        subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
        identity = ("-c", "user.name=Name", "-c", "user.email=name@example.com")
        subprocess.run(["git", *identity, "commit", "--quiet", "-m", words], cwd=tmp_path, check=True)
    assert calls.ratchet.unexplained(file) == named


# ---- costs that the program once had are put back


@pytest.mark.processes
@pytest.mark.parametrize(
    ("cost", "caught_by"),
    [
        ("Words", {"crawl process: characters matched", "crawl process: items sorted"}),
        ("Index", {"start of crawl: modules"}),
        (
            "Start",
            {
                "start of crawl: pydantic models",
                "start of crawl: dataclasses",
                "start of crawl: methods of dataclasses",
                "start of crawl: regular expressions",
            },
        ),
    ],
    ids=["the words of each new page", "the index is opened in the crawling process", "classes and patterns"],
)
def test_a_cost_that_is_put_back_is_noticed(
    calls: ModuleType,
    figures_before: Figures,
    crawl_with: Callable[[str], Figures],
    cost: str,
    caught_by: set[str],
) -> None:
    grown = calls.ratchet.grown(crawl_with(cost), figures_before)
    assert caught_by <= set(grown)
    assert [*calls.ratchet.failures(dict.fromkeys(grown, 2.0), dict.fromkeys(grown, 1.0), {}, [])]
