"""The summary of a run for people."""

from __future__ import annotations

from typing import Any

import pytest
from support.project import Workspace
from support.sentences import sentence
from support.site import Site

from ultracrawl.cli.crawl.report import print_report, print_total_and_next_step
from ultracrawl.model import RunReport, UrlOutcome
from ultracrawl.model.advice import advice_at_wall


def report(**facts: Any) -> RunReport:
    made = RunReport("docs", "7", "2026-01-01T00:00:00Z", scheduled=3, **facts)
    made.outcomes[UrlOutcome.NOT_MODIFIED] = 3
    return made


def test_pages_that_sitemaps_spared_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(report(sitemaps=1, not_asked=2))
    assert sentence("report.sitemaps") in capsys.readouterr().out


def test_without_them_nothing_is_said_of_sitemaps(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(report(sitemaps=1))
    assert "Sitemaps:" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("has_definition", "limit"), [(True, "`limits.documents 3`"), (False, "`--limit 3`")]
)
def test_the_limit_is_named_as_it_is_written(
    capsys: pytest.CaptureFixture[str], has_definition: bool, limit: str
) -> None:
    print_report(report(refresh_only=True, left_out_by="limits.documents 3"), has_definition=has_definition)
    printed = capsys.readouterr().out
    named = {one for one in ("`limits.documents 3`", "`--limit 3`") if one in printed}
    assert named == {limit}


@pytest.mark.parametrize("outcome", [UrlOutcome.NETWORK_ERROR, UrlOutcome.GONE])
def test_after_a_lost_connection_the_next_step_is_another_crawl(
    capsys: pytest.CaptureFixture[str], outcome: UrlOutcome
) -> None:
    ended = report(problems=["no page could be read"])
    ended.outcomes[outcome] = 1
    print_total_and_next_step([ended], has_definition=False)
    assert ("`ultracrawl crawl`" in capsys.readouterr().out) is (outcome is UrlOutcome.NETWORK_ERROR)


def test_errors_of_a_run_are_those_below_400_too_and_no_page_that_is_gone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ended = report()
    ended.status_codes.update({200: 1, 300: 2, 304: 3, 403: 1, 404: 1, 410: 1, 999: 1})
    print_report(ended)
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "×" in line)
    assert [int(part.split("×")[0].split()[-1]) for part in line.split(", ")] == [2, 1, 1]
    assert all(number in line for number in ("300", "403", "999"))


def test_pages_that_failed_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    ended = report()
    ended.outcomes[UrlOutcome.FAILED] = 3
    ended.failed_pages["http://h.test/large"] = "too slow"
    print_report(ended)
    lines = [line for line in capsys.readouterr().out.splitlines() if "Failed:" in line]
    assert len(lines) == 2
    assert "http://h.test/large: too slow" in lines[0]
    assert "2 more" in lines[1]


def test_the_next_step_is_named_after_the_first_run_only(capsys: pytest.CaptureFixture[str]) -> None:
    first, later = RunReport("docs", "1", "2026-01-01T00:00:00Z", indexed=3), report(indexed=3)
    print_total_and_next_step([later], has_definition=True)
    assert capsys.readouterr().out == ""
    print_total_and_next_step([first], has_definition=True)
    assert "ultracrawl search" in capsys.readouterr().out


def test_documents_that_were_indexed_again_stand_apart_from_changed_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ended = report()
    ended.outcomes[UrlOutcome.MODIFIED] = 1
    ended.outcomes[UrlOutcome.REINDEXED] = 2
    print_report(ended)
    shown = [line.split()[:3] for line in capsys.readouterr().out.splitlines()]
    lines = [words for words in shown if words[1:2] in (["NOT_MODIFIED"], ["REINDEXED"], ["MODIFIED"])]
    assert lines == [
        ["3", "NOT_MODIFIED", "unchanged"],
        ["2", "REINDEXED", "not"],
        ["1", "MODIFIED", "changed"],
    ]


def test_a_problem_is_read_once(site: Site, url: str, workspace: Workspace) -> None:
    """A person reads it in the report; without one, in the log."""
    site.respond("/", status=403, headers={"Cf-Mitigated": "challenge"})
    workspace.define(f"{url}/", politeness={"delay": 0}, sitemaps={"use": False})
    named = advice_at_wall(has_logins=False)
    assert [workspace.command("crawl", *how).err.count(named) for how in ([], ["--json"])] == [1, 1]
