"""Orders about URLs that are left beside the state: carried out by the run that is active, or by the next one."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from support.clock import wall_time
from support.crawled import CrawledProjects
from support.project import LOOPBACK, Ended, Workspace, kill_group
from support.site import Site
from support.until import until

from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.stores.file_notes import notes_beside
from ultracrawl.stores.site_orders import SiteAction, SiteOrder, leave_site_order

BROKEN = "sources: {site: [\n"


@pytest.fixture
def crawled(site: Site, url: str, workspace: Workspace, crawled_projects: CrawledProjects) -> Workspace:
    """Return a source whose three documents wait for approval."""
    site.page("/", title="Home", links=["/a", "/b"], text="needle")
    for name in ("a", "b"):
        site.page(f"/{name}", title=name, text=f"needle {name}")
    workspace.define(f"{url}/", crawling_mode="examine")
    crawled_projects.crawl(workspace, site)
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


def test_an_approval_of_all_that_was_shown_is_of_no_others(crawled: Workspace, url: str) -> None:
    notes = notes_beside(crawled.directory / "var" / "state" / "site.sqlite")
    leave_site_order(notes, SiteOrder(SiteAction.APPROVE, "", keys=(url_key(f"{url}/a"),)), wall_time())
    crawled.crawl()
    assert crawled.search("needle") == ["/a"]


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
    running.communicate(timeout=100)
    assert (running.returncode, site.count("/new"), site.count("/a")) == (0, 1, 2)
    workspace.write({"sources": {"site": {"start_urls": [f"{url}/"], "boundary": LOOPBACK}}})
    assert workspace.outcomes()["/b"] == "REMOVED"
    assert workspace.search("needle") == ["/a"]


GONE = [f"/p{number}" for number in range(30)]


@pytest.fixture
def held(site: Site, url: str, workspace: Workspace, crawled_projects: CrawledProjects) -> Workspace:
    """Return a source of 31 documents, of which the guard kept 30 that are gone."""
    site.page("/", title="Home", text="needle", links=GONE)
    for name in GONE:
        site.page(name, title=name, text=f"needle {name}")
    workspace.define(f"{url}/", deletion={"percent": 1, "always": 0})
    crawled_projects.crawl(workspace, site)
    for name in GONE:
        site.remove(name)
    crawled_projects.crawl(workspace, site, code=1)
    assert len(workspace.indexed()) == 31
    return workspace


def test_deletions_that_were_held_back_are_listed_without_a_definition(held: Workspace) -> None:
    ended = while_broken(held, "approve-deletions", "site", "--list", "--json")
    assert (ended.json["done"], len(ended.json["documents"])) == ("leaving", 30)


def test_deletions_that_were_held_back_are_carried_out_by_the_next_run(held: Workspace) -> None:
    ended = while_broken(held, "approve-deletions", "site", "--json")
    assert (ended.json["done"], len(ended.json["documents"])) == ("ordered", 30)
    assert len(held.indexed()) == 31
    run = held.crawl().run
    assert sum(run["outcomes"].values()) == run["scheduled"]
    assert held.indexed() == ["/"]


@pytest.mark.parametrize(("words", "left"), [((), 2), (("--discard",), 32)], ids=["approved", "discarded"])
@pytest.mark.processes
def test_a_running_crawl_decides_about_what_is_held_back(
    held: Workspace, site: Site, words: tuple[str, ...], left: int
) -> None:
    site.page("/", title="Home", text="needle", links=[*GONE, "/held"])
    site.page("/held", title="Held", text="needle")
    site.reset()
    release = site.hold("/held")
    process = held.start("crawl")
    try:
        until(lambda: "/held" in site.paths() and set(GONE) <= set(site.paths()), process)
        ended = while_broken(held, "approve-deletions", "site", "--json", *words)
        assert ended.json["done"] == "ordered"
        until(
            lambda: held.command("approve-deletions", "site", "--list", "--json").json["documents"] == [],
            process,
        )
        release.set()
        process.communicate(timeout=100)
    finally:
        kill_group(process)
    assert process.returncode == 0
    assert len(held.indexed()) == left


def test_what_a_run_finds_after_the_decision_is_left_to_the_guard(
    held: Workspace, site: Site, url: str
) -> None:
    for name in GONE[:10]:
        site.page(name, title=name, text=f"needle {name}")
    assert held.crawl(code=1).run["deleted"] == 0
    while_broken(held, "approve-deletions", "site")
    for name in GONE[:10]:
        site.remove(name)
    held.crawl(code=1)
    assert sorted(held.indexed()) == sorted(["/", *GONE[:10]])


@pytest.mark.parametrize("discards", [False, True], ids=["approved", "discarded"])
def test_changes_that_were_held_back_are_decided_by_the_next_run(
    site: Site, url: str, workspace: Workspace, *, discards: bool
) -> None:
    site.page("/", title="Home", text="needle", links=GONE)
    for number, name in enumerate(GONE):
        site.page(name, title=name, text=" ".join(f"word{number}x{other}" for other in range(40)))
    workspace.define(f"{url}/", modification={"percent": 1, "always": 0})
    workspace.crawl()
    for name in GONE:
        site.page(name, title="Log in", text="please log in with your account to go on")
    workspace.crawl(code=1)
    assert workspace.search("account") == []
    ended = while_broken(workspace, "approve-changes", "site", "--json", *(["--discard"] if discards else []))
    assert (ended.json["done"], len(ended.json["documents"])) == ("ordered", 30)
    site.page("/", title="Home", text="needle", links=GONE)
    run = workspace.crawl(code=None).run
    assert sum(run["outcomes"].values()) == run["scheduled"]
    assert bool(workspace.search("account")) is not discards


def test_feeding_is_paused_and_resumed_by_the_next_run(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="needle")
    workspace.define(f"{url}/")
    workspace.crawl()
    ended = while_broken(workspace, "feeding", "pause", "site", "--json")
    assert [row["paused"] for row in ended.json["destinations"]] == [True]
    site.page("/", title="Home", text="thimble")
    workspace.crawl(code=None)
    assert (workspace.search("needle"), workspace.search("thimble")) == (["/"], [])
    while_broken(workspace, "feeding", "resume", "site")
    workspace.crawl()
    assert (workspace.search("needle"), workspace.search("thimble")) == ([], ["/"])


def test_a_changed_definition_overrides_a_pause_that_was_ordered_without_one(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="needle")
    workspace.define(f"{url}/", feeding={"paused": True})
    workspace.crawl(code=None)
    while_broken(workspace, "feeding", "pause", "site")
    workspace.crawl(code=None)
    assert workspace.search("needle") == []
    workspace.define(f"{url}/", feeding={"paused": False})
    workspace.crawl()
    assert workspace.search("needle") == ["/"]
