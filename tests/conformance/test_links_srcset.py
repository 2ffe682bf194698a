"""The web platform's `srcset` cases: a browser picks one candidate, we keep all of them."""

import json
from pathlib import Path

from ultracrawl.content.html.links import parse_srcset

CASES = Path(__file__).parent / "tables" / "links_wpt_srcset.jsonl"

_CHOICE = "the candidate is not chosen for that screen (its width or height descriptor, or its density)"
DIFFERENCES = dict.fromkeys(
    (
        "data:,a 1w 1w",
        "data:,a 1w 1x",
        "data:,a 1x 1w",
        "data:,a 1h 1h",
        "data:,a 1h 1x",
        "data:,a 1h 1w 1x",
        "data:,a 1x 1w 1h",
        "data:,a 1h",
        "data:,a 1h foo",
        "data:,a foo 1h",
        "data:,a 0w",
        "data:,a 1w",
        "data:,a 1x -0x",
        "data:,a 1x 1.5e1x",
        "data:,a 1x 1.0x",
        "data:,a 1w 0h",
    ),
    _CHOICE,
)
DIFFERENCES["data:,a 1x 1x (, data:,b"] = "a mistake in a descriptor does not make the URL a wrong one"


def test_srcset_suite_differs_only_where_listed() -> None:
    cases = [json.loads(line) for line in CASES.read_text().splitlines()]
    assert len(cases) > 100
    wrong = {case["srcset"].strip() for case in cases if not _as_published(case["srcset"], case["expected"])}
    assert wrong == set(DIFFERENCES)


def _as_published(srcset: str, expected: str) -> bool:
    found = parse_srcset(srcset)
    return expected in found if expected else found == []
