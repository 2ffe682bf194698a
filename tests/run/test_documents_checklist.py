"""What the crawl does with URLs and documents, line by line of the checklist of its vendor's manual."""

from __future__ import annotations

import pytest
from support.crawled import CrawledProjects
from support.project import LOOPBACK, Workspace
from support.site import Site

from ultracrawl.sources import load_project, require


@pytest.fixture
def crawled(site: Site, url: str, workspace: Workspace, crawled_projects: CrawledProjects) -> Workspace:
    site.page("/", title="Home", links=["/a", "/b"], text="welcome")
    site.page("/a", title="Alpha", links=["/", "/b", "/b"], text="aardvark")
    site.page("/b", title="Beta", links=["/a"], text="badger")
    workspace.define(f"{url}/")
    crawled_projects.crawl(workspace, site)
    return workspace


def test_ultra_search_10_links_that_are_known_are_not_queued_again(site: Site, crawled: Workspace) -> None:
    assert {path: site.count(path) for path in ("/", "/a", "/b")} == {"/": 1, "/a": 1, "/b": 1}


def test_ultra_search_11_each_url_that_was_fetched_is_in_the_table(crawled: Workspace) -> None:
    assert crawled.outcomes() == {"/": "NEW", "/a": "NEW", "/b": "NEW"}


def test_ultra_search_20_what_vanished_is_found_until_the_next_crawl(site: Site, crawled: Workspace) -> None:
    site.remove("/a")
    assert crawled.search("aardvark") == ["/a"]
    crawled.crawl()
    assert crawled.search("aardvark") == []


@pytest.mark.parametrize(
    ("options", "word"),
    [
        pytest.param({}, "K\u00e4se", id="iso-8859-1"),
        pytest.param({"default_charset": "iso-8859-5"}, "K\u0444se", id="another"),
    ],
)
def test_ultra_search_40_the_default_character_set_is_that_of_html_that_declares_none(
    site: Site, url: str, workspace: Workspace, options: dict[str, str], word: str
) -> None:
    site.file("/", b"<html><title>x</title><body>K\xe4se</body></html>", "text/html")
    workspace.define(f"{url}/", **options)
    workspace.crawl()
    assert workspace.search(word) == ["/"]


def test_ultra_search_38_settings_of_the_crawler_are_set_before_the_crawl(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.file("/", b"<html><title>x</title><a href=/slow>s</a> K\xe4se</html>", "text/html")
    site.slow("/slow", 3.0)
    settings = {
        "limits": {"timeout": 0.5, "retries": 0},
        "politeness": {"delay": 0, "concurrency": 2},
        "default_charset": "iso-8859-5",
    }
    source = {"start_urls": [f"{url}/"], "boundary": LOOPBACK}
    workspace.write({"state": "elsewhere/tables", "defaults": settings, "sources": {"site": source}})
    workspace.crawl()
    assert (workspace.directory / "elsewhere" / "tables").is_dir()
    assert workspace.urls()["/slow"]["status_code"] == 902
    assert workspace.search("K\u0444se") == ["/"]


def test_ultra_search_39_the_timeout_is_30_seconds_unless_it_is_set(url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/")
    project = require(load_project(workspace.directory / "ultracrawl.yaml"))
    assert project.sources["site"].limits.timeout == 30


def test_ultra_search_48_one_query_over_attributes_of_two_sources(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/a", title="a", head='<meta name="version" content="seven">', text="words")
    both = '<meta name="revision" content="seven"><meta name="edition" content="eight">'
    site.page("/b", title="b", head=both, text="words")
    shared = {"boundary": LOOPBACK, "politeness": {"delay": 0}}
    sources = {
        "one": {"start_urls": [f"{url}/a"], "attributes": {"version": "Release"}, **shared},
        "two": {
            "start_urls": [f"{url}/b"],
            "attributes": {"revision": "Release", "edition": "Release"},
            **shared,
        },
    }
    workspace.write({"attributes": {"Release": "string"}, "sources": sources})
    workspace.crawl()
    assert sorted(workspace.search("", "--where", "Release=seven")) == ["/a", "/b"]
    assert workspace.search("", "--where", "Release=eight") == ["/b"]
