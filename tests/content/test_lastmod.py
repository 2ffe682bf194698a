"""What the date of a sitemap entry means, and how late it may mean it."""

from datetime import UTC, datetime

import pytest

from ultracrawl.model.dates import NO_LASTMOD, read_lastmod


def at(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]


@pytest.mark.parametrize(
    ("text", "moment", "latest"),
    [
        pytest.param("2024-05-02T10:00:00Z", at(2024, 5, 2, 10), at(2024, 5, 2, 10), id="utc"),
        pytest.param("2024-05-02T10:00:00+02:00", at(2024, 5, 2, 8), at(2024, 5, 2, 8), id="offset"),
        pytest.param("2024-05-02T10:00:00", at(2024, 5, 2, 10), at(2024, 5, 2, 22), id="no-zone"),
        pytest.param(" 2024-05-02\n", at(2024, 5, 2), at(2024, 5, 3, 12), id="day"),
        pytest.param("20240502", at(2024, 5, 2), at(2024, 5, 3, 12), id="basic-day"),
        pytest.param("2024/05/02 10:00", at(2024, 5, 2, 10), at(2024, 5, 2, 22), id="slashes"),
        pytest.param("2024-12", at(2024, 12, 1), at(2025, 1, 1, 12), id="month"),
        pytest.param("2024", at(2024, 1, 1), at(2025, 1, 1, 12), id="year"),
        pytest.param("Thu, 02 May 2024 10:00:00 GMT", at(2024, 5, 2, 10), at(2024, 5, 2, 10), id="header"),
        pytest.param("Thu, 02 May 2024 10:00:00 EST", at(2024, 5, 2, 15), at(2024, 5, 2, 15), id="zone-name"),
        pytest.param(
            "Thu, 02 May 2024 10:00:00 XYZ", at(2024, 5, 2, 10), at(2024, 5, 2, 22), id="unknown-zone"
        ),
        pytest.param("2 May 2024", at(2024, 5, 2), at(2024, 5, 3, 12), id="day-in-words"),
    ],
)
def test_lastmod_and_the_latest_moment_it_may_mean(text: str, moment: datetime, latest: datetime) -> None:
    assert read_lastmod(text) == (moment, latest.timestamp())


@pytest.mark.parametrize(
    "text", ["", " ", "yesterday", "0000-00-00", "9999-12-31", "2024-13-40", "x" * 10_000]
)
def test_lastmod_that_says_nothing(text: str) -> None:
    found = read_lastmod(text)
    assert found == NO_LASTMOD or (found.moment is not None and found.moment.year == 9999)
