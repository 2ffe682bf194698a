"""robots.txt and robots directives in real crawls."""

from __future__ import annotations

import pytest
from support.project import Workspace
from support.site import Site


@pytest.mark.parametrize("concurrency", [1, 2, 8, 10, 64])
def test_first_requests_at_once_all_wait_for_robots_txt(
    site: Site, url: str, workspace: Workspace, concurrency: int
) -> None:
    """Scrapy's own middleware lets disallowed pages through when several first requests to a host run at once."""
    private = [f"{url}/private/{number}" for number in range(30)]
    open_pages = [f"{url}/open/{number}" for number in range(30)]
    for page in private + open_pages:
        site.page(page.removeprefix(url), title="x", text=f"words of {page}")
    site.robots("User-agent: *\nDisallow: /private\n")
    starts = [page for pair in zip(private, open_pages, strict=True) for page in pair]
    workspace.define(start_urls=starts, politeness={"delay": 0, "concurrency": concurrency})
    run = workspace.crawl(PYTHONASYNCIODEBUG="0").run
    assert run["outcomes"] == {"NEW": 30, "ROBOTS": 30}
    assert [path for path in site.paths() if path.startswith("/private")] == []
    assert site.count("/robots.txt") == 1
    assert site.paths()[0] == "/robots.txt"
    assert run["status_codes"]["951"] == 30


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
    workspace.crawl()
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
