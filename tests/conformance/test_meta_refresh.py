"""The web platform's cases for the META refresh value: all answered as published."""

import json
from pathlib import Path

from ultracrawl.content.html.refresh import parse_refresh

CASES = Path(__file__).parent / "tables" / "links_wpt_meta_refresh.jsonl"


def test_meta_refresh_suite_has_no_difference() -> None:
    cases = [json.loads(line) for line in CASES.read_text().splitlines()]
    assert len(cases) > 60
    wrong = [case["input"] for case in cases if parse_refresh(case["input"]) != _expected(case["expected"])]
    assert wrong == []


def _expected(published: dict[str, object] | None) -> tuple[object, object] | None:
    return published and (published["delay"], published["url"] or "")
