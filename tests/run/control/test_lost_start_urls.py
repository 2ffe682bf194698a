"""A definition whose start URLs cannot be read fails, whatever becomes of the pages that earlier runs have read."""

from __future__ import annotations

from typing import Any

import pytest
from support.crawled import CrawledProjects
from support.project import Workspace
from support.site import Site

PAGES = ("/a", "/b")


@pytest.fixture
def known(site: Site, url: str, workspace: Workspace, crawled_projects: CrawledProjects) -> Site:
    """A home page and two others, all in the index."""
    site.page("/", title="Home", text="needle home", links=PAGES)
    for name in PAGES:
        site.page(name, title=name, text=f"needle {name}")
    workspace.define(f"{url}/")
    crawled_projects.crawl(workspace, site)
    return site


def start_failures(run: dict[str, Any], url: str) -> list[str]:
    """Return the problems that name a start URL."""
    return [problem for problem in run["problems"] if f": {url}" in problem]


def test_the_only_page_is_gone_and_its_document_too(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="needle home")
    workspace.define(f"{url}/")
    workspace.crawl()
    site.remove("/")
    for deleted in (1, 0):
        run = workspace.crawl(code=1).run
        assert (run["deleted"], len(start_failures(run, f"{url}/"))) == (deleted, 1)
    assert workspace.indexed() == []
    site.page("/", title="Home", text="needle home")
    assert workspace.crawl().run["problems"] == []


def test_its_document_is_held_back_by_the_guard(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="needle home")
    workspace.define(f"{url}/", deletion={"always": 0})
    workspace.crawl()
    site.remove("/")
    run = workspace.crawl(code=1).run
    assert (run["deleted"], len(run["problems"]), len(start_failures(run, f"{url}/"))) == (0, 2, 1)
    assert workspace.search("needle") == ["/"]


@pytest.mark.parametrize(("start", "excluded"), [("/wrong", ""), ("/", "/")], ids=["not found", "excluded"])
def test_other_pages_are_read_as_before(
    known: Site, url: str, workspace: Workspace, start: str, excluded: str
) -> None:
    """As after a mistake in a changed definition."""
    boundary = {"uris": {"exclude": [{"exact": f"{url}{excluded}"}]}} if excluded else {}
    workspace.define(f"{url}{start}", boundary=boundary)
    run = workspace.crawl(code=1).run
    assert workspace.indexed() == ([*PAGES] if excluded else ["/", *PAGES])
    assert len(start_failures(run, f"{url}{start}")) == 1


def test_a_definition_that_excludes_its_only_start_url_fails_in_its_first_run(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="needle home")
    workspace.define(f"{url}/", boundary={"uris": {"exclude": [{"exact": f"{url}/"}]}})
    run = workspace.crawl(code=1).run
    assert (site.count("/"), len(start_failures(run, f"{url}/"))) == (0, 1)


def test_one_that_fails_for_now_is_no_failure_of_the_run(known: Site, workspace: Workspace) -> None:
    known.respond("/", status=500)
    run = workspace.crawl().run
    assert run["outcomes"] == {"HTTP_ERROR": 1, "NOT_MODIFIED": 2}


def test_one_of_two_start_urls_is_enough(known: Site, url: str, workspace: Workspace) -> None:
    workspace.define(start_urls=[f"{url}/wrong", f"{url}/a"])
    assert workspace.crawl().run["outcomes"]["GONE"] == 1


def test_pages_that_sitemaps_name_need_no_start_url(site: Site, url: str, workspace: Workspace) -> None:
    site.sitemap("/sitemap.xml", PAGES)
    for name in PAGES:
        site.page(name, title=name, text=f"needle {name}")
    workspace.define(f"{url}/")
    for _ in range(2):
        run = workspace.crawl().run
        assert (run["outcomes"]["GONE"], run["problems"]) == (1, [])
    assert workspace.indexed() == list(PAGES)
