"""The value types: what they show and what they add up to."""

from __future__ import annotations

import pytest

from ultracrawl.model import Decision, Finding, RunReport, StatusCode, UrlOutcome, UrlRecord, status_text

TABLE = (
    "0 200 400 401 402 403 404 405 406 407 408 409 410 414 500 501 502 503 504 505 902 903 904 905 906 907 908 909 910 "
    "911 951 952 953 954 955 956 957 958 959 1001 1002 1003 1004 1005 1006 1007 1008 1009 1010"
)


def test_ultra_search_120_every_status_code_has_a_text(subtests: pytest.Subtests) -> None:
    for code in TABLE.split():
        with subtests.test(code):
            assert status_text(int(code))
            assert not status_text(int(code)).startswith("HTTP status")


def test_codes_outside_the_table_are_shown_as_received() -> None:
    assert status_text(418) == "HTTP status 418"
    assert all(code.value < 600 or str(code.value) in TABLE.split() for code in StatusCode)


def test_findings_say_where_what_and_what_instead() -> None:
    finding = Finding("u.yaml", 3, "sources.a.depht", "unknown option", "write `depth`")
    assert str(finding) == "u.yaml:3 - sources.a.depht - unknown option; write `depth`"
    assert str(Finding("u.yaml", 0, "file", "is empty", "write sources")).startswith("u.yaml - file")


DECISIONS: list[tuple[bool, bool, str]] = [
    (True, True, "accept"),
    (True, False, "follow only"),
    (False, True, "reject"),
]


def test_decisions_read_as_sentences(subtests: pytest.Subtests) -> None:
    for accept, index, verdict in DECISIONS:
        with subtests.test(accept=accept, index=index):
            decision = Decision(accept, "path", "exclude path /x/", "outside", index)
            assert str(decision) == f"{verdict} [path] exclude path /x/: outside"


def test_every_outcome_has_a_meaning() -> None:
    assert len({outcome.meaning for outcome in UrlOutcome}) == len(UrlOutcome)


def test_errors_of_the_network_are_transient_and_answers_are_not() -> None:
    assert {outcome for outcome in UrlOutcome if outcome.transient} == {
        UrlOutcome.QUEUED, UrlOutcome.HTTP_ERROR, UrlOutcome.NETWORK_ERROR, UrlOutcome.FAILED,
            UrlOutcome.HELD_BACK,
    }  # fmt: skip


def test_records_in_json_show_the_display_url_and_times_in_utc() -> None:
    record = UrlRecord("http://in/x", "s", display_url="http://out/x", first_seen=86400.0, checksum=b"\x01")
    row = record.as_json()
    assert (row["url"], row["access_url"], row["display_url"]) == (
        "http://out/x",
        "http://in/x",
        "http://out/x",
    )
    assert (row["first_seen"], row["last_fetched"], row["checksum"]) == ("1970-01-02T00:00:00Z", None, "01")


def test_a_report_counts_what_is_still_queued_and_knows_failure() -> None:
    report = RunReport("s", "1", "2026-01-01T00:00:00Z", scheduled=3)
    report.outcomes[UrlOutcome.NETWORK_ERROR] += 2
    assert report.queued == 1
    assert report.reached_nothing
    report.outcomes[UrlOutcome.NOT_MODIFIED] += 1
    assert not report.reached_nothing
    assert not report.failed
    report.problems.append("disk full")
    assert report.failed


def test_a_resumed_run_reached_what_it_read_before_it_was_killed() -> None:
    report = RunReport("s", "1", "2026-01-01T00:00:00Z")
    report.outcomes[UrlOutcome.HTTP_ERROR] += 1
    assert report.reached_nothing
    report.outcomes_before[UrlOutcome.NEW] += 4
    assert not report.reached_nothing, "only what fails was left to it"
