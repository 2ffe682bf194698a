"""A changed scope that matches nothing: most likely it is misspelt, and the documents stay until somebody decides."""

from __future__ import annotations

from typing import Any

import pytest
from support.named import named
from support.project import LOOPBACK, Workspace, kill_group
from support.site import Site
from support.until import until

NAMES = [f"/old/{number}" for number in range(30)]
ENGINES = ["whoosh", "tantivy"]


@pytest.fixture
def pages(site: Site) -> Site:
    site.page("/", text="needle home", links=NAMES)
    for name in NAMES:
        site.page(name, text=f"needle of {name}")
    return site


def define(workspace: Workspace, url: str, engine: str = "whoosh", **options: Any) -> None:
    source = {
        "start_urls": [f"{url}/"],
        "politeness": {"delay": 0, "concurrency": 8},
        "boundary": LOOPBACK,
        **options,
    }
    workspace.write({"index": {"engine": engine}, "sources": {"site": source}})


def restricted(url: str, path: str) -> dict[str, Any]:
    """Options as `crawl URL --path PATH` makes them."""
    return {"start_urls": [f"{url}{path}"], "only": [path]}


@pytest.mark.parametrize("engine", ENGINES)
def test_documents_stay_until_the_scope_is_put_right(
    pages: Site, url: str, workspace: Workspace, engine: str
) -> None:
    define(workspace, url, engine)
    workspace.crawl()
    define(workspace, url, engine, **restricted(url, "/mistyped/"))
    for _ in range(3):
        run = workspace.crawl(code=1).run
        assert run["deleted"] == 0
        assert named(run["problems"][0])[-1] == "ultracrawl approve-deletions site"
        assert len(workspace.indexed()) == 31
    pages.page("/", text="needle home", links=[*NAMES, "/new"])
    pages.page("/new", text="needle new")
    define(workspace, url, engine)
    run = workspace.crawl().run
    assert (run["deleted"], run["outcomes"]["NEW"], run["problems"]) == (0, 1, [])
    assert workspace.crawl().run["deleted"] == 0
    assert len(workspace.indexed()) == 32


@pytest.mark.parametrize("engine", ENGINES)
def test_they_leave_when_somebody_says_so(pages: Site, url: str, workspace: Workspace, engine: str) -> None:
    define(workspace, url, engine)
    workspace.crawl()
    define(workspace, url, engine, **restricted(url, "/mistyped/"))
    workspace.crawl(code=1)
    assert len(workspace.command("approve-deletions", "site", "--list", "--json").json["documents"]) == 31
    assert workspace.command("approve-deletions", "site").code == 0
    assert workspace.indexed() == []
    assert workspace.crawl(code=1).run["deleted"] == 0


@pytest.mark.processes
def test_they_stay_through_a_kill(pages: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url)
    workspace.crawl()
    define(workspace, url, **restricted(url, "/mistyped/"))
    pages.page("/mistyped/", text="There is no such page")
    release = pages.hold("/mistyped/")
    for killed in range(1, 3):
        process = workspace.start("crawl")
        until(lambda: pages.count("/mistyped/") >= killed, process)  # noqa: B023 - waited for at once
        kill_group(process)
    release.set()
    assert workspace.crawl(code=1).run["deleted"] == 0
    assert len(workspace.indexed()) == 32
    define(workspace, url)
    assert workspace.crawl().run["deleted"] == 0
    assert len(workspace.indexed()) == 31 + 1


def test_a_page_that_a_server_returns_for_any_address_is_no_sign(
    pages: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url)
    workspace.crawl()
    pages.page("/mistyped/", text="There is no such page", links=["/"])
    define(workspace, url, **restricted(url, "/mistyped/"))
    for _ in range(2):
        assert workspace.crawl(code=1).run["deleted"] == 0
    assert len(workspace.indexed()) == 32


def test_nor_is_a_start_page_to_which_rules_of_hosts_do_not_apply(
    pages: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url)
    workspace.crawl()
    define(workspace, url, boundary={**LOOPBACK, "domains": {"include": ["mistyped.example.com"]}})
    assert workspace.crawl(code=1).run["deleted"] == 0
    assert len(workspace.indexed()) == 31


def test_what_a_scope_leaves_out_goes_when_it_has_pages(pages: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url)
    workspace.crawl()
    define(workspace, url, **restricted(url, "/old/7"))
    assert (workspace.crawl().run["deleted"], workspace.indexed()) == (30, ["/old/7"])
    pages.page("/new/", text="needle new", links=["/new/1"])
    pages.page("/new/1", text="needle one")
    define(workspace, url, **restricted(url, "/new/"))
    run = workspace.crawl().run
    assert (run["deleted"], run["problems"], workspace.indexed()) == (1, [], ["/new/", "/new/1"])


def test_a_start_page_alone_may_take_the_place_of_one_other(
    pages: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url, **restricted(url, "/old/7"))
    workspace.crawl()
    define(workspace, url, **restricted(url, "/old/8"))
    assert (workspace.crawl().run["deleted"], workspace.indexed()) == (1, ["/old/8"])


def test_a_guard_that_is_off_holds_nothing_back(pages: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url)
    workspace.crawl()
    define(workspace, url, deletion={"percent": 100}, **restricted(url, "/mistyped/"))
    assert workspace.crawl(code=1).run["deleted"] == 31
