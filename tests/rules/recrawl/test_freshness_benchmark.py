"""The small version of benchmarks/freshness.py: adaptive is at least as fresh as a fixed interval."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest
from support.benchmarks import load_benchmark


@pytest.fixture(scope="module")
def freshness() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        yield load_benchmark("freshness", patch)


def test_adaptive_is_at_least_as_fresh_as_a_fixed_interval_with_the_same_requests(
    freshness: ModuleType,
) -> None:
    policies = freshness.measure(600, 3)["policies"]
    fixed, adaptive, score, oracle = (policies[name] for name in ("fixed", "adaptive", "score", "oracle"))
    assert fixed["fetches"] == adaptive["fetches"] == score["fetches"] == oracle["fetches"] == 23 * 60
    assert adaptive["freshness"] >= fixed["freshness"]
    assert oracle["freshness"] >= adaptive["freshness"]
    assert score["freshness"] < fixed["freshness"], "the scores alone keep to the pages that change most"


def test_time_without_a_visit_is_fresh_until_the_first_change(freshness: ModuleType) -> None:
    (page,) = freshness.make_site(10, freshness.Random(1))[:1]
    page.changes, page.at = [0.0, 4.0, 6.0], 1
    assert page.pass_time(1.0, 3.0) == (2.0, 0.0)
    assert page.pass_time(3.0, 7.0) == (1.0, 4.5), "3 hours old after 4: the area is 3 * 3 / 2"
    assert page.pass_time(7.0, 8.0) == (0.0, 3.5)
