"""Published cases about conditional requests, as far as they are about a client that revalidates."""

import json
from pathlib import Path

import pytest

from ultracrawl.model import UrlRecord
from ultracrawl.rules.recrawl.change import checksum, conditional_headers

SUITE = Path(__file__).parents[3] / "../shared/suites/http_conditional.jsonl"
DATE = "Sun, 06 Nov 1994 08:49:37 GMT"


def cases():
    if not SUITE.exists():
        return []
    rows = map(json.loads, SUITE.read_text().splitlines())
    return [
        row for row in rows if any("validated" in ask.get("expected_type", "") for ask in row["requests"])
    ]


@pytest.mark.skipif(not SUITE.exists(), reason="the published case tables are not beside this checkout")
@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_a_stored_answer_is_revalidated(case):
    asks = case["requests"]
    first = next(at for at, ask in enumerate(asks) if "validated" in ask.get("expected_type", ""))
    asked, stored = asks[first], asks[:first]
    headers = {name.lower(): value for ask in stored for name, value, *_ in ask.get("response_headers", [])}
    etag = str(headers.get("etag", ""))
    last_modified = DATE if "last-modified" in headers else ""
    record = UrlRecord(
        "https://a.example/", "s", etag=etag, last_modified=last_modified, checksum=checksum(b"x")
    )
    sent = conditional_headers(record)
    if asked["expected_type"] == "etag_validated":
        assert sent["If-None-Match"] == etag
    else:
        assert sent["If-Modified-Since"] == last_modified


@pytest.mark.skipif(not SUITE.exists(), reason="the published case tables are not beside this checkout")
def test_there_are_cases():
    assert len(cases()) >= 8
