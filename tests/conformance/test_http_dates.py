"""Published date strings; the reference reads them as cookie dates."""

import json
from pathlib import Path

import pytest

from ultracrawl.model.dates import parse_http_date

CASES = Path(__file__).parents[2] / "../shared/suites/http_dates.jsonl"
NUMERIC_OFFSETS = {
    "Sat, 15-Apr-17 21:01:22 -0400",
    "Sat, 15-Apr-17 21:01:22 GMT-0400",
    "Sat, 15-Apr-17 21:01:22 GMT-0400 (EDT)",
    "Wed Dec 12 2007 08:44:07 GMT-0500 (EST)",
}
"""They are honoured (RFC 5322, and scripts write `GMT-0400`); cookie dates pass over them."""


def test_http_dates_suite_differs_only_where_listed() -> None:
    if not CASES.exists():
        pytest.skip(f"published cases are not here: {CASES}")
    cases = [json.loads(line) for line in CASES.read_text().splitlines()]
    assert len(cases) >= 70
    assert {case["in"] for case in cases if _shown(case["in"]) != case["expected"]} == NUMERIC_OFFSETS


def _shown(text: str) -> str | None:
    moment = parse_http_date(text)
    return moment and moment.strftime("%a, %d %b %Y %H:%M:%S GMT")
