"""A project that was crawled for one test is copied for others: what they get is what a crawl makes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support import crawled
from support.crawled import PORT, CrawledProjects
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.pages import bird_site

Look = Callable[..., tuple[int, int]]


@pytest.fixture
def look(tmp_path_factory: pytest.TempPathFactory) -> Look:
    """Have a project crawled for a test; gives the requests for it, and those of a second run that it makes."""
    projects = CrawledProjects(tmp_path_factory)

    def crawl(site: NetworkSite | None = None, **options: object) -> tuple[int, int]:
        site = site or bird_site()
        site.reset()
        workspace = InProcessWorkspace(tmp_path_factory.mktemp("project"))
        with site.serve(port=PORT) as url:
            workspace.define(f"{url}/", **options)
            projects.crawl(workspace, site)
            first, run = len(site.requests), workspace.crawl().run
        assert run["outcomes"] == {"NOT_MODIFIED": 3}
        assert "Heron" in workspace.command("search", "heron").out
        return first, len(site.requests) - first

    return crawl


def test_a_copy_asks_the_site_for_nothing_and_goes_on_as_after_a_crawl(look: Look) -> None:
    asked, again = look()
    assert asked
    assert look() == (0, again)


def test_another_site_or_definition_is_crawled(look: Look) -> None:
    look()
    other = bird_site()
    other.change("/egret", text="the egret is black")
    assert look(other)[0]
    assert look(storage={"keep": True})[0]
    assert look(other)[0] == 0


def test_an_old_project_is_crawled_anew(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    look()
    now = crawled.true_monotonic()
    monkeypatch.setattr(crawled, "true_monotonic", lambda: now + crawled.FRESH_SECONDS)
    assert look()[0]


def test_what_was_crawled_before_is_no_first_crawl(tmp_path_factory: pytest.TempPathFactory) -> None:
    workspace, site = InProcessWorkspace(tmp_path_factory.mktemp("project")), bird_site()
    with site.serve(port=PORT) as url:
        workspace.define(f"{url}/")
        workspace.crawl()
        with pytest.raises(AssertionError):
            CrawledProjects(tmp_path_factory).crawl(workspace, site)


def test_crawls_in_a_row_are_copied_too_and_what_they_return(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    projects = CrawledProjects(tmp_path_factory)
    found = []
    for _ in range(2):
        workspace, site = InProcessWorkspace(tmp_path_factory.mktemp("project")), bird_site()
        with site.serve(port=PORT) as url:
            workspace.define(f"{url}/")
            projects.crawl(workspace, site)
            site.change("/egret", text="the egret is black")
            outcomes = projects.crawl(workspace, site).run["outcomes"]
            found.append((outcomes, len(site.requests), workspace.search("black")))
    (first, asked, _), second = found
    assert asked
    assert first == {"MODIFIED": 1, "NOT_MODIFIED": 2}
    assert second == (first, 0, ["/egret"])


def test_a_project_that_something_else_changed_between_two_crawls_is_refused(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    projects = CrawledProjects(tmp_path_factory)
    workspace, site = InProcessWorkspace(tmp_path_factory.mktemp("project")), bird_site()
    with site.serve(port=PORT) as url:
        workspace.define(f"{url}/")
        projects.crawl(workspace, site)
        workspace.crawl()
        with pytest.raises(AssertionError):
            projects.crawl(workspace, site)
