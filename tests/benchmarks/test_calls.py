"""benchmarks/calls.py: what counts, what may grow, and when figures are compared; `make calls` runs it."""

from __future__ import annotations

from types import ModuleType

import pytest
from support.benchmarks import load_benchmark
from support.client import ask
from support.project import ROOT


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load_benchmark("calls", monkeypatch)


def test_what_repeats_with_time_does_not_count(calls: ModuleType) -> None:
    process = {
        "functions": {"ultracrawl/content/html/walk.py": 3, "ultracrawl/run/control/watch.py": 100},
        "in_c": {"ultracrawl/content/html/walk.py": 4, "ultracrawl/cli/crawl/progress.py": 100},
    }
    assert calls.calls_of(process) == 7


def test_what_does_not_count_is_there(calls: ModuleType) -> None:
    assert [place for place in calls.BY_TIME if not list(ROOT.glob(f"{place}*"))] == []


@pytest.mark.parametrize(
    ("figure", "before", "now", "has_grown"),
    [
        ("crawl process", 1000.0, 1029.0, False),
        ("crawl process", 1000.0, 1031.0, True),
        ("index process", 1000.0, 1049.0, False),
        ("index process", 1000.0, 1051.0, True),
        ("crawl: modules", 1000.0, 1000.0, False),
        ("crawl: modules", 1000.0, 1001.0, True),
        ("crawl: modules", 1000.0, 900.0, False),
    ],
)
def test_calls_may_grow_by_some_per_cent_and_a_start_by_nothing(
    calls: ModuleType, figure: str, before: float, now: float, has_grown: bool
) -> None:
    assert calls.grown({figure: now}, {figure: before}) == ([figure] if has_grown else [])


def test_a_new_figure_is_compared_once_it_is_stored(calls: ModuleType) -> None:
    assert calls.grown({"new": 5.0}, {}) == []


@pytest.mark.parametrize(
    ("before", "others", "fails"),
    [({"a": 1.0}, [], True), ({}, [], False), ({"a": 1.0}, ["scrapy"], False)],
)
def test_figures_are_compared_with_those_of_this_python_and_these_packages(
    calls: ModuleType, before: dict[str, float], others: list[str], fails: bool
) -> None:
    assert bool(calls.judged(["a"], before, others)) is fails
    assert not calls.judged([], before, others)


def test_packages_of_other_versions_than_the_lock_file_are_named(calls: ModuleType) -> None:
    lock = "pytest==0.0.1 \\\n    --hash=sha256:00\nno-such-package==1.0 ; python_version < '3.12'\n"
    assert calls.other_versions(lock) == ["pytest"]
    assert calls.other_versions(f"{lock}pytest=={pytest.__version__} ; python_version >= '3.11' \\\n") == []


def test_a_site_is_the_same_each_time(calls: ModuleType) -> None:
    bodies = []
    for _ in range(2):
        with calls.counted_site().serve() as url:
            paths = ("/", "/manual/page-1.html", f"/manual/page-{calls.PAGES - 1}.html")
            bodies.append([ask(f"{url}{path}")[2] for path in paths])
    assert bodies[0] == bodies[1]
    assert len(set(bodies[0])) == 3
