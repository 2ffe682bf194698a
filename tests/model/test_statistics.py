"""The numbers of a run: what counts as fetched, as a failure and as rejected."""

from __future__ import annotations

import pytest

from ultracrawl.model import RunReport, StatusCode, UrlOutcome, UrlRecord
from ultracrawl.run.run_counters import RunCounters


@pytest.mark.parametrize(
    ("outcome", "code", "name"),
    [
        (UrlOutcome.NEW, 200, "fetched"),
        (UrlOutcome.UNMODIFIED, 200, "fetched"),
        (UrlOutcome.NOT_MODIFIED, 304, "fetched"),
        (UrlOutcome.REDIRECTED, 954, "fetched"),
        (UrlOutcome.DUPLICATE, 956, "fetched"),
        (UrlOutcome.PENDING, 952, "fetched indexed"),
        (UrlOutcome.NOT_INDEXED, 200, "fetched not_indexable"),
        (UrlOutcome.LIST, 200, "fetched"),
        (UrlOutcome.NOT_INDEXED, 903, "fetched conversion_failures"),
        (UrlOutcome.FAILED, 903, "fetched conversion_failures"),
        (UrlOutcome.NOT_INDEXED, 908, "fetched conversion_failures"),
        (UrlOutcome.HTTP_ERROR, 401, "failures"),
        (UrlOutcome.HTTP_ERROR, 503, "failures"),
        (UrlOutcome.NETWORK_ERROR, 902, "failures"),
        (UrlOutcome.NETWORK_ERROR, 906, "failures"),
        (UrlOutcome.GONE, 404, "failures"),
        pytest.param(UrlOutcome.ROBOTS, 951, "rejected", id="ultra_search_127-robots"),
        pytest.param(UrlOutcome.REJECTED, 951, "rejected", id="ultra_search_127-address-or-redirect"),
        pytest.param(UrlOutcome.NOT_INDEXED, 1001, "rejected", id="ultra_search_127-type"),
        pytest.param(UrlOutcome.NOT_INDEXED, 1009, "rejected", id="ultra_search_127-binary-as-text"),
    ],
)
def test_every_url_counts_once_among_the_discovered__ultra_search_126(
    outcome: UrlOutcome, code: int, name: str
) -> None:
    report = RunReport("docs", "1", "", scheduled=1)
    report.outcomes[outcome] = report.status_codes[code] = 1
    numbers = dict(report.statistics.items())
    assert numbers.pop("discovered") == 1
    assert {key for key, number in numbers.items() if number} == set(name.split())


def test_links_that_were_excluded_count_and_urls_excluded_later_count_once__ultra_search_127() -> None:
    counters = RunCounters("docs")
    counters.count_scheduled(2)
    counters.count_excluded("exclude path /x/", 4)
    counters.count_excluded("depth", 3)
    counters.count_excluded_later("pages_per_site 1")
    for outcome, status in ((UrlOutcome.NEW, 200), (UrlOutcome.REJECTED, StatusCode.NOT_CRAWLED)):
        counters.count_ending(UrlRecord("http://h/", "docs", outcome=outcome, status_code=status))
    numbers = counters.as_report().statistics
    assert (numbers.fetched, numbers.rejected, numbers.discovered) == (1, 8, 9)


def test_what_waits_is_to_be_fetched() -> None:
    assert RunReport("docs", "1", "", scheduled=5).statistics.to_fetch == 5
