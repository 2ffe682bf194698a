"""Limits with slack, and the guard against endless sites."""

from __future__ import annotations

import pytest

from ultracrawl.rules.candidates.rules import SiteLimits, TrapGuard, TrapLimits
from ultracrawl.rules.frontier.limits import SlackLimit

COURSES = {
    "fast_173_174-documents": (SlackLimit(100, 10), [99, 100, 95, 90, 89, 99, 100], [0, 1, 1, 1, 0, 0, 1]),
    "fast_171_172-free disk": (
        SlackLimit(10, 3, falling=True),
        [10, 9.9, 12, 13, 13.1, 11],
        [0, 1, 1, 1, 0, 0],
    ),
    "a slack that could not be reached": (SlackLimit(100, 1000), [100, 91, 90, 89], [1, 1, 1, 0]),
    "off": (SlackLimit(None, 10), [10**9], [0]),
    "0 is off": (SlackLimit(0, 3, falling=True), [0], [0]),
}


@pytest.mark.parametrize(("limit", "values", "over"), COURSES.values(), ids=COURSES)
def test_a_limit_with_slack(limit: SlackLimit, values: list[float], over: list[int]) -> None:
    assert [int(limit.update(value)) for value in values] == over


def test_queries_of_one_path_are_bounded() -> None:
    guard = TrapGuard(TrapLimits(SiteLimits(None, 3)), {})
    rules = [guard.rejects(f"http://h/cal?day={day}", "h") for day in range(5)]
    assert rules == [None, None, None, "limits.query_variations 3", "limits.query_variations 3"]
    assert guard.rejects("http://h/other?day=1", "h") is None
    assert guard.rejects("http://h/cal", "h") is None


def test_urls_of_a_site_are_bounded_with_those_known_before() -> None:
    guard = TrapGuard(TrapLimits(SiteLimits(5, None)), {"h": 4})
    assert [guard.rejects(f"http://h/{n}", "h") for n in range(3)] == [None, *["limits.urls_per_site 5"] * 2]
    assert guard.rejects("http://g/", "g") is None


def test_only_what_passes_is_counted() -> None:
    guard = TrapGuard(TrapLimits(SiteLimits(1, 2)), {"full": 1})
    assert [guard.rejects("http://full/cal?a", "full") for _ in range(3)] == ["limits.urls_per_site 1"] * 3
    guard = TrapGuard(TrapLimits(SiteLimits(2, 1)), {})
    rules = [guard.rejects(url, "h") for url in ("http://h/a?1", "http://h/a?2", "http://h/b", "http://h/c")]
    assert rules == [None, "limits.query_variations 1", None, "limits.urls_per_site 2"]


def test_many_paths_do_not_open_a_trap_again() -> None:
    guard = TrapGuard(TrapLimits(SiteLimits(None, 2)), {}, max_paths=10)
    for day in range(3):
        guard.rejects(f"http://h/cal?{day}", "h")
    for number in range(100):
        guard.rejects(f"http://h/{number}?a=1", "h")
    assert guard.rejects("http://h/cal?99", "h") == "limits.query_variations 2"


def test_memory_is_bounded() -> None:
    guard = TrapGuard(TrapLimits(SiteLimits(None, 1)), {}, max_paths=10)
    assert not any(guard.rejects(f"http://h/{n}?a=1", "h") for n in range(1000))
    assert len(guard._queries) <= 10


def test_queries_known_from_earlier_runs_count() -> None:
    guard = TrapGuard(TrapLimits(SiteLimits(None, 3)), {}, {"http://h/cal": 2, "http://h/full": 3})
    urls = ("http://h/cal?a", "http://h/cal?b", "http://h/full?a", "http://h/other?a")
    rule = "limits.query_variations 3"
    assert [guard.rejects(url, "h") for url in urls] == [None, rule, rule, None]
