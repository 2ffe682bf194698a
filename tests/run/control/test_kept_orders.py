"""Orders about URLs that are left beside the state: carried out by the run that is active, or by the next one."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from support.project import LOOPBACK, Ended, Workspace, kill_group
from support.site import Site
from support.until import until

BROKEN = "sources: {site: [\n"


@pytest.fixture
def crawled(site: Site, url: str, workspace: Workspace) -> Workspace:
    """Return a source whose three documents wait for approval."""
    site.page("/", title="Home", links=["/a", "/b"], text="needle")
    for name in ("a", "b"):
        site.page(f"/{name}", title=name, text=f"needle {name}")
    workspace.define(f"{url}/", crawling_mode="examine")
    workspace.crawl()
    assert workspace.search("needle") == []
    return workspace


def while_broken(workspace: Workspace, *words: str) -> Ended:
    """Give an order while the definition cannot be read."""
    file = workspace.directory / "ultracrawl.yaml"
    good = file.read_text()
    file.write_text(BROKEN)
    ended = workspace.command(*words)
    file.write_text(good)
    assert ended.code == 0, ended.err
    return ended


def test_documents_are_approved_by_the_next_run(crawled: Workspace) -> None:
    ended = while_broken(crawled, "approve", "site", "--json")
    assert ended.json == {"source": "site", "kept": True}
    assert crawled.search("needle") == [], "nothing can be indexed without a definition"
    crawled.crawl()
    assert sorted(crawled.search("needle")) == ["/", "/a", "/b"]


def test_some_are_approved_and_others_removed_in_the_order_of_the_orders(
    crawled: Workspace, url: str
) -> None:
    while_broken(crawled, "approve", "site", "--remove", f"{url}/b")
    while_broken(crawled, "approve", "site")
    crawled.crawl()
    assert sorted(crawled.search("needle")) == ["/", "/a"]
    assert crawled.outcomes()["/b"] == "REMOVED"


def test_a_removed_url_is_restored_by_the_next_run(crawled: Workspace, site: Site, url: str) -> None:
    crawled.command("approve", "site", "--remove", f"{url}/b")
    while_broken(crawled, "approve", "site", "--restore", f"{url}/b")
    site.reset()
    run = crawled.crawl().run
    assert site.count("/b") == 1
    assert sum(run["outcomes"].values()) == run["scheduled"]


def test_a_url_is_fetched_that_was_submitted(crawled: Workspace, site: Site, url: str) -> None:
    site.page("/new", title="New", text="needle")
    while_broken(crawled, "submit", f"{url}/new", "--source", "site")
    while_broken(crawled, "submit", "https://elsewhere.example/", "--source", "site")
    run = crawled.crawl().run
    assert site.count("/new") == 1
    assert sum(run["outcomes"].values()) == run["scheduled"]
    assert not any("elsewhere" in path for path in crawled.urls())


def test_a_known_url_is_fetched_again(crawled: Workspace, site: Site, url: str) -> None:
    assert crawled.command("submit", f"{url}/a", "--json").json["code"] == 4
    assert crawled.command("submit", f"{url}/a", "--again", "--json").json["code"] == 0
    site.reset()
    crawled.crawl()
    assert site.count("/a") == 1


def test_orders_go_with_the_source(crawled: Workspace) -> None:
    while_broken(crawled, "approve", "site")
    assert crawled.command("remove", "site", "--yes").code == 0
    assert not list((crawled.directory / "var" / "state").glob("*.sites"))


@pytest.fixture
def running(site: Site, url: str, workspace: Workspace) -> Iterator[subprocess.Popen[str]]:
    """Return a source that is being crawled, with a definition that cannot be read any more."""
    links = ["/a", "/b", *(f"/{number}" for number in range(100))]
    site.page("/", title="Home", links=links, text="needle")
    for name in ("a", "b", *map(str, range(100))):
        site.page(f"/{name}", title=name, text=f"needle {name}")
    options: dict[str, Any] = {"boundary": LOOPBACK, "sitemaps": {"use": False}, "crawling_mode": "examine"}
    politeness = {"delay": 0.1, "concurrency": 1}
    workspace.write({"sources": {"site": {"start_urls": [f"{url}/"], "politeness": politeness, **options}}})
    process = workspace.start("crawl")
    try:
        until(lambda: {"/a", "/b", "/0"} <= set(site.paths()), process)
        (workspace.directory / "ultracrawl.yaml").write_text(BROKEN)
        yield process
    finally:
        kill_group(process)


@pytest.mark.processes
def test_a_running_crawl_carries_orders_out(
    running: subprocess.Popen[str], workspace: Workspace, site: Site, url: str
) -> None:
    site.page("/new", title="New", text="needle")
    assert workspace.command("approve", "site", "--remove", f"{url}/b").code == 0
    assert workspace.command("approve", "site", f"{url}/a").code == 0
    assert workspace.command("submit", f"{url}/new", "--source", "site").code == 0
    assert workspace.command("submit", f"{url}/a", "--source", "site").code == 0
    running.communicate(timeout=40)
    assert (running.returncode, site.count("/new"), site.count("/a")) == (0, 1, 2)
    workspace.write({"sources": {"site": {"start_urls": [f"{url}/"], "boundary": LOOPBACK}}})
    assert workspace.outcomes()["/b"] == "REMOVED"
    assert workspace.search("needle") == ["/a"]
