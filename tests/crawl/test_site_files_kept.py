"""robots.txt and sitemaps are kept with their age: no run asks for them before their time."""

from __future__ import annotations

import pytest
from support.project import Workspace
from support.site import Site

ROBOTS = "User-agent: *\nDisallow: /private\nSitemap: {url}/map.xml\n"


@pytest.fixture
def kept(site: Site, url: str, workspace: Workspace) -> Site:
    """A site with a robots.txt that names a sitemap."""
    site.robots(ROBOTS.format(url=url))
    site.page("/", title="Home", text="words of the home page", links=["/private/1"])
    site.page("/listed", title="Listed", text="words of the page that only the sitemap names")
    entry = f"<url><loc>{url}/listed</loc><lastmod>2020-05-01T12:00:00Z</lastmod></url>"
    site.file("/map.xml", f"<urlset>{entry}</urlset>".encode(), "application/xml")
    workspace.define(f"{url}/")
    return site


@pytest.mark.xfail(strict=True, reason="each run asks for robots.txt and sitemaps")
def test_other_processes_ask_neither_for_robots_txt_nor_for_sitemaps(
    kept: Site, workspace: Workspace
) -> None:
    assert workspace.crawl().run["outcomes"] == {"NEW": 2, "ROBOTS": 1, "NOT_INDEXED": 1}
    kept.reset()
    for _ in range(3):
        run = workspace.crawl().run
        assert run["outcomes"].get("ROBOTS") == 1
        assert run["sitemaps"] == 0
    assert kept.paths() == ["/"] * 3, "the page that the sitemap vouches for is not asked for either"
