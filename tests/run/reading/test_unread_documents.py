"""Documents that no converter can read: not tried again while nothing changes, and reported all the same."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest
from support import files
from support.listed import crawl, outcomes
from support.project import LOOPBACK, Workspace
from support.site import Site

from ultracrawl.content.converters import registry
from ultracrawl.content.service.pool import ConversionPool

PDF, BROKEN = "application/pdf", b"%PDF-1.4 broken"
AT_ONCE = {"politeness": {"delay": 0}, "sitemaps": {"ttl": 0}}


@pytest.fixture
def conversions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The types of the documents that were sent to a conversion process."""
    sent, submit = list[str](), ConversionPool.submit

    def note(pool: ConversionPool, job: Any) -> Future[Any]:
        sent.append(job.media_type)
        return submit(pool, job)

    monkeypatch.setattr(ConversionPool, "submit", note)
    return sent


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Sets `registry.__version__` to that of another program."""
    yield monkeypatch
    monkeypatch.undo()
    registry.version_of_all.cache_clear()


def taken(conversions: list[str]) -> int:
    """Return how many documents were converted since this was asked last."""
    number = len(conversions)
    conversions.clear()
    return number


def update(newer: pytest.MonkeyPatch) -> None:
    newer.setattr(registry, "__version__", "99")
    registry.version_of_all.cache_clear()


def define(workspace: Workspace, source: dict[str, Any], engine: str = "whoosh") -> None:
    workspace.write({"index": {"engine": engine}, "sources": {"s": source}})


@pytest.fixture
def folder(workspace: Workspace) -> Any:
    """A folder with a document that can be read, and one that cannot."""
    folder = workspace.directory / "papers"
    folder.mkdir()
    (folder / "good.txt").write_text("common words")
    (folder / "bad.pdf").write_bytes(BROKEN)
    return folder


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_a_file_that_cannot_be_read_is_not_read_in_each_run(
    workspace: Workspace, folder: Any, conversions: list[str], newer: pytest.MonkeyPatch, engine: str
) -> None:
    define(workspace, {"type": "file", "paths": [str(folder)]}, engine)
    first = crawl(workspace)
    assert (outcomes(first), taken(conversions)) == ({"NEW": 1, "FAILED": 1}, 1)
    for _ in range(3):
        run = crawl(workspace)
        assert (outcomes(run), run["fetched"], taken(conversions)) == ({"NOT_MODIFIED": 1, "FAILED": 1}, 0, 0)
        assert run["status_codes"] == {"304": 1, "903": 1}
        assert run["failed_pages"] == first["failed_pages"], "it is named in each report"
    crawl(workspace, "--force")
    assert taken(conversions) == 1
    update(newer)
    assert (crawl(workspace)["fetched"], taken(conversions), crawl(workspace)["fetched"]) == (1, 1, 0)
    (folder / "bad.pdf").write_bytes(files.pdf(["mended"]))
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 1, "NEW": 1}
    assert workspace.search("mended")


def test_a_file_that_broke_stays_as_it_was_and_is_not_read_in_each_run(
    workspace: Workspace, folder: Any, conversions: list[str]
) -> None:
    define(workspace, {"type": "file", "paths": [str(folder)]})
    whole = files.pdf(["needle"])
    (folder / "bad.pdf").write_bytes(whole)
    crawl(workspace)
    (folder / "bad.pdf").write_bytes(BROKEN)
    for fetched in (1, 0, 0):
        run = crawl(workspace)
        assert (run["fetched"], outcomes(run)["FAILED"]) == (fetched, 1)
        assert len(workspace.search("needle")) == 1
    (folder / "bad.pdf").write_bytes(whole)
    crawl(workspace)
    run = crawl(workspace)
    assert (run["fetched"], outcomes(run)) == (0, {"NOT_MODIFIED": 2})
    assert len(workspace.search("needle")) == 1


def test_failures_that_count_towards_deletion_are_counted_in_each_run(
    workspace: Workspace, folder: Any, conversions: list[str]
) -> None:
    (folder / "bad.pdf").write_bytes(files.pdf(["needle"]))
    rules = {"http": {"int": "DELETE:3"}}
    define(workspace, {"type": "file", "paths": [str(folder)], "errors": rules, "deletion": {"percent": 100}})
    crawl(workspace)
    (folder / "bad.pdf").write_bytes(BROKEN)
    for left in (1, 1, 0):
        crawl(workspace)
        assert len(workspace.search("needle")) == left


@pytest.mark.parametrize("validators", [True, False])
@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_a_document_of_a_web_server_that_cannot_be_read_is_not_converted_in_each_run(
    workspace: Workspace,
    site: Site,
    url: str,
    conversions: list[str],
    newer: pytest.MonkeyPatch,
    validators: bool,
    engine: str,
) -> None:
    def put(body: bytes) -> None:
        site.file("/bad.pdf", body, PDF, etag=validators, modified=validators)

    site.page("/", links=["/bad.pdf"], text="common words")
    put(BROKEN)
    define(workspace, {"start_urls": [f"{url}/"], "boundary": LOOPBACK, **AT_ONCE}, engine)
    first = crawl(workspace)
    assert (outcomes(first), taken(conversions)) == ({"NEW": 1, "FAILED": 1}, 1)
    for _ in range(3):
        run = crawl(workspace)
        assert (outcomes(run)["FAILED"], run["status_codes"]["903"], taken(conversions)) == (1, 1, 0)
        assert run["failed_pages"] == first["failed_pages"]
    assert site.statuses("/bad.pdf") == [200, *[304 if validators else 200] * 3]
    crawl(workspace, "--force")
    assert (site.statuses("/bad.pdf")[-1], taken(conversions)) == (200, 1)
    update(newer)
    crawl(workspace)
    assert (site.statuses("/bad.pdf")[-1], taken(conversions)) == (200, 1)
    put(files.pdf(["mended"]))
    assert outcomes(crawl(workspace))["NEW"] == 1
    assert (workspace.search("mended"), taken(conversions)) == (["/bad.pdf"], 1)
    put(BROKEN)
    for tried in (1, 0, 0):
        crawl(workspace)
        assert (taken(conversions), workspace.search("mended")) == (tried, ["/bad.pdf"])


def test_a_document_that_could_not_be_had_since_is_read_again(
    workspace: Workspace, site: Site, url: str, conversions: list[str]
) -> None:
    site.page("/", links=["/bad.pdf"], text="common words")
    site.file("/bad.pdf", BROKEN, PDF)
    define(workspace, {"start_urls": [f"{url}/"], "boundary": LOOPBACK, **AT_ONCE})
    crawl(workspace)
    site.page("/bad.pdf", status=403)
    crawl(workspace)
    site.file("/bad.pdf", BROKEN, PDF)
    taken(conversions)
    crawl(workspace)
    assert (site.statuses("/bad.pdf"), taken(conversions)) == ([200, 403, 200], 1)
    assert workspace.urls()["/bad.pdf"]["status_code"] == 903
