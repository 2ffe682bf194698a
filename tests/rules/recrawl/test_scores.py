"""The six scorers, the sitemap weights, and how often pages are thought to change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ultracrawl.rules.recrawl.adaptive import (
    FREQUENCIES,
    ChangeHistory,
    KnownPage,
    ScoreParts,
    Scorer,
    inverse_depth,
    inverse_length,
    is_landing_page,
)

R = 86_400.0
OFF = ScoreParts(0, 0, 0, 0, 0, 0)
SITE = "http://a.example"


def page(path: str = "/x", **facts: object) -> KnownPage:
    return KnownPage(1, SITE + path, "a.example", **{"depth": 0, "last_fetched": R, **facts})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("/", 1.0),
        ("/a", 1.0),
        ("/a/b", 8 / 9),
        ("/a/b?c=/d/e", 8 / 9),
        ("/1/2/3/4/5/6/7/8/9/x", 0.0),
        ("/" * 14, 0.0),
    ],
)
def test_fast_185_inverse_length(path: str, value: float) -> None:
    assert inverse_length(SITE + path) == pytest.approx(value)


@pytest.mark.parametrize(("hops", "value"), [(0, 1.0), (2, 0.8), (10, 0.0), (25, 0.0)])
def test_fast_186_inverse_depth(hops: int, value: float) -> None:
    assert inverse_depth(hops) == pytest.approx(value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("/", 1.0),
        ("/a/", 1.0),
        ("/a/index.html", 1.0),
        ("/index.htm", 1.0),
        ("/index.php", 1.0),
        ("/index.jsp", 1.0),
        ("/index.asp", 1.0),
        ("/default.html", 1.0),
        ("/default.htm", 1.0),
        ("/myindex.html", 0.0),
        ("/index.php?id=1", 0.0),
        ("/a/?x", 0.0),
        ("/page", 0.0),
    ],
)
def test_fast_187_is_landing_page(path: str, value: float) -> None:
    assert is_landing_page(SITE + path) == value


@pytest.mark.parametrize(("markup", "value"), [(True, 2.5), (False, 0.0)])
def test_fast_188_is_mime_markup(markup: bool, value: float) -> None:
    scorer = Scorer(R, replace(OFF, is_mime_markup=2.5))
    assert scorer.parts(page(markup=markup)).total == value


def observed(first: float, last: float, checks: int, changes: int, **more: float) -> ChangeHistory:
    return ChangeHistory(first, last, checks, changes, **more)


HOUR = 3600.0


@pytest.mark.parametrize(
    ("history", "interval"),
    [
        pytest.param(ChangeHistory(), R, id="never fetched: as long as a cycle"),
        pytest.param(observed(50 * HOUR, 50 * HOUR, 0, 0), R, id="once, without a date: as long as a cycle"),
        pytest.param(
            observed(50 * HOUR, 50 * HOUR, 0, 0, modified=20 * HOUR),
            30 * HOUR,
            id="once: since its Last-Modified",
        ),
        pytest.param(observed(50 * HOUR, 90 * HOUR, 4, 0), R + 40 * HOUR, id="never changed: all the time"),
        pytest.param(
            observed(50 * HOUR, 90 * HOUR, 4, 0, modified=10 * HOUR),
            R + 80 * HOUR,
            id="never changed: since its date",
        ),
    ],
)
def test_fast_189_what_few_visits_say(history: ChangeHistory, interval: float) -> None:
    assert history.interval(R) == pytest.approx(interval)


def test_fast_189_bias_reduced_estimator_of_cho_and_garcia_molina() -> None:
    """3 changes in 10 checks, one a day: r = -ln((10 - 3 + 0.5) / (10 + 0.5)) = 0.3365 a day."""
    history = observed(1.0, 1.0 + 10 * R, 10, 3)
    assert R / history.interval(R) == pytest.approx(0.33647, abs=1e-4)
    always = observed(1.0, 1.0 + 10 * R, 10, 10)
    assert R / always.interval(R) == pytest.approx(3.0445, abs=1e-3), (
        "finite, though every check saw a change"
    )


def test_fast_189_dates_show_changes_that_visits_cannot_tell_apart() -> None:
    """A page that each day was changed ten minutes ago changes many times a day."""
    undated = observed(1.0, 1.0 + 10 * R, 10, 10)
    dated = replace(undated, quiet=10 * 600.0, modified=10 * R - 600.0)
    assert dated.interval(R) < 1000 < undated.interval(R)


@pytest.mark.parametrize("rate", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("dated", [False, True])
def test_fast_189_the_estimate_comes_near_the_true_rate(rate: float, dated: bool) -> None:
    """Poisson changes at `rate` a day, seen once a day for 400 days."""
    from random import Random

    chance = Random(7)
    changes, quiet, modified, moment = 0, 0.0, 0.0, 0.0
    for day in range(1, 401):
        latest = 0.0
        while moment < day * R:
            latest = moment or latest
            moment += chance.expovariate(rate / R)
        changed = latest > (day - 1) * R
        changes += changed
        modified = latest or modified
        quiet += min(R, day * R - modified) if dated else R
    history = ChangeHistory(1.0, 1.0 + 400 * R, 400, changes, quiet, modified if dated else 0.0)
    assert R / history.interval(R) == pytest.approx(rate, rel=0.25)


SITEMAP_WEIGHTS = {
    "fast_191": ("always", 1.0),
    "fast_192": ("hourly", 0.64),
    "fast_193": ("daily", 0.32),
    "fast_194": ("weekly", 0.16),
    "fast_195": ("monthly", 0.08),
    "fast_196": ("yearly", 0.04),
    "fast_197": ("never", 0.0),
    "fast_198-nothing": ("", 0.16),
    "fast_198-no such word": ("fortnightly", 0.16),
}


@pytest.mark.parametrize(("changefreq", "value"), SITEMAP_WEIGHTS.values(), ids=SITEMAP_WEIGHTS)
def test_sitemap_weights(changefreq: str, value: float) -> None:
    scorer = Scorer(R, replace(OFF, sitemap=10.0))
    assert scorer.parts(page(changefreq=changefreq)).total == pytest.approx(10 * value)
    changed = Scorer(
        R, replace(OFF, sitemap=10.0), {**FREQUENCIES, changefreq or "default": 0.5, "default": 0.5}
    )
    assert changed.parts(page(changefreq=changefreq)).total == pytest.approx(5.0)


def test_fast_190_without_sitemaps_the_sitemap_scorer_is_silent() -> None:
    assert Scorer(R, uses_sitemaps=False).parts(page(changefreq="always")).sitemap == 0.0


def test_fast_185_to_190_the_score_of_the_published_example() -> None:
    """Three slashes, two hops, HTML, thought to change once a cycle, no sitemap: 8.578."""
    one = page("/x/y/index.html", depth=2, markup=True, history=observed(R, R, 0, 0))
    assert Scorer(R, uses_sitemaps=False).parts(one).total == pytest.approx(8.578, abs=5e-4)


@pytest.mark.parametrize("name", ScoreParts.__slots__)
def test_weight_0_switches_a_scorer_off(name: str) -> None:
    one = page("/", markup=True, changefreq="always")
    assert getattr(Scorer(R).parts(one), name) > 0
    assert getattr(Scorer(R, replace(ScoreParts(), **{name: 0.0})).parts(one), name) == 0.0


@pytest.mark.parametrize(
    ("told", "fetched", "uses", "value"),
    [(R + 1, R, True, 1.0), (R, R, True, 0.16), (R + 1, 0.0, True, 0.16), (R + 1, R, False, 0.0)],
    ids=["changed since", "not changed since", "never fetched", "no sitemaps"],
)
def test_fast_190_a_page_that_changed_by_its_sitemap_has_the_highest_value(
    told: float, fetched: float, uses: bool, value: float
) -> None:
    scorer = Scorer(R, replace(OFF, sitemap=10.0), uses_sitemaps=uses)
    assert scorer.parts(page(sitemap_lastmod=told, last_fetched=fetched)).sitemap == pytest.approx(10 * value)


def test_visits_at_one_moment_say_nothing_about_how_often_a_page_changes() -> None:
    at_once = ChangeHistory(5000.0, 5000.0, checks=2, changes=2)
    assert at_once.interval(R) == R
    assert ChangeHistory(5000.0, 4000.0, checks=1, changes=1).interval(R) == R, "a clock that was set back"
