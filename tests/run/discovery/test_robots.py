"""robots.txt and robots directives in real crawls."""

from __future__ import annotations

from typing import Any

import pytest
from support.pace import kept
from support.project import Workspace
from support.site import Site


@pytest.mark.parametrize("concurrency", [1, 2, 8, 10, 64])
def test_first_requests_at_once_all_wait_for_robots_txt(
    site: Site, url: str, workspace: Workspace, concurrency: int
) -> None:
    """Scrapy's own middleware lets disallowed pages through when several first requests to a host run at once."""
    pages = max(10, concurrency // 2)  # there are as many first requests as may be open at once
    private = [f"{url}/private/{number}" for number in range(pages)]
    open_pages = [f"{url}/open/{number}" for number in range(pages)]
    for page in private + open_pages:
        site.page(page.removeprefix(url), title="x", text=f"words of {page}")
    site.robots("User-agent: *\nDisallow: /private\n")
    starts = [page for pair in zip(private, open_pages, strict=True) for page in pair]
    workspace.define(start_urls=starts, politeness={"delay": 0, "concurrency": concurrency})
    run = workspace.crawl().run
    assert run["outcomes"] == {"NEW": pages, "ROBOTS": pages}
    assert [path for path in site.paths() if path.startswith("/private")] == []
    assert site.count("/robots.txt") == 1
    assert site.paths()[0] == "/robots.txt"
    assert run["status_codes"]["951"] == pages


@pytest.mark.parametrize(
    ("status", "outcomes"),
    [(404, {"NEW": 1}), (403, {"NEW": 1}), (500, {"NETWORK_ERROR": 1}), (503, {"NETWORK_ERROR": 1})],
)
def test_a_robots_txt_that_cannot_be_read(
    site: Site, url: str, workspace: Workspace, status: int, outcomes: dict[str, int]
) -> None:
    """RFC 9309 2.3.1.3 and 2.3.1.4: 4xx allows everything, 5xx forbids everything for this run."""
    site.page("/", title="Home", text="words")
    site.respond("/robots.txt", status=status)
    workspace.define(f"{url}/")
    assert workspace.crawl(code=None).run["outcomes"] == outcomes


def test_ultra_search_78_the_override_fetches_what_robots_txt_forbids(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="words")
    site.robots("User-agent: *\nDisallow: /\n")
    workspace.define(f"{url}/", robots={"obey": False})
    assert workspace.crawl().run["outcomes"] == {"NEW": 1}


def test_ultra_search_79_a_group_with_our_name_replaces_the_general_one(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="words")
    site.robots("User-agent: *\nDisallow: /\n\nUser-agent: Ultra Search\nDisallow: /tmp/\n")
    workspace.define(f"{url}/", robots={"name": "Ultra Search"})
    assert workspace.crawl().run["outcomes"] == {"NEW": 1}


@pytest.mark.parametrize(
    ("directive", "found", "followed"),
    [
        ("noindex", False, True),
        ("nofollow", True, False),
        ("none", False, False),
        ("NOINDEX, NOFOLLOW", False, False),
    ],
)
@pytest.mark.parametrize("where", ["meta", "header"])
def test_ultra_search_82_83_directives_of_the_page(
    site: Site, url: str, workspace: Workspace, directive: str, found: bool, followed: bool, where: str
) -> None:
    meta = directive if where == "meta" else None
    headers = {"X-Robots-Tag": directive} if where == "header" else None
    site.page("/", title="Home", text="words", links=["/child"], robots=meta, headers=headers)
    site.page("/child", title="Child", text="other")
    workspace.define(f"{url}/")
    workspace.crawl(code=0 if found or followed else 1)
    assert (workspace.search("words") == ["/"]) is found
    assert (site.count("/child") == 1) is followed


def test_directives_are_ignored_by_setting(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="words", links=["/child"], robots="none")
    site.page("/child", title="Child", text="words")
    workspace.define(f"{url}/", robots={"meta": False})
    workspace.crawl()
    assert sorted(workspace.search("words")) == ["/", "/child"]


def test_a_redirected_robots_txt_is_followed(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="words", links=["/private"])
    site.redirect("/robots.txt", "/other.txt")
    site.file("/other.txt", b"User-agent: *\nDisallow: /private\n", "text/plain")
    workspace.define(f"{url}/")
    assert workspace.crawl().run["outcomes"] == {"NEW": 1, "ROBOTS": 1}


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ({"robots": {"obey": False}}, 1),
        ({"robots": {"obey": False}, "sitemaps": {"discover": False}}, 0),
        ({"robots": {"obey": False}, "sitemaps": {"use": False}}, 0),
        ({"robots": {"obey": False, "obey_delay": True}, "sitemaps": {"use": False}}, 1),
        ({"sitemaps": {"use": False}}, 1),
    ],
    ids=["sitemaps are looked for", "nothing to be found", "no sitemaps", "for its delay", "obeyed"],
)
def test_fast_31_38_robots_txt_is_asked_for_only_where_something_in_it_counts(
    site: Site, url: str, workspace: Workspace, options: dict[str, Any], asked: int
) -> None:
    site.page("/", title="Home", text="words", links=["/a"])
    site.page("/a", title="A", text="other words")
    workspace.define(f"{url}/", **options)
    assert workspace.crawl().run["outcomes"] == {"NEW": 2}
    assert site.count("/robots.txt") == asked


def test_pages_wait_for_the_sitemaps_of_a_definition_without_robots_txt(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="words", links=["/a"])
    site.page("/a", title="A", text="other words")
    dated = f"<url><loc>{url}/a</loc><lastmod>2024-01-01</lastmod></url>"
    site.file("/list.xml", f"<urlset>{dated}</urlset>".encode(), "application/xml")
    sitemaps = {"discover": False, "urls": [f"{url}/list.xml"]}
    workspace.define(f"{url}/", robots={"obey": False}, sitemaps=sitemaps)
    workspace.crawl()
    site.reset()
    assert workspace.crawl().run["not_asked"] == 1
    assert site.count("/a") == site.count("/robots.txt") == 0


@pytest.mark.parametrize("sitemaps", [True, False])
def test_a_robots_txt_that_is_not_obeyed_reserves_nothing(
    site: Site, url: str, workspace: Workspace, sitemaps: bool
) -> None:
    site.page("/", title="Home", text="words")
    site.robots("User-agent: *\nContent-Signal: search=no\nDisallow: /\n")
    workspace.define(f"{url}/", robots={"obey": False}, sitemaps={"use": sitemaps})
    assert workspace.crawl().run["outcomes"] == {"NEW": 1}


def test_fast_36_the_delay_of_a_robots_txt_that_gives_no_permissions(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="words", links=["/a", "/b"])
    for path in ("/a", "/b"):
        site.page(path, title=path, text=f"words {path}")
    site.robots("User-agent: *\nDisallow: /\nCrawl-delay: 0.6\n")
    workspace.define(
        f"{url}/",
        robots={"obey": False, "obey_delay": True},
        politeness={"delay": 0},
        sitemaps={"use": False},
    )
    assert workspace.crawl().run["outcomes"] == {"NEW": 3}
    assert kept([request.time for request in site.requests], 0.6)


def test_a_rule_with_a_stray_percent_sign_is_obeyed(site: Site, url: str, workspace: Workspace) -> None:
    site.robots("User-agent: *\nDisallow: /100%-off/\n")
    site.page("/", title="Home", text="words", links=["/100%-off/", "/100%25-off/shoes", "/100-on/"])
    site.page("/100-on/", title="Open", text="words")
    workspace.define(f"{url}/")
    assert workspace.crawl().run["outcomes"] == {"NEW": 2, "ROBOTS": 2}
    assert [path for path in site.paths() if "off" in path] == []
