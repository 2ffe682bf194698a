"""Two runs side by side: what changed most comes first, and what a report does not have is not a zero."""

from __future__ import annotations

import json

from ultracrawl.service.metrics.run_difference import Compared, difference_of
from ultracrawl.stores import RunMark


def mark(number: int, **report: object) -> RunMark:
    return RunMark(number, 1.0, 2.0, report=json.dumps(report))


def test_numbers_and_counts_stand_beside_each_other() -> None:
    first = mark(1, fetched=9, documents=5, outcomes={"NEW": 2, "GONE": 1}, rejected_by={"depth 3": 4})
    second = mark(
        2, fetched=7, documents=5, outcomes={"NEW": 1}, outcomes_before={"NEW": 9}, problems=["no disk"]
    )
    found = difference_of("site", first, second)
    assert found.numbers[0] == Compared("fetched", 9, 7)
    assert [(one.name, one.difference) for one in found.outcomes] == [("NEW", 8), ("GONE", -1)]
    assert found.rejected_by == (Compared("depth 3", 4, 0),)
    assert found.status_codes == ()
    assert found.as_json()["second"]["problem"] == "no disk"
    assert found.as_json()["numbers"]["documents"] == {"first": 5, "second": 5, "difference": 0}


def test_a_run_without_a_report_has_no_numbers() -> None:
    found = difference_of("site", RunMark(1, 1.0), mark(2, fetched=7, outcomes={"NEW": 7}))
    assert found.numbers[0] == Compared("fetched", None, 7)
    assert found.outcomes == (Compared("NEW", None, 7),)
    assert found.outcomes[0].difference is None
    assert found.outcomes[0].is_shown


def test_an_older_report_lacks_a_number() -> None:
    found = {one.name: one for one in difference_of("site", mark(1, fetched=1), mark(2, documents=3)).numbers}
    assert found["documents"].difference is None
    assert found["fetched"].difference == -1
