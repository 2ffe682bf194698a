"""What the crawl does with URLs and documents, line by line of the checklist of its vendor's manual."""

from __future__ import annotations

import pytest
from support.project import Workspace
from support.site import Site


@pytest.fixture
def crawled(site: Site, url: str, workspace: Workspace) -> Workspace:
    site.page("/", title="Home", links=["/a", "/b"], text="welcome")
    site.page("/a", title="Alpha", links=["/", "/b", "/b"], text="aardvark")
    site.page("/b", title="Beta", links=["/a"], text="badger")
    workspace.define(f"{url}/")
    workspace.crawl()
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
