"""A URL that is not found is told with a page that links to it; a document that is kept is not called missing."""

from __future__ import annotations

import pytest
from support.project import LOOPBACK, Workspace
from support.sentences import sentence
from support.site import Site

from ultracrawl.run.inspection import broken_links


@pytest.fixture
def crawled(site: Site, url: str, workspace: Workspace) -> Workspace:
    site.page("/", title="Home", links=["/a"], text="words")
    site.page("/a", title="A", links=["/lost", "/a", "/b"], text="words of a")
    site.page("/b", title="B", text="words of b")
    workspace.define(f"{url}/", boundary=LOOPBACK, limits={"retries": 0})
    workspace.crawl()
    return workspace


def test_explain_and_urls_name_the_page_with_the_broken_link(crawled: Workspace, url: str) -> None:
    (told,) = crawled.command("explain", f"{url}/lost", "--json").lines
    assert told["linked_from"] == [f"{url}/a"]
    assert f"{url}/a" in crawled.command("explain", f"{url}/lost").out
    (row,) = crawled.command("urls", "--outcome", "GONE", "--json").lines
    assert (row["url"], row["linked_from"]) == (f"{url}/lost", [f"{url}/a"])
    assert crawled.command("urls", "--outcome", "GONE").out.rstrip().endswith(f"{url}/a")
    (found,) = crawled.command("explain", f"{url}/b", "--json").lines
    assert found["linked_from"] is None


def test_only_so_many_pages_are_read(crawled: Workspace, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broken_links, "MOST_PAGES", 0)
    (told,) = crawled.command("explain", f"{url}/lost", "--json").lines
    assert told["linked_from"] == []


def test_each_page_with_the_broken_link_is_named(crawled: Workspace, site: Site, url: str) -> None:
    for number in range(22):
        site.page(
            f"/more{number:02}", title=f"More {number}", text=f"words {number}", links=["/lost", "/lost2"]
        )
    site.page("/b", title="B", text="b", links=[f"/more{number:02}" for number in range(22)])
    crawled.crawl()
    linking = [f"{url}/a", *(f"{url}/more{number:02}" for number in range(22))]
    (told,) = crawled.command("explain", f"{url}/lost", "--json").lines
    assert told["linked_from"] == linking
    rows = crawled.command("urls", "--outcome", "GONE", "--json").lines
    assert {row["url"]: row["linked_from"] for row in rows} == {
        f"{url}/lost": linking,
        f"{url}/lost2": linking[1:],
    }
    lines = crawled.command("urls", "--outcome", "GONE").out.splitlines()
    assert {(linking[0] in line, linking[1] in line, " 22 " in line) for line in lines} == {
        (True, False, True),
        (False, True, False),
    }
    shown = crawled.command("explain", f"{url}/lost").out
    assert [page in shown for page in linking] == [True] * 20 + [False] * 3
    assert " 3 " in shown
    assert crawled.command("urls", "--json").lines[0]["linked_from"] is None


def test_a_document_that_is_kept_is_not_called_missing(crawled: Workspace, site: Site, url: str) -> None:
    site.respond("/b", status=500)
    crawled.command("crawl", "--json")
    shown = crawled.command("explain", f"{url}/b").out
    assert "HTTP_ERROR" in shown
    assert sentence("explain.not_indexed") not in shown
    assert sentence("explain.not_indexed") in crawled.command("explain", f"{url}/lost").out
