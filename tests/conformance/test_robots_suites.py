"""Published robots.txt cases; where we answer otherwise, the reason is in the table."""

import json
from pathlib import Path

import pytest

from ultracrawl.rules.robots.rules import RobotsRules

TABLES = Path(__file__).parent / "tables"

_NO_NORMALISING = (
    "URLs and rules are compared percent-normalised (RFC 9309 2.2.2); the case keeps raw octets apart"
)
_UNKNOWN_LINES = "unknown lines close no group (RFC 9309 2.2.4), as with Google; the case lets them close one"
_LINE_LIMIT = "the case cuts lines at 16 KiB; we bound the file (500 KiB), not the line"
_OTHER_SITE = "rules are looked up by origin, so another site's URL is never asked of these rules"
DIFFERENCES = {
    "robots_google_cc": {
        "g-51": "a robot name with a blank is a name here (`Ultra Search`), the case takes it as invalid",
        "g-74": _NO_NORMALISING,
        "g-76": _NO_NORMALISING,
        "g-77": _NO_NORMALISING,
        "g-94": _LINE_LIMIT,
        "g-97": _LINE_LIMIT,
    },
    "robots_rep_cpp": {
        "rep-1": "rules before any User-agent line belong to no group (RFC 9309 2.1); Google agrees",
        "rep-8": _UNKNOWN_LINES,
        "rep-15": "a directive without a colon is understood, as by Google and Protego",
        "rep-66": _OTHER_SITE,
        "rep-87": _OTHER_SITE,
    },
}


@pytest.mark.parametrize("suite", sorted(DIFFERENCES))
def test_robots_suite_differs_only_where_listed(suite: str) -> None:
    cases = [json.loads(line) for line in (TABLES / f"{suite}.jsonl").read_text().splitlines()]
    assert len(cases) > 100
    wrong = {case["id"] for case in cases if _allowed(case) != case["expected"]}
    assert wrong == set(DIFFERENCES[suite])


def _allowed(case: dict[str, str]) -> bool:
    rules = RobotsRules.parse(case["robots_txt"].encode(), name=case["agent"])
    decision = rules.allowed(case["url"])
    assert decision.accept is not rules.blocks(case["url"])
    return decision.accept
