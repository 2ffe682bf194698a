"""What the date of a sitemap entry means, and how late it may mean it."""

from datetime import UTC, datetime

import pytest

from ultracrawl.model.dates import NO_LASTMOD, read_lastmod


def at(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]


LASTMODS: dict[str, tuple[str, datetime, datetime]] = {
    "utc": ("2024-05-02T10:00:00Z", at(2024, 5, 2, 10), at(2024, 5, 2, 10)),
    "offset": ("2024-05-02T10:00:00+02:00", at(2024, 5, 2, 8), at(2024, 5, 2, 8)),
    "no-zone": ("2024-05-02T10:00:00", at(2024, 5, 2, 10), at(2024, 5, 2, 22)),
    "day": (" 2024-05-02\n", at(2024, 5, 2), at(2024, 5, 3, 12)),
    "basic-day": ("20240502", at(2024, 5, 2), at(2024, 5, 3, 12)),
    "slashes": ("2024/05/02 10:00", at(2024, 5, 2, 10), at(2024, 5, 2, 22)),
    "month": ("2024-12", at(2024, 12, 1), at(2025, 1, 1, 12)),
    "year": ("2024", at(2024, 1, 1), at(2025, 1, 1, 12)),
    "header": ("Thu, 02 May 2024 10:00:00 GMT", at(2024, 5, 2, 10), at(2024, 5, 2, 10)),
    "zone-name": ("Thu, 02 May 2024 10:00:00 EST", at(2024, 5, 2, 15), at(2024, 5, 2, 15)),
    "unknown-zone": ("Thu, 02 May 2024 10:00:00 XYZ", at(2024, 5, 2, 10), at(2024, 5, 2, 22)),
    "day-in-words": ("2 May 2024", at(2024, 5, 2), at(2024, 5, 3, 12)),
}


def test_lastmod_and_the_latest_moment_it_may_mean(subtests: pytest.Subtests) -> None:
    for name, (text, moment, latest) in LASTMODS.items():
        with subtests.test(name):
            assert read_lastmod(text) == (moment, latest.timestamp())


@pytest.mark.parametrize(
    "text", ["", " ", "yesterday", "0000-00-00", "9999-12-31", "2024-13-40", "x" * 10_000]
)
def test_lastmod_that_says_nothing(text: str) -> None:
    found = read_lastmod(text)
    assert found == NO_LASTMOD or (found.moment is not None and found.moment.year == 9999)
