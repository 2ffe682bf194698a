"""Dates of headers, sitemaps and feeds."""

import tracemalloc
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.model.dates import parse_http_date, parse_w3c_date

NOON = datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        pytest.param("Sun, 06 Nov 1994 08:49:37 GMT", NOON, id="imf-fixdate"),
        pytest.param("Sunday, 06-Nov-94 08:49:37 GMT", NOON, id="rfc850"),
        pytest.param("Sun Nov  6 08:49:37 1994", NOON, id="asctime"),
        pytest.param("06 nov 1994 8:49:37", NOON, id="no-weekday"),
        pytest.param("Sun, 06 Nov 1994 10:49:37 +0200", NOON, id="offset"),
        pytest.param("Sun, 06 Nov 1994 03:19:37 -05:30", NOON, id="offset-with-colon"),
        pytest.param("6 Nov 1994 00:49:37 PST", NOON, id="zone-name"),
        pytest.param("6 Nov 1994 04:49:37 edt", NOON, id="zone-name-of-summer"),
        pytest.param("6 Nov 1994 08:49:37 XYZ", NOON, id="unknown-zone-is-utc"),
        pytest.param("Sun Nov  6 00:49:37 PST 1994", NOON, id="zone-name-before-the-year"),
        pytest.param("Sun Nov  6 10:49:37 +0200 1994", NOON, id="offset-before-the-year"),
        pytest.param("Sun Nov  6 10:49:37 1994 +0200", NOON, id="offset-behind-the-year"),
        pytest.param("Sun Nov 06 1994 10:49:37 GMT+0200 (EET)", NOON, id="offset-of-a-script"),
        pytest.param("Sun, 06 Nov 1994 10:49:37 +0200 (CEST)", NOON, id="offset-with-a-comment"),
        pytest.param("Sun, 06 Nov 1994 09:49:37 MET", NOON, id="zone-of-europe"),
        pytest.param("Tue, 12 Jul 1994 04:49:37 ET", NOON.replace(month=7, day=12), id="zone-in-summer"),
        pytest.param("Sun, 06 Nov 1994 03:49:37 ET", NOON, id="zone-in-winter"),
        pytest.param("Sun, 06 Nov 1994 08:49 GMT", NOON.replace(second=0), id="no-seconds"),
        pytest.param("Nov 6, 1994 8:49 AM", NOON.replace(second=0), id="morning"),
        pytest.param("Nov 6, 1994 8:49:37 p.m. -0400", NOON.replace(day=7, hour=0), id="evening"),
        pytest.param("Nov 6, 1994 12:30 am", NOON.replace(hour=0, minute=30, second=0), id="midnight"),
        pytest.param("Nov 6, 1994 13:30 am", None, id="no-such-morning"),
        pytest.param("Sun, 06 Nov 1994 08:49:37.123 GMT", NOON, id="fraction"),
        pytest.param(
            "Sat, 31 Dec 2016 23:59:60 GMT", datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC), id="leap"
        ),
        pytest.param("31 Dec 9999 23:00:00 PST", None, id="zone-name-beyond-the-end-of-time"),
        pytest.param("1994-11-06T08:49:37Z", NOON, id="iso"),
        pytest.param("Mon, 01 Jan 69 00:00:00 GMT", datetime(2069, 1, 1, tzinfo=UTC), id="two-digits-69"),
        pytest.param("Mon, 01 Jan 70 00:00:00 GMT", datetime(1970, 1, 1, tzinfo=UTC), id="two-digits-70"),
        pytest.param("Sun, 30 Feb 1994 08:49:37 GMT", None, id="no-such-day"),
        pytest.param("Sun, 06 Nov 1994 25:00:00 GMT", None, id="no-such-hour"),
        pytest.param("Sun, 06 Nov 1600 08:49:37 GMT", None, id="before-1601"),
        pytest.param("Sun, 06 Nov 1994", datetime(1994, 11, 6, tzinfo=UTC), id="no-time"),
        pytest.param("November 6th, 1994", datetime(1994, 11, 6, tzinfo=UTC), id="month-first"),
        pytest.param("6 marbles 1994", None, id="no-month"),
        pytest.param("the 6 Nov 1994 of words", None, id="words-around-a-day"),
        pytest.param("06 Nov 94", None, id="no-time-and-two-digits"),
        pytest.param("Mon, 01 Jan 9999 00:00:00 -9999", None, id="absurd-offset"),
        pytest.param("19941106T084937Z", NOON, id="basic-iso"),
        pytest.param("19941106T1049+0200", NOON.replace(second=0), id="basic-iso-with-an-offset"),
        pytest.param("1994/11/06 08:49:37", NOON, id="slashes"),
        pytest.param("19941106", datetime(1994, 11, 6, tzinfo=UTC), id="basic-day"),
        pytest.param("06111994", None, id="digits-that-are-no-day-of-a-year"),
        pytest.param("19941106084937", None, id="digits-without-a-mark"),
        pytest.param("0", None, id="zero"),
        pytest.param("-1", None, id="minus-one"),
        pytest.param("", None, id="empty"),
        pytest.param("x" * 100_000, None, id="long"),
    ],
)
def test_http_date(text: str, moment: datetime | None) -> None:
    assert parse_http_date(text) == moment


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024", datetime(2024, 1, 1, tzinfo=UTC)),
        ("2024-05", datetime(2024, 5, 1, tzinfo=UTC)),
        ("2024-05-02", datetime(2024, 5, 2, tzinfo=UTC)),
        ("2024-05-02T10:30+02:00", datetime(2024, 5, 2, 8, 30, tzinfo=UTC)),
        ("2024-05-02T10:30:15.123Z", datetime(2024, 5, 2, 10, 30, 15, tzinfo=UTC)),
        ("2024-13-01", None),
        ("yesterday", None),
        ("٢٠٢٤", None),
    ],
)
def test_w3c_date(text: str, moment: datetime | None) -> None:
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
