"""The log of one run: its name, what is in it, how many are kept, and what it does when there is no room."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import pytest
from scrapy import Spider
from support.project import Workspace
from support.sentences import sentence
from support.site import Site

from ultracrawl.errors import IndexStoreError, WorkError
from ultracrawl.model import NO_CAUSE, Cause, CauseCode, RunReport, UrlOutcome, UrlRecord
from ultracrawl.run.ending import Ending
from ultracrawl.run.logs.crawl_logs import _OneLineFormatter
from ultracrawl.run.logs.run_log import MAX_EXCLUDED_LINKS, RunLog, run_logs
from ultracrawl.run.visit import Visit
from ultracrawl.settings.log_formatter import QuietLogFormatter
from ultracrawl.sources import Project
from ultracrawl.sources.project import DefinitionHead, make_project
from ultracrawl.stores import QueueEntry

NO_REPORT = RunReport("docs", "1", "")
LAUNCH = 1_783_454_400.0  # 2026-07-07 20:00 UTC


def project_in(folder: Path, size: int = 100_000) -> Project:
    return make_project(DefinitionHead.model_validate({"logs": {"path": "log", "size": size}}), {}, folder)


def log_in(
    folder: Path,
    *,
    name: str = "docs",
    keep: int = 7,
    at: float = LAUNCH,
    size: int = 100_000,
    report: RunReport = NO_REPORT,
) -> RunLog:
    return RunLog(project_in(folder, size), name, keep, lambda: at, lambda: report)


def begun_in(folder: Path, **options: Any) -> Path:
    """Return the file of a log that has a line."""
    log = log_in(folder, **options)
    log.note("INFO", "a line")
    log.flush()
    return log.path


def ended(url: str, outcome: UrlOutcome, code: int, reason: str = "") -> Visit:
    visit = Visit(QueueEntry(1, url, "h", 0, 1), UrlRecord(url, "docs"))
    visit.note_ending(Ending(outcome, code, Cause(CauseCode.STATED, reason) if reason else NO_CAUSE))
    return visit


def test_every_launch_has_a_file_of_its_own_named_by_its_time__ultra_search_125(tmp_path: Path) -> None:
    names = [begun_in(tmp_path, at=LAUNCH + seconds).name for seconds in (0, 1, 2, 60)]
    assert names == [
        "docs.run-20260707-2000.log",
        "docs.run-20260707-2000-2.log",
        "docs.run-20260707-2000-3.log",
        "docs.run-20260707-2001.log",
    ]


@pytest.mark.parametrize("keep", [1, 7])
def test_so_many_are_kept_of_each_source_the_latest_ones__ultra_search_14_3(
    tmp_path: Path, keep: int
) -> None:
    others = [
        begun_in(tmp_path, name=name) for name in ("docs.run-20260707-2000", "docs.12345678", "doc", "other")
    ]
    made = []
    for launch in range(9):
        path = begun_in(tmp_path, keep=keep, at=LAUNCH + 60 * launch)
        os.utime(path, (launch, launch))
        made.append(path)
    assert run_logs(project_in(tmp_path), "docs") == made[-keep:]
    assert all(path.exists() for path in others), "a name that begins alike is another source"


@pytest.mark.parametrize(
    ("outcome", "code", "reason", "line"),
    [
        pytest.param(
            UrlOutcome.NETWORK_ERROR,
            906,
            "30025 connection refused",
            "WARNING NETWORK_ERROR 906 connection refused: http://h/x (30025 connection refused)",
            id="ultra_search_122",
        ),
        pytest.param(
            UrlOutcome.GONE, 404, "", "INFO    GONE 404 not found: http://h/x", id="gone-without-a-reason"
        ),
        pytest.param(UrlOutcome.NEW, 200, "", "", id="a-new-page-has-no-line"),
        pytest.param(UrlOutcome.NOT_MODIFIED, 304, "", "", id="an-unchanged-page-has-no-line"),
    ],
)
def test_urls_that_did_not_go_as_they_should_have_a_line(
    tmp_path: Path, outcome: UrlOutcome, code: int, reason: str, line: str
) -> None:
    log = log_in(tmp_path)
    log.visit_ended(ended("http://h/x", outcome, code, reason))
    log.flush()
    lines = "".join(path.read_text() for path in run_logs(project_in(tmp_path), "docs"))
    assert lines == (f"2026-07-07T20:00:00Z {line}\n" if line else "")


def test_nothing_that_a_site_sends_begins_a_line_or_steers_a_terminal(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log.note("INFO", "http://h/\nERROR forged\x1b[31m\ud800" + "x" * 10_000)
    log.flush()
    (line,) = log.path.read_text().splitlines()
    assert "\\u000aERROR forged\\u001b[31m" in line
    assert len(line) < 4200


def test_an_exception_on_the_screen_is_one_line() -> None:
    error = ValueError("a\nERROR forged\x1b[31m")
    record = logging.LogRecord("x", logging.ERROR, "x.py", 1, "failed", (), (ValueError, error, None))
    assert _OneLineFormatter("%(message)s").format(record) == (
        r"failed: ValueError: a\u000aERROR forged\u001b[31m"
    )


def test_beyond_its_size_lines_are_counted_and_the_results_are_written(tmp_path: Path) -> None:
    log = log_in(tmp_path, size=500, report=RunReport("docs", "7", "", scheduled=1))
    for number in range(100):
        log.visit_ended(ended(f"http://h/{number}", UrlOutcome.GONE, 404))
    log.note_results("finished")
    log.flush()
    text = log.path.read_text()
    assert 5 < text.count("not found") < 12
    assert f"{100 - text.count('not found')} lines were omitted" in text
    assert "Crawling results" in text


def test_warnings_of_the_program_are_in_it_until_it_is_closed(tmp_path: Path) -> None:
    log = log_in(tmp_path, report=RunReport("docs", "7", "", scheduled=3))
    logger = logging.getLogger("ultracrawl.run.anything")
    log.opened()
    logger.warning("a %s", "warning")
    logger.debug("a detail")
    try:
        raise ValueError("bad")
    except ValueError:
        logger.exception("it failed")
    log.close()
    logger.warning("later")
    log.flush()
    lines = [line.split("Z ", 1)[1] for line in log.path.read_text().splitlines()]
    assert lines == [
        sentence("logs.run_starts"),
        "WARNING a warning",
        "ERROR   it failed: ValueError: bad",
    ]


def test_the_results_have_every_number_of_the_statistics__ultra_search_126(tmp_path: Path) -> None:
    report = RunReport("docs", "7", "", scheduled=3, fetched=2, indexed=1)
    report.outcomes.update({UrlOutcome.NEW: 1, UrlOutcome.HTTP_ERROR: 1})
    report.status_codes.update({200: 1, 503: 1})
    report.problems.append("something broke")
    log = log_in(tmp_path, report=report)
    log.note_results("finished")
    log.flush()
    before, _, block = log.path.read_text().partition("\nCrawling results\n")
    assert "ERROR   something broke" in before
    assert [line.strip().split("  ") for line in block.splitlines()] == [
        ["1", "to fetch"],
        ["1", "fetched"],
        ["1", "failures"],
        ["0", "rejected"],
        ["3", "discovered"],
        ["1", "indexed"],
        ["0", "not indexable"],
        ["0", "conversion failures"],
        ["1", "200 URL OK"],
        ["1", "503 service unavailable"],
    ]


def test_a_folder_that_cannot_be_made_is_an_error_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("a file")
    with pytest.raises(WorkError, match="log cannot be written"):
        begun_in(tmp_path)


def test_without_a_line_there_is_no_file(tmp_path: Path) -> None:
    log_in(tmp_path).flush()
    assert list(tmp_path.iterdir()) == []


MESSAGES = {
    "ultra_search_123-909": (909, "", "(30083 duplicate document ignored)"),
    "ultra_search_123-910": (910, "of http://h/a", "(30083 duplicate document ignored: of http://h/a)"),
    "ultra_search_14_2-1009": (1009, "30126 binary", "(30126 binary)"),
    "ultra_search_14_2-959": (959, "30188 no login form given", "(30188 no login form given)"),
    "no message": (404, "", "http://h/1\n"),
}


@pytest.mark.parametrize(("code", "reason", "shown"), MESSAGES.values(), ids=MESSAGES)
def test_the_number_of_the_message_stands_in_the_line(
    tmp_path: Path, code: int, reason: str, shown: str
) -> None:
    log = log_in(tmp_path)
    log.visit_ended(ended("http://h/1", UrlOutcome.NOT_INDEXED, code, reason))
    log.flush()
    text = log.path.read_text()
    assert shown in text
    assert text.count("30083") == (1 if code in (909, 910) else 0)


def test_links_that_were_excluded_have_lines_up_to_a_number(tmp_path: Path) -> None:
    log = log_in(tmp_path, size=10_000_000)
    for number in range(MAX_EXCLUDED_LINKS + 5):
        log.candidate_excluded(
            f"http://other/{number}", "domains", "http://h/", "30027 URL outside the boundary"
        )
    log.note_results("finished")
    log.flush()
    text = log.path.read_text()
    assert text.count("30027 URL outside the boundary: http://other/") == MAX_EXCLUDED_LINKS
    assert "5 further links were excluded" in text


@pytest.mark.parametrize(
    ("error", "level"), [(IndexStoreError("no room"), logging.DEBUG), (ValueError("a fault"), logging.ERROR)]
)
def test_what_ends_the_crawl_is_said_by_the_session_alone(error: Exception, level: int) -> None:
    said = QuietLogFormatter().item_error({}, error, None, Spider("site"))
    assert said["level"] == level


def test_lines_that_nobody_sees_are_not_made(
    site: Site, url: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    class Noted(logging.LogRecord):
        def __init__(self, name: str, level: int, *rest: Any, **more: Any) -> None:
            super().__init__(name, level, *rest, **more)
            if name.startswith("ultracrawl.") and level < logging.WARNING:
                made.append(name)

    monkeypatch.setattr(logging, "_logRecordFactory", Noted)
    site.robots("")
    site.page("/", title="one", links=["http://elsewhere.test/"])
    workspace.define(f"{url}/", sitemaps={"use": False})
    of_candidates = "ultracrawl.scheduler.candidate_filter"
    assert workspace.crawl().run["rejected_by"]
    assert of_candidates not in made
    site.page("/", title="two", links=["http://elsewhere.test/", "http://other.test/"])
    workspace.crawl("--verbose")
    assert of_candidates in made, "and with --verbose somebody sees them"
