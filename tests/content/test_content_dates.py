"""Dates of headers, sitemaps and feeds."""

import tracemalloc
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.model.dates import parse_http_date, parse_w3c_date

NOON = datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)


HTTP_DATES: dict[str, tuple[str, datetime | None]] = {
    "imf-fixdate": ("Sun, 06 Nov 1994 08:49:37 GMT", NOON),
    "rfc850": ("Sunday, 06-Nov-94 08:49:37 GMT", NOON),
    "asctime": ("Sun Nov  6 08:49:37 1994", NOON),
    "no-weekday": ("06 nov 1994 8:49:37", NOON),
    "offset": ("Sun, 06 Nov 1994 10:49:37 +0200", NOON),
    "offset-with-colon": ("Sun, 06 Nov 1994 03:19:37 -05:30", NOON),
    "zone-name": ("6 Nov 1994 00:49:37 PST", NOON),
    "zone-name-of-summer": ("6 Nov 1994 04:49:37 edt", NOON),
    "unknown-zone-is-utc": ("6 Nov 1994 08:49:37 XYZ", NOON),
    "zone-name-before-the-year": ("Sun Nov  6 00:49:37 PST 1994", NOON),
    "offset-before-the-year": ("Sun Nov  6 10:49:37 +0200 1994", NOON),
    "offset-behind-the-year": ("Sun Nov  6 10:49:37 1994 +0200", NOON),
    "offset-of-a-script": ("Sun Nov 06 1994 10:49:37 GMT+0200 (EET)", NOON),
    "offset-with-a-comment": ("Sun, 06 Nov 1994 10:49:37 +0200 (CEST)", NOON),
    "zone-of-europe": ("Sun, 06 Nov 1994 09:49:37 MET", NOON),
    "zone-in-summer": ("Tue, 12 Jul 1994 04:49:37 ET", NOON.replace(month=7, day=12)),
    "zone-in-winter": ("Sun, 06 Nov 1994 03:49:37 ET", NOON),
    "no-seconds": ("Sun, 06 Nov 1994 08:49 GMT", NOON.replace(second=0)),
    "morning": ("Nov 6, 1994 8:49 AM", NOON.replace(second=0)),
    "evening": ("Nov 6, 1994 8:49:37 p.m. -0400", NOON.replace(day=7, hour=0)),
    "midnight": ("Nov 6, 1994 12:30 am", NOON.replace(hour=0, minute=30, second=0)),
    "no-such-morning": ("Nov 6, 1994 13:30 am", None),
    "fraction": ("Sun, 06 Nov 1994 08:49:37.123 GMT", NOON),
    "leap": ("Sat, 31 Dec 2016 23:59:60 GMT", datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC)),
    "zone-name-beyond-the-end-of-time": ("31 Dec 9999 23:00:00 PST", None),
    "iso": ("1994-11-06T08:49:37Z", NOON),
    "two-digits-69": ("Mon, 01 Jan 69 00:00:00 GMT", datetime(2069, 1, 1, tzinfo=UTC)),
    "two-digits-70": ("Mon, 01 Jan 70 00:00:00 GMT", datetime(1970, 1, 1, tzinfo=UTC)),
    "no-such-day": ("Sun, 30 Feb 1994 08:49:37 GMT", None),
    "no-such-hour": ("Sun, 06 Nov 1994 25:00:00 GMT", None),
    "before-1601": ("Sun, 06 Nov 1600 08:49:37 GMT", None),
    "no-time": ("Sun, 06 Nov 1994", datetime(1994, 11, 6, tzinfo=UTC)),
    "month-first": ("November 6th, 1994", datetime(1994, 11, 6, tzinfo=UTC)),
    "no-month": ("6 marbles 1994", None),
    "words-around-a-day": ("the 6 Nov 1994 of words", None),
    "no-time-and-two-digits": ("06 Nov 94", None),
    "absurd-offset": ("Mon, 01 Jan 9999 00:00:00 -9999", None),
    "basic-iso": ("19941106T084937Z", NOON),
    "basic-iso-with-an-offset": ("19941106T1049+0200", NOON.replace(second=0)),
    "slashes": ("1994/11/06 08:49:37", NOON),
    "basic-day": ("19941106", datetime(1994, 11, 6, tzinfo=UTC)),
    "digits-that-are-no-day-of-a-year": ("06111994", None),
    "digits-without-a-mark": ("19941106084937", None),
    "zero": ("0", None),
    "minus-one": ("-1", None),
    "empty": ("", None),
    "long": ("x" * 100_000, None),
}


def test_http_date(subtests: pytest.Subtests) -> None:
    for name, (text, moment) in HTTP_DATES.items():
        with subtests.test(name):
            assert parse_http_date(text) == moment


W3C_DATES: list[tuple[str, datetime | None]] = [
    ("2024", datetime(2024, 1, 1, tzinfo=UTC)),
    ("2024-05", datetime(2024, 5, 1, tzinfo=UTC)),
    ("2024-05-02", datetime(2024, 5, 2, tzinfo=UTC)),
    ("2024-05-02T10:30+02:00", datetime(2024, 5, 2, 8, 30, tzinfo=UTC)),
    ("2024-05-02T10:30:15.123Z", datetime(2024, 5, 2, 10, 30, 15, tzinfo=UTC)),
    ("2024-13-01", None),
    ("yesterday", None),
    ("٢٠٢٤", None),
]


def test_w3c_date(subtests: pytest.Subtests) -> None:
    for text, moment in W3C_DATES:
        with subtests.test(text):
            assert parse_w3c_date(text) == moment


@given(st.text(max_size=60))
def test_dates_never_raise(text: str) -> None:
    parse_w3c_date(text)
    moment = parse_http_date(text)
    assert moment is None or moment.tzinfo is UTC


@given(
    st.from_regex(
        r"[0-9]{1,2}[ -](Jan|feb)[ -][0-9]{2,5} [0-9]{1,2}:[0-9]{2}:[0-9]{2} ?([+-][0-9]{4})?", fullmatch=True
    )
)
def test_dates_like_dates_never_raise(text: str) -> None:
    parse_http_date(text)


@given(st.datetimes(min_value=datetime(1601, 1, 1), max_value=datetime(9998, 1, 1)))
def test_http_date_round_trip(moment: datetime) -> None:
    moment = moment.replace(microsecond=0, tzinfo=UTC)
    assert parse_http_date(moment.strftime("%d %b ") + f"{moment.year:04} {moment:%H:%M:%S} GMT") == moment


def test_what_is_too_long_for_a_date_is_not_remembered() -> None:
    tracemalloc.start()
    try:
        assert not any(parse_http_date(f"{number} {'x' * 100_000}") for number in range(100))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 1_000_000
