"""Refresh modes in real crawls: what a new cycle asks for, and what becomes of a left-over queue."""

from __future__ import annotations

from typing import Any

import pytest
from support.project import Workspace
from support.site import Site

WAKING = ["append", "prepend", "scratch", "soft"]


def define(workspace: Workspace, url: str, mode: str, **options: Any) -> None:
    refresh = {"mode": mode, **options.pop("refresh", {})}
    workspace.define(f"{url}/", refresh=refresh, sitemaps={"use": False}, **options)


@pytest.fixture
def chain(site: Site) -> Site:
    """Home leads to a hub, the hub to two leaves; `/lonely` loses its link when the hub changes."""
    site.page("/", title="Home", links=["/hub"], text="home")
    site.page("/hub", title="Hub", links=["/leaf", "/lonely"], text="hub")
    site.page("/leaf", title="Leaf", text="leaf one")
    site.page("/lonely", title="Lonely", text="lonely one")
    return site


@pytest.mark.parametrize("mode", WAKING)
def test_fast_61_links_of_unchanged_pages_wake_their_known_targets(
    chain: Site, url: str, workspace: Workspace, mode: str
) -> None:
    define(workspace, url, mode)
    workspace.crawl()
    chain.change("/leaf", text="leaf two")
    chain.reset()
    run = workspace.crawl().run
    assert chain.statuses("/") == chain.statuses("/hub") == [304], "a 304 keeps its children alive"
    assert run["outcomes"] == {"MODIFIED": 1, "NOT_MODIFIED": 3}
    assert sum(run["outcomes"].values()) == run["scheduled"]
    assert workspace.search("two") == ["/leaf"]


@pytest.mark.parametrize("mode", WAKING)
def test_fast_61_ultra_search_17_equal_bodies_are_not_scanned_and_wake_their_known_targets(
    chain: Site, url: str, workspace: Workspace, mode: str
) -> None:
    for path in ("/", "/hub"):
        links = ["/hub"] if path == "/" else ["/leaf", "/lonely"]
        chain.page(path, title=path, links=links, text="body", etag=False, modified=False)
    define(workspace, url, mode)
    workspace.crawl()
    chain.reset()
    run = workspace.crawl().run
    assert run["outcomes"] == {"NOT_MODIFIED": 2, "UNMODIFIED": 2}


def asked(site: Site) -> list[str]:
    return [path for path in site.paths() if path != "/robots.txt"]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        pytest.param("known", ["/", "/hub", "/leaf", "/lonely"], id="ultra_search_14 known"),
        pytest.param("scratch", ["/", "/hub", "/leaf"], id="fast_61 scratch"),
        pytest.param("append", ["/", "/hub", "/leaf"], id="fast_61 append"),
    ],
)
def test_a_known_url_is_asked_for_by_the_mode(
    chain: Site, url: str, workspace: Workspace, mode: str, expected: list[str]
) -> None:
    define(workspace, url, mode)
    workspace.crawl()
    chain.change("/hub", links=["/leaf"])
    chain.reset()
    workspace.crawl()
    assert sorted(asked(chain)) == expected
    assert workspace.search("lonely") == ["/lonely"], "not seen is not gone"


def test_fast_61_a_redirect_wakes_its_known_target(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=["/old"], text="home")
    site.redirect("/old", "/new")
    site.page("/new", title="New", text="new one")
    define(workspace, url, "scratch")
    workspace.crawl()
    site.change("/new", text="new two")
    workspace.crawl()
    assert workspace.search("two") == ["/new"]


def test_fast_61_an_unchanged_sitemap_wakes_its_known_entries(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="home")
    site.page("/entry", title="Entry", text="entry one")
    body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{url}/entry</loc></url></urlset>'
    site.file("/sitemap.xml", body.encode(), "application/xml")
    workspace.define(f"{url}/", refresh={"mode": "scratch"})
    workspace.crawl()
    site.change("/entry", text="entry two")
    site.reset()
    workspace.crawl()
    assert site.statuses("/sitemap.xml") == [304]
    assert workspace.search("two") == ["/entry"]


def test_fast_61_a_page_vouched_for_by_a_sitemap_wakes_its_targets(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="home")
    site.page("/entry", title="Entry", links=["/below"], text="entry")
    site.page("/below", title="Below", text="below one")
    body = (
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"<url><loc>{url}/entry</loc><lastmod>2024-01-01</lastmod></url></urlset>"
    )
    site.file("/sitemap.xml", body.encode(), "application/xml")
    workspace.define(f"{url}/", refresh={"mode": "scratch"})
    workspace.crawl()
    site.change("/below", text="below two")
    site.reset()
    run = workspace.crawl().run
    assert (site.count("/entry"), run["not_asked"]) == (0, 1)
    assert workspace.search("two") == ["/below"]


# ---- left-over queues

LEFT = [f"/{number}" for number in range(6)]


def leave_over(site: Site, url: str, workspace: Workspace, mode: str) -> None:
    """Fetch the start page and two of its six children; the others are left over, and the time is over."""
    site.page("/", title="Home", links=LEFT, text="home")
    for path in LEFT:
        site.page(path, title=path, text="words")
    slow = {"politeness": {"delay": 0, "concurrency": 1}}
    define(workspace, url, mode, limits={"pages": 3}, **slow)
    assert workspace.crawl(code=None).run["outcomes"] == {"NEW": 3}
    define(workspace, url, mode, refresh={"interval": "0.001 s"}, **slow)
    site.reset()


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        pytest.param("append", [*LEFT[2:], "/", *LEFT[:2]], id="append"),
        pytest.param("prepend", ["/", *LEFT[2:], *LEFT[:2]], id="prepend"),
        pytest.param("scratch", ["/", *LEFT], id="scratch"),
        pytest.param("soft", LEFT[2:], id="soft"),
        pytest.param("known", [*LEFT[2:], "/", *LEFT[:2]], id="known"),
    ],
)
def test_fast_61_what_becomes_of_a_left_over_queue(
    site: Site, url: str, workspace: Workspace, mode: str, expected: list[str]
) -> None:
    leave_over(site, url, workspace, mode)
    run = workspace.crawl().run
    assert run["resumed"] is False
    assert asked(site)[: len(expected)] == expected if mode != "prepend" else asked(site)[0] == "/"
    assert sorted(asked(site)) == sorted(expected)
    assert len(workspace.search("words")) == 6


def test_fast_61_soft_refreshes_a_site_once_its_queue_ran_empty(
    site: Site, url: str, workspace: Workspace
) -> None:
    leave_over(site, url, workspace, "soft")
    workspace.crawl()
    site.reset()
    workspace.crawl()
    assert sorted(asked(site)) == ["/", *LEFT]


@pytest.mark.parametrize(("interval", "resumed"), [("1 h", True), (None, True), ("0.001 s", False)])
def test_fast_60_a_run_is_resumed_until_its_interval_is_over(
    site: Site, url: str, workspace: Workspace, interval: str | None, resumed: bool
) -> None:
    leave_over(site, url, workspace, "scratch")
    define(workspace, url, "scratch", refresh={"interval": interval})
    assert workspace.crawl().run["resumed"] is resumed
    assert sorted(asked(site)) == (LEFT[2:] if resumed else ["/", *LEFT])


def test_fast_61_a_304_whose_headers_turn_noindex_keeps_its_children_alive(
    chain: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url, "scratch")
    workspace.crawl()
    chain.page(
        "/hub", title="Hub", links=["/leaf", "/lonely"], text="hub", headers={"X-Robots-Tag": "noindex"}
    )
    chain.change("/leaf", text="leaf two")
    chain.reset()
    run = workspace.crawl().run
    assert chain.statuses("/hub") == [304]
    assert run["outcomes"] == {"MODIFIED": 1, "NOT_INDEXED": 1, "NOT_MODIFIED": 2}
    assert workspace.search("two") == ["/leaf"]
    assert workspace.search("title:hub") == []


def test_fast_61_pages_that_robots_forbids_now_protect_what_they_led_to(
    chain: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url, "scratch", orphans={"after": 1, "delete": True}, robots={"ttl": 0})
    workspace.crawl()
    chain.robots("User-agent: *\nDisallow: /hub\n")
    for _ in range(3):
        assert workspace.crawl().run["orphans"] == 0
    assert set(workspace.search("one")) == {"/leaf", "/lonely"}


def test_ultra_search_19_20_a_vanished_url_is_found_until_the_next_crawl(
    chain: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url, "known")
    workspace.crawl()
    chain.remove("/lonely")
    assert workspace.search('"lonely one"') == ["/lonely"]
    workspace.crawl()
    assert workspace.search('"lonely one"') == []


def test_a_forced_crawl_distinguishes_unchanged_pages_from_changed_ones(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="words", links=["/a", "/b"])
    for name in "ab":
        site.page(f"/{name}", title=name, text=f"words {name}")
    workspace.define(f"{url}/")
    assert workspace.crawl().run["outcomes"] == {"NEW": 3}
    run = workspace.crawl("--force").run
    assert (run["outcomes"], run["indexed"]) == ({"REINDEXED": 3}, 3)
    site.page("/a", title="a", text="other words")
    run = workspace.crawl("--force").run
    assert run["outcomes"] == {"MODIFIED": 1, "REINDEXED": 2}
    site.page("/a", title="a", text="other words again")
    run = workspace.crawl().run
    assert run["outcomes"] == {"NOT_MODIFIED": 2, "MODIFIED": 1}
