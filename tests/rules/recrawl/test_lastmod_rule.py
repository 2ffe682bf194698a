"""When the date in a sitemap makes a request unnecessary."""

from dataclasses import replace

import pytest

from ultracrawl.model import UrlRecord
from ultracrawl.rules.recrawl.change import TRUSTED_FOR, is_credible, proves_unchanged

NOW = 1_800_000_000.0
DAY = 86_400.0
FETCHED = UrlRecord("https://example.com/a", "site", checksum=b"x", last_fetched=NOW - DAY)


@pytest.mark.parametrize(
    ("record", "latest", "expected"),
    [
        pytest.param(FETCHED, NOW - 2 * DAY, True, id="older-than-the-fetch"),
        pytest.param(FETCHED, NOW - DAY / 2, False, id="newer-than-the-fetch"),
        pytest.param(FETCHED, NOW - DAY, False, id="in-the-same-minute"),
        pytest.param(replace(FETCHED, checksum=b""), NOW - 2 * DAY, False, id="never-read-or-gone"),
        pytest.param(replace(FETCHED, failed_runs=1), NOW - 2 * DAY, False, id="failing"),
        pytest.param(
            replace(FETCHED, last_fetched=NOW - TRUSTED_FOR - 1), 0.0, False, id="fetched-too-long-ago"
        ),
        pytest.param(
            replace(FETCHED, last_fetched=NOW + DAY),
            NOW - 2 * DAY,
            False,
            id="fetched-by-a-clock-that-was-ahead",
        ),
        pytest.param(replace(FETCHED, last_fetched=NOW + 2), NOW - 2 * DAY, True, id="fetched-just-now"),
    ],
)
def test_lastmod_vouches_for_a_page(record: UrlRecord, latest: float, expected: bool) -> None:
    assert proves_unchanged(latest, record, NOW) is expected


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        pytest.param(NOW, True, id="now"),
        pytest.param(NOW + DAY, False, id="to-come"),
        pytest.param(0.0, False, id="epoch"),
        pytest.param(NOW - 20 * 365 * DAY, True, id="long-ago"),
    ],
)
def test_lastmod_that_says_something(changed: float, expected: bool) -> None:
    assert is_credible(changed, NOW) is expected
