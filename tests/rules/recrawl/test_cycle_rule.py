"""When cycles begin, which is resumed, and how a cycle is divided."""

from __future__ import annotations

import pytest

from ultracrawl.rules.recrawl.cycle import CyclePlace, CycleRule, RefreshMode

HOUR = 3600.0
ADAPTIVE, SCRATCH, KNOWN = RefreshMode.ADAPTIVE, RefreshMode.SCRATCH, RefreshMode.KNOWN


def place(rule: CycleRule, latest: CyclePlace | None, now: float, *, nothing: bool = False) -> CyclePlace:
    return rule.following(latest, now, nothing_stored=nothing)


@pytest.mark.parametrize(
    ("now", "due"),
    [
        pytest.param(1000 + 24 * HOUR, 1000 + 24 * HOUR, id="in time"),
        pytest.param(1000 + 25 * HOUR, 1000 + 24 * HOUR, id="late"),
        pytest.param(1000 + 80 * HOUR, 1000 + 72 * HOUR, id="two were missed"),
        pytest.param(1000 + 2 * HOUR, 1000.0, id="ahead of time"),
    ],
)
def test_fast_60_cycles_keep_their_rhythm_and_missed_ones_are_not_made_up_for(now: float, due: float) -> None:
    rule = CycleRule(SCRATCH, 24 * HOUR)
    assert place(rule, CyclePlace(7, 0, 1000.0, SCRATCH), now) == CyclePlace(8, 0, due, SCRATCH)


@pytest.mark.parametrize(
    ("interval", "passed", "over"), [(24 * HOUR, 23.9, False), (24 * HOUR, 24.0, True), (None, 9000.0, False)]
)
def test_fast_60_a_cycle_is_over_after_its_interval(
    interval: float | None, passed: float, over: bool
) -> None:
    latest = CyclePlace(1, 0, 1000.0, SCRATCH)
    assert CycleRule(SCRATCH, interval).is_over(latest, 1000.0, 1000.0 + passed * HOUR) is over


@pytest.mark.parametrize(
    ("late", "ends"),
    [
        pytest.param(0.0, 24 * HOUR, id="in time"),
        pytest.param(120.0, 24 * HOUR, id="as good as in time"),
        pytest.param(121.0, 24 * HOUR + 121.0, id="late"),
        pytest.param(20 * HOUR, 44 * HOUR, id="most of its interval waited"),
    ],
)
def test_a_run_that_waited_for_its_begin_has_a_whole_interval(late: float, ends: float) -> None:
    rule, latest = CycleRule(SCRATCH, 24 * HOUR), CyclePlace(7, 0, 1000.0, SCRATCH)
    assert rule.ends(latest, 1000.0 + late) == 1000.0 + ends
    assert rule.is_over(latest, 1000.0 + late, 999.0 + ends) is False
    assert rule.is_over(latest, 1000.0 + late, 1000.0 + ends) is True


def test_of_a_short_interval_a_tenth_is_late() -> None:
    rule, latest = CycleRule(SCRATCH, 60.0), CyclePlace(7, 0, 1000.0, SCRATCH)
    assert (rule.ends(latest, 1006.0), rule.ends(latest, 1007.0)) == (1060.0, 1067.0)


def test_fast_181_a_minor_cycle_lasts_its_part_of_the_interval() -> None:
    rule = CycleRule(ADAPTIVE, 24 * HOUR, minors=4)
    latest = CyclePlace(2, 1, 0.0, ADAPTIVE)
    assert rule.next_due(latest, HOUR) == 6 * HOUR, "refresh 1440, refresh_count 4: every 360 minutes"
    assert place(rule, latest, 6 * HOUR) == CyclePlace(2, 2, 6 * HOUR, ADAPTIVE)
    assert place(rule, CyclePlace(2, 3, 0.0, ADAPTIVE), 6 * HOUR) == CyclePlace(3, 0, 6 * HOUR, ADAPTIVE)
    assert place(rule, latest, 20 * HOUR) == CyclePlace(3, 0, 18 * HOUR, ADAPTIVE), (
        "the cycle ended meanwhile"
    )


def test_fast_181_the_first_adaptive_cycle_is_one_from_scratch_and_not_divided() -> None:
    rule = CycleRule(ADAPTIVE, 24 * HOUR, minors=4)
    first = place(rule, None, 5.0, nothing=True)
    assert first == CyclePlace(1, 0, 5.0, SCRATCH)
    assert rule.next_due(first, 6.0) == 5.0 + 24 * HOUR
    assert place(rule, first, 6.0) == CyclePlace(2, 0, 5.0, ADAPTIVE)


def test_without_an_interval_each_crawl_begins_a_cycle() -> None:
    rule = CycleRule(KNOWN)
    assert rule.next_due(CyclePlace(1, 0, 5.0), 6.0) is None
    assert place(rule, CyclePlace(1, 0, 5.0), 6.0) == CyclePlace(2, 0, 6.0)


@pytest.mark.parametrize("ahead", [HOUR, 1000 * 24 * HOUR], ids=["an hour", "years"])
def test_a_cycle_that_a_wrong_clock_dated_counts_from_now(ahead: float) -> None:
    rule = CycleRule(SCRATCH, 24 * HOUR)
    latest = CyclePlace(7, 0, 1000.0 + ahead, SCRATCH)
    assert rule.next_due(latest, 1000.0) == 1000.0 + 24 * HOUR
    assert rule.is_over(latest, 1000.0 + ahead, 1000.0) is False
    assert place(rule, latest, 1000.0) == CyclePlace(8, 0, 1000.0, SCRATCH)


def test_an_adaptive_cycle_is_not_divided_by_default() -> None:
    assert CycleRule(ADAPTIVE, 24 * HOUR).length(ADAPTIVE) == 24 * HOUR
