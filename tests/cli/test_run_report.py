"""The summary of a run for people."""

from __future__ import annotations

import pytest

from ultracrawl.cli.report import print_report
from ultracrawl.model import RunReport, UrlOutcome


def report(**facts: int) -> RunReport:
    made = RunReport("docs", "7", "2026-01-01T00:00:00Z", scheduled=3, **facts)
    made.outcomes[UrlOutcome.NOT_MODIFIED] = 3
    return made


def test_pages_that_sitemaps_spared_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(report(sitemaps=1, not_asked=2))
    assert "  Sitemaps: 1 read; 2 pages were not asked for by their word\n" in capsys.readouterr().out


def test_without_them_nothing_is_said_of_sitemaps(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(report(sitemaps=1))
    assert "Sitemaps:" not in capsys.readouterr().out
