"""How a FAST collection fetches: time-outs, chains of redirects, robots.txt and META robots, filters of the queue."""

from __future__ import annotations

from typing import Any

import pytest
from support.fast import fast_xml
from support.project import Workspace
from support.site import Site

QUICK = {"delay": 0.0, "max_pending": 4, "use_sitemaps": False, "http_errors/ttl": "KEEP"}


def crawled(workspace: Workspace, url: str, **options: Any) -> dict[str, str]:
    """Crawl a collection and return the outcome of every path."""
    named = {name.replace("__", "/"): value for name, value in options.items()}
    file = workspace.directory / "collection.xml"
    file.write_text(fast_xml({**QUICK, "start_uris": (f"{url}/",), **named}))
    ended = workspace.command("crawl", "--json", "-c", "collection.xml")
    assert ended.code == 0, ended.err
    rows = workspace.command("urls", "--json", "-c", "collection.xml").lines
    return {"/" + row["access_url"].split("/", 3)[3]: row["outcome"] for row in rows}


@pytest.fixture
def pages(site: Site) -> Site:
    site.page("/", title="Home", text="needle", links=["/slow", "/r0", "/private", "/hidden"])
    site.page("/slow", title="Slow", text="needle")
    site.page("/private", title="Private", text="needle")
    site.page("/hidden", title="Hidden", text="needle", robots="noindex, nofollow", links=["/behind"])
    site.page("/behind", title="Behind", text="needle")
    for number in range(3):
        site.redirect(f"/r{number}", f"/r{number + 1}")
    site.page("/r3", title="End", text="needle")
    site.robots("User-agent: *\nDisallow: /private\n")
    return site


@pytest.mark.parametrize(
    ("seconds", "outcome"), [(1, "NETWORK_ERROR"), (60, "NEW")], ids=["fast_20_short", "fast_20_long"]
)
def test_fetch_timeout(pages: Site, url: str, workspace: Workspace, seconds: int, outcome: str) -> None:
    pages.respond("/slow", delay=2.0, headers={"Content-Type": "text/html"}, body=b"<title>x</title>needle")
    assert crawled(workspace, url, fetch_timeout=seconds)["/slow"] == outcome


@pytest.mark.parametrize(
    ("most", "asked"), [(0, 1), (2, 3), (3, 4), (None, 4)], ids=lambda value: f"fast_30_{value}"
)
def test_max_redirects(pages: Site, url: str, workspace: Workspace, most: int | None, asked: int) -> None:
    """A chain of three: as many steps are taken as the option says, ten by default."""
    options = {} if most is None else {"max_redirects": most}
    crawled(workspace, url, **options)
    assert sum(pages.count(f"/r{number}") for number in range(4)) == asked


@pytest.mark.parametrize(
    ("options", "private", "hidden", "behind"),
    [
        ({}, "ROBOTS", False, False),
        ({"robots": False}, "NEW", False, False),
        ({"check_meta_robots": False}, "ROBOTS", True, True),
    ],
    ids=["fast_31_37_default", "fast_31_no", "fast_37_no"],
)
def test_what_robots_forbid(
    pages: Site,
    url: str,
    workspace: Workspace,
    options: dict[str, bool],
    private: str,
    hidden: bool,
    behind: bool,
) -> None:
    outcomes = crawled(workspace, url, **options)
    assert outcomes["/private"] == private
    assert (outcomes["/hidden"] == "NEW", pages.count("/behind") == 1) == (hidden, behind)


@pytest.mark.parametrize(
    "options",
    [{"wqfilter": False}, {"wqfilter": True}, {"smfilter": 50_000}, {"smfilter": 0}],
    ids=["fast_65_no", "fast_65_yes", "fast_66_bits", "fast_66_off"],
)
def test_filters_of_the_queue_change_nothing(
    pages: Site, url: str, workspace: Workspace, options: dict[str, Any]
) -> None:
    """Duplicates are found exactly whatever they say: every page is asked for once, and none is lost."""
    pages.page("/", title="Home", links=["/a", "/b", "/a#x", "/b"])
    for name in "ab":
        pages.page(f"/{name}", title=name, text=name, links=["/", "/a", "/b"])
    assert crawled(workspace, url, **options) == {"/": "NEW", "/a": "NEW", "/b": "NEW"}
    assert [pages.count(path) for path in ("/", "/a", "/b")] == [1, 1, 1]
