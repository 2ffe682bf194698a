"""What a minor cycle begins with: coverage, shares of known and new URLs, order."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from ultracrawl.rules.recrawl.adaptive import (
    AdaptiveRule,
    Aim,
    ChangeHistory,
    KnownPage,
    ScoreParts,
    Scorer,
    SiteSize,
    gain,
)

DAY = 86_400.0
NOW = 1000 * DAY
RULE = AdaptiveRule(Scorer(DAY))


def known(
    number: int, *, site: str = "a", waited: float = DAY, every: float = DAY, **facts: object
) -> KnownPage:
    """A page that was fetched once, `every` seconds after its Last-Modified date."""
    history = ChangeHistory(NOW - waited, NOW - waited, modified=NOW - waited - every)
    return KnownPage(number, f"http://{site}/{number}", site, 1, NOW - waited, history=history, **facts)


def new(number: int, site: str = "a") -> KnownPage:
    return KnownPage(number, f"http://{site}/{number}", site, 1)


def chosen(rule: AdaptiveRule, pages: list[KnownPage]) -> list[int]:
    sizes = Counter((page.site, bool(page.last_fetched)) for page in pages)
    sites = {site: SiteSize(sizes[site, True], sizes[site, False]) for site in {page.site for page in pages}}
    return [one.key for one in rule.choose(pages, sites, NOW).pages]


@pytest.mark.parametrize(("size", "urls"), [(10, 10), (100, 25), (1000, 100)])
def test_fast_183_184_urls_of_a_site_in_a_minor_cycle(size: int, urls: int) -> None:
    assert RULE.coverage(size) == urls
    assert len(chosen(RULE, [known(number) for number in range(size)])) == urls


@pytest.mark.parametrize(
    ("changes", "urls"),
    [({"coverage_min": 40}, 40), ({"coverage_max_pct": 50}, 50), ({"coverage_min": 0}, 10)],
)
def test_fast_183_184_are_options(changes: dict[str, int], urls: int) -> None:
    assert replace(RULE, **changes).coverage(100) == urls


@pytest.mark.parametrize(
    ("quota", "size", "split"),
    [
        pytest.param(90, SiteSize(900, 100), (90, 10), id="nine of ten are known"),
        pytest.param(50, SiteSize(900, 100), (50, 50), id="half of them"),
        pytest.param(100, SiteSize(900, 100), (100, 0), id="known ones only"),
        pytest.param(0, SiteSize(900, 100), (0, 100), id="new ones only"),
        pytest.param(90, SiteSize(1000, 0), (100, 0), id="no new ones: known ones take their share"),
        pytest.param(90, SiteSize(5, 995), (5, 95), id="few known ones: new ones take their share"),
        pytest.param(0, SiteSize(990, 10), (90, 10), id="few new ones: known ones take their share"),
    ],
)
def test_fast_182_the_quota_divides_the_fetches(quota: int, size: SiteSize, split: tuple[int, int]) -> None:
    assert replace(RULE, quota=quota).split(size) == split


@pytest.mark.parametrize(("quota", "allowed"), [(90, 10), (50, 50), (100, 0)])
def test_fast_182_new_urls_that_turn_up_have_their_share(quota: int, allowed: int) -> None:
    rule = replace(RULE, quota=quota)
    pages = [known(number) for number in range(1000)]
    assert rule.choose(pages, {"a": SiteSize(1000, 0)}, NOW).allowance == {"a": allowed}


def test_fast_183_a_small_site_may_grow_to_the_minimum() -> None:
    assert RULE.choose([known(1)], {"a": SiteSize(1, 0)}, NOW).allowance == {"a": 24}


def test_every_site_has_its_own_share() -> None:
    pages = [known(number) for number in range(400)] + [known(1000 + number, site="b") for number in range(5)]
    assert Counter(number >= 1000 for number in chosen(RULE, pages)) == {False: 40, True: 5}


SCORE = replace(RULE, aim=Aim.SCORE, coverage_min=2, coverage_max_pct=0, longest=0)


def test_fast_189_by_score_pages_that_change_more_often_come_first() -> None:
    pages = [known(1, every=9 * DAY), known(2, every=DAY / 9), known(3, every=DAY)]
    assert chosen(SCORE, pages) == [2, 3]


def test_equal_scores_go_by_sitemap_priority_then_by_the_longest_wait() -> None:
    pages = [known(1, waited=DAY), known(2, waited=3 * DAY), known(3, priority=0.9), known(4, priority=0.1)]
    assert chosen(replace(SCORE, coverage_min=4), pages) == [3, 2, 1, 4], "fast_190"


def test_by_freshness_what_waited_long_comes_before_what_changes_faster_than_it_can_be_visited() -> None:
    rule = replace(SCORE, aim=Aim.FRESHNESS, coverage_min=1)
    pages = [known(1, every=60.0, waited=DAY / 4), known(2, every=2 * DAY, waited=3 * DAY)]
    assert chosen(rule, pages) == [2]
    assert chosen(replace(rule, aim=Aim.SCORE), pages) == [1]


@pytest.mark.parametrize(("every", "counts"), [(60.0, DAY / 4), (DAY / 4, DAY / 4), (DAY, DAY)])
def test_by_freshness_no_page_changes_faster_than_minor_cycles_come(every: float, counts: float) -> None:
    """Of pages that change all the time one is worth as much as the other, and none is given up."""
    page = known(1, every=every, waited=DAY / 2)
    worth = RULE.scorer.weights.change_history + RULE.scorer.parts(page).worth
    assert RULE.ranked(page, NOW).rank == pytest.approx(worth * gain(counts, DAY / 2))


def test_by_freshness_the_weights_still_count() -> None:
    rule = replace(SCORE, aim=Aim.FRESHNESS, coverage_min=1)
    landing = known(1, waited=0.98 * DAY)._replace(url="http://a/folder/")
    assert chosen(rule, [landing, known(2)]) == [1]
    unweighted = Scorer(DAY, replace(ScoreParts(), is_landing_page=0.0, inverse_length=0.0))
    assert chosen(replace(rule, scorer=unweighted), [landing, known(2)]) == [2]


@pytest.mark.parametrize("aim", Aim)
def test_what_was_not_fetched_for_too_long_goes_first(aim: Aim) -> None:
    pages = [known(1, every=DAY / 9), known(2, every=900 * DAY, waited=9 * DAY)]
    rule = replace(SCORE, aim=aim, coverage_min=1)
    assert chosen(rule, pages) == [1]
    assert chosen(replace(rule, longest=8), pages) == [2]


def test_the_gain_is_the_derivative_of_freshness() -> None:
    """F(f) = (f / q)(1 - exp(-q / f)); compare dF/df with a difference quotient."""
    from math import exp

    interval, waited = 5.0, 3.0

    def freshness(rate: float) -> float:
        return rate * interval * (1 - exp(-1 / (interval * rate)))

    rate, step = 1 / waited, 1e-6
    slope = (freshness(rate + step) - freshness(rate - step)) / (2 * step)
    assert gain(interval, waited) == pytest.approx(slope, rel=1e-4)
    assert gain(interval, 1e9) == interval


@pytest.mark.parametrize("waited", [0.1, 0.4, 3600.0])
def test_a_short_wait_counts_also_for_a_page_that_hardly_ever_changes(waited: float) -> None:
    years = 9e7
    assert gain(years, waited) == pytest.approx(waited**2 / (2 * years), rel=1e-4)


@pytest.mark.parametrize("aim", Aim)
def test_fast_190_what_changed_by_its_sitemap_goes_ahead_of_what_may_have(aim: Aim) -> None:
    told = known(2, waited=DAY / 24)._replace(sitemap_lastmod=NOW - 1.0)
    rule = replace(SCORE, aim=aim, coverage_min=1)
    assert chosen(rule, [known(1, waited=DAY / 2), told]) == [2]
    silent = replace(rule.scorer, uses_sitemaps=False)
    assert chosen(replace(rule, aim=Aim.FRESHNESS, scorer=silent), [known(1, waited=DAY / 2), told]) == [1]


def test_pages_that_a_wrong_clock_dated_do_not_wait_until_then() -> None:
    ahead = known(1)._replace(last_fetched=NOW + 400 * DAY)
    assert RULE.ranked(ahead, NOW).overdue
    assert chosen(replace(RULE, coverage_min=1, coverage_max_pct=0), [known(2), ahead, known(3)]) == [1]


@pytest.mark.parametrize(
    ("size", "begun", "allowed"),
    [
        (SiteSize(600, 400), (90, 10), 0),
        (SiteSize(600, 400), (90, 0), 10),
        (SiteSize(600, 400), (50, 0), 50),
        (SiteSize(10, 5), (10, 5), 10),
    ],
)
def test_fast_182_183_what_turns_up_gets_what_is_left(
    size: SiteSize, begun: tuple[int, int], allowed: int
) -> None:
    """New URLs have their share, and whatever known ones leave; a small site may come to the minimum."""
    assert RULE.allowance(size, *begun) == allowed


@pytest.mark.parametrize(("waited", "overdue"), [(8 * DAY - 1, False), (8 * DAY, True)])
def test_a_page_is_overdue_after_so_many_cycles(waited: float, overdue: bool) -> None:
    assert RULE.ranked(known(1, waited=waited), NOW).overdue is overdue
    assert not RULE.ranked(new(1), NOW).overdue
