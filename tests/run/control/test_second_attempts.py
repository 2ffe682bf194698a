"""What a busy machine may be the reason of is tried once more at the end of the run, alone; then its failure counts."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from scrapy.http import Response
from support import files
from support.project import LOOPBACK, Workspace
from support.site import Site

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.control.second_attempts import MAX_IN_VAIN, MAX_WAITING, SecondAttempts
from ultracrawl.run.ending import Ending
from ultracrawl.run.visit import SitemapJob, Visit
from ultracrawl.stores import QueueEntry

DYING = """
import os, sys
from pathlib import Path
if "ultracrawl.content.service.worker" in sys.orig_argv:
    for life in sorted(Path({deaths!r}).iterdir())[:1]:
        life.unlink()
        os.kill(os.getpid(), {number})
"""
LARGE = b"<title>Large</title><p>needle %s</p>" + b"<p>some words</p>" * 20_000


class Deaths:
    """Has the next conversion processes of a crawl killed before they have read their document."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def env(self, number: int, sent: signal.Signals = signal.SIGKILL) -> dict[str, str]:
        """Return the environment of a crawl whose next `number` processes are killed by a signal."""
        deaths, hook = self._folder / "deaths", self._folder / "hook"
        deaths.mkdir(exist_ok=True)
        hook.mkdir(exist_ok=True)
        for life in deaths.iterdir():
            life.unlink()
        for one in range(number):
            (deaths / str(one)).touch()
        (hook / "sitecustomize.py").write_text(DYING.format(deaths=str(deaths), number=int(sent)))
        return {"PYTHONPATH": str(hook)}


@pytest.fixture
def deaths(tmp_path_factory: pytest.TempPathFactory) -> Deaths:
    return Deaths(tmp_path_factory.mktemp("deaths"))


def visit(path: str = "/1", **changed: object) -> Visit:
    url = f"http://h.test{path}"
    return Visit(QueueEntry(url_key(url), url, "h.test", 1, 1), UrlRecord(url, "s"), **changed)  # type: ignore[arg-type]


# ---- the list


def test_a_visit_has_two_attempts() -> None:
    second, first = SecondAttempts(), visit()
    first.keep_answer(Response(first.url, body=b"large"))
    again = second.add(first, "too slow")
    assert again is not None
    assert (first.take_answer(), again.take_answer()) == (None, None), "no body waits for the end of the run"
    assert (first.done, again.alone, again.url, bool(second)) == (True, True, first.url, True)
    assert (second.take_next(), bool(second)) == (again, False)
    assert second.add(again, "too slow") is None
    assert not again.done, "its failure counts"


@pytest.mark.parametrize("kind", [{"sitemap": SitemapJob(None)}, {"without_request": True}, {"done": True}])
def test_what_cannot_be_tried_again_fails(kind: dict[str, object]) -> None:
    assert SecondAttempts().add(visit(**kind), "too slow") is None


def test_a_bounded_number_waits() -> None:
    second = SecondAttempts()
    assert all(second.add(visit(f"/{number}"), "too slow") for number in range(MAX_WAITING))
    assert second.add(visit(), "too slow") is None


def test_visits_are_not_alone_any_more_when_that_was_no_use() -> None:
    second = SecondAttempts()
    for _ in range(MAX_IN_VAIN - 1):
        second.add(visit(alone=True), "too slow")
    good = visit(alone=True)
    good.note_ending(Ending(UrlOutcome.NEW))
    second.note_end(good)
    for _ in range(MAX_IN_VAIN - 1):
        second.add(visit(alone=True), "too slow")
    assert not second.are_in_vain
    second.add(visit(alone=True), "too slow")
    assert second.are_in_vain


# ---- crawls


@pytest.mark.processes
@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_a_large_page_whose_process_was_killed_is_read_at_the_end(
    site: Site, url: str, workspace: Workspace, deaths: Deaths, engine: str
) -> None:
    site.page("/", title="Home", links=["/large", "/1", "/2"])
    site.file("/large", LARGE % b"", "text/html")
    for path in ("/1", "/2"):
        site.page(path, title=path, text=f"words of {path}")
    source = {"start_urls": [f"{url}/"], "boundary": LOOPBACK, "politeness": {"delay": 0}}
    workspace.write({"index": {"engine": engine}, "sources": {"site": source}})
    run = workspace.crawl(**deaths.env(1)).run
    assert (run["outcomes"], run["failed_pages"], run["problems"]) == ({"NEW": 4}, {}, [])
    assert workspace.search("needle") == ["/large"]
    assert site.count("/large") == 2
    assert site.paths()[-1] == "/large", "when nothing else was left"


@pytest.mark.processes
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGALRM], ids=["killed", "hung"])
def test_a_page_that_is_lost_twice_fails_is_named_and_keeps_its_document(
    site: Site, url: str, workspace: Workspace, deaths: Deaths, sent: signal.Signals
) -> None:
    site.page("/", title="Home", links=["/large"])
    site.file("/large", LARGE % b"heron", "text/html")
    workspace.define(f"{url}/")
    workspace.crawl()
    site.file("/large", LARGE % b"egret", "text/html")
    run = workspace.crawl(**deaths.env(2, sent)).run
    assert (run["outcomes"]["FAILED"], run["status_codes"]["958"]) == (1, 1)
    assert list(run["failed_pages"]) == [f"{url}/large"]
    assert (workspace.search("heron"), workspace.search("egret")) == (["/large"], [])
    assert workspace.crawl().run["outcomes"]["MODIFIED"] == 1
    assert (workspace.search("heron"), workspace.search("egret")) == ([], ["/large"])


@pytest.mark.processes
def test_a_document_whose_process_was_killed_is_converted_at_the_end(
    site: Site, url: str, workspace: Workspace, deaths: Deaths
) -> None:
    site.page("/", title="Home", links=["/a.pdf", "/b.pdf"])
    site.file("/a.pdf", files.pdf(["first needle"]), "application/pdf")
    site.file("/b.pdf", files.pdf(["second needle"]), "application/pdf")
    workspace.define(f"{url}/")
    run = workspace.crawl(**deaths.env(2)).run
    assert (run["outcomes"], run["failed_pages"]) == ({"NEW": 3}, {})
    assert workspace.search("needle") == ["/a.pdf", "/b.pdf"]


@pytest.mark.processes
def test_a_run_with_a_limit_of_pages_leaves_what_was_set_aside_to_the_next(
    site: Site, url: str, workspace: Workspace, deaths: Deaths
) -> None:
    site.page("/", title="Home", links=["/large"])
    site.file("/large", LARGE % b"", "text/html")
    workspace.define(f"{url}/", limits={"pages": 2})
    first = workspace.crawl(code=None, **deaths.env(1)).run
    assert (first["outcomes"], first["scheduled"]) == ({"NEW": 1}, 2)
    second = workspace.crawl(code=None).run
    assert (second["resumed"], second["outcomes"]) == (True, {"NEW": 1})
    assert workspace.search("needle") == ["/large"]


@pytest.mark.processes
def test_stored_pages_are_made_again_though_a_process_is_killed(
    site: Site, url: str, workspace: Workspace, deaths: Deaths
) -> None:
    site.page("/", title="Home", links=["/large"])
    site.file("/large", LARGE % b"", "text/html")
    workspace.define(f"{url}/", storage={"keep": True})
    workspace.crawl()
    ended = workspace.command("reindex", "--json", **deaths.env(1))
    (run,) = ended.json["runs"]
    assert (sum(run["outcomes"].values()), run["failed_pages"]) == (2, {})
    assert workspace.search("needle") == ["/large"]
