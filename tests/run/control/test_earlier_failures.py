"""A site that failed in an earlier crawl: the next one tries it at once, and beside it a server that stays silent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from stores.conftest import a_schema
from support.project import ANY_PORT, LOOPBACK, Workspace, kill_group
from support.site import Site
from support.until import until

from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores.project_stores import open_sites

pytestmark = pytest.mark.processes

PAGES = 5
BACKOFF = 600.0


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.servers)])
def state(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    if request.param == "sqlite":
        yield {}
        return
    with a_schema(request.getfixturevalue("database")) as options:
        yield {"engine": "postgresql", "url": options["url"], "schema_name": options["schema"]}


def define(workspace: Workspace, state: dict[str, Any], *urls: str, **options: Any) -> None:
    """Define one source without a delay between requests."""
    source = {
        "start_urls": list(urls),
        "politeness": {"delay": 0, "concurrency": 8},
        "boundary": {**LOOPBACK, "ports": ANY_PORT},
        "sitemaps": {"use": False},
        "limits": {"timeout": 300, "retries": 0},
        **options,
    }
    workspace.write({**({"state": state} if state else {}), "sources": {"site": source}})


def fail_lately(workspace: Workspace, *urls: str, on_hold: bool = False) -> None:
    """Leave the clocks of sites as a crawl does whose latest request to each of them has failed just now."""
    project = require(read_definitions(workspace.directory / "ultracrawl.yaml"))
    with closing(open_sites(project)) as sites:
        crawl, names, now = sites.register_crawl("earlier", 60.0), [site_of(url) for url in urls], sites.now()
        leased = sites.lease_sites(crawl, {name: [name] for name in names})
        failed = [
            replace(
                leased[name][0], next_at=now + BACKOFF, requested=now, delay=BACKOFF, on_hold=on_hold,
                errors=9, slowed=BACKOFF, last_error="refused", error_at=now,
            )
            for name in names
        ]  # fmt: skip
        sites.release_sites(crawl, failed)
        sites.close_crawl(crawl)


def clock_of(workspace: Workspace, url: str) -> Any:
    project = require(read_definitions(workspace.directory / "ultracrawl.yaml"))
    with closing(open_sites(project, read_only=True)) as sites:
        return sites.get_clock(site_of(url))


@pytest.mark.parametrize("answers", [True, False], ids=["it answers", "it is silent"])
def test_a_site_that_failed_is_tried_at_once_by_one_request(
    site: Site, url: str, workspace: Workspace, state: dict[str, Any], *, answers: bool
) -> None:
    silent = Site()
    for number in range(PAGES):
        site.page(f"/{number}", text=f"needle {number}")
        silent.page(f"/{number}")
    held = [silent.hold(f"/{number}") for number in range(PAGES)]
    with silent.serve() as nowhere:
        starts = [f"{at}/{number}" for number in range(PAGES) for at in (nowhere, url)]
        define(workspace, state, *starts)
        fail_lately(workspace, *([url] if answers else [url, nowhere]))
        crawl = workspace.start("crawl", "--json")
        try:
            until(lambda: site.page_paths() >= {f"/{number}" for number in range(PAGES)}, crawl)
            until(silent.page_paths, crawl)
            if not answers:
                assert len(silent.page_paths()) == 1, "one request at a time, until it has answered"
        finally:
            kill_group(crawl)
            for one in held:
                one.set()


def test_what_answers_has_no_back_off_any_more_and_what_fails_has_it_still(
    site: Site, url: str, workspace: Workspace, state: dict[str, Any]
) -> None:
    site.page("/", title="Home", text="needle")
    gone = Site()
    with gone.serve() as nowhere:
        pass
    define(workspace, state, f"{url}/", f"{nowhere}/", robots={"obey": False})
    fail_lately(workspace, url, nowhere)
    workspace.crawl(code=None)
    answered, failed = clock_of(workspace, url), clock_of(workspace, nowhere)
    assert (answered.errors, answered.slowed, answered.on_hold) == (0, 0.0, False)
    assert (failed.errors, failed.slowed) == (10, BACKOFF), "it is never doubled beyond the longest"
    assert failed.next_at > failed.requested + BACKOFF / 2


def test_what_a_server_has_asked_for_holds(
    site: Site, url: str, workspace: Workspace, state: dict[str, Any]
) -> None:
    site.page("/", title="Home", text="needle")
    other = Site()
    other.page("/", title="Other", text="needle")
    with other.serve() as beside:
        define(workspace, state, f"{url}/", f"{beside}/")
        fail_lately(workspace, url, on_hold=True)
        crawl = workspace.start("crawl", "--json")
        try:
            until(lambda: other.count("/"), crawl)
            until(lambda: _wait(workspace), crawl)
            wait = _wait(workspace)
            assert (wait["site"], wait.keys()) == (site_of(url), {"site", "why", "until"})
        finally:
            kill_group(crawl)
    assert not site.requests


def _wait(workspace: Workspace) -> Any:
    """Return what the crawl waits for, as another process is told."""
    (row,) = workspace.command("status", "--json").json["sources"]
    return row["waits_for"]
