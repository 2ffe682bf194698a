"""A change of how documents are made is settled by `reindex`: the next crawl fetches nothing for it."""

from __future__ import annotations

from typing import Any

import pytest
from support.project import Workspace
from support.site import Site

from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores.project_stores import open_documents

EXCLUDE = {"content": {"exclude": ".teaser"}}


def put(site: Site, path: str, *links: str, more: str = '<p class="teaser">heron</p>') -> None:
    anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
    body = f"<title>{path}</title><body><p>text of {path}</p>{anchors}{more}</body>"
    site.file(path, body.encode(), "text/html")


@pytest.fixture
def pages(site: Site) -> Site:
    put(site, "/", "/a", "/b", "/quiet")
    put(site, "/a")
    put(site, "/b", "/a")
    site.page("/quiet", title="Quiet", text="quiet", robots="noindex")
    return site


def define(workspace: Workspace, url: str, **options: Any) -> None:
    workspace.define(f"{url}/", storage={"keep": True}, **options)


def fetched(site: Site, workspace: Workspace) -> dict[str, int]:
    """Crawl, and return the pages that were sent in full, with the times that they were."""
    site.reset()
    workspace.crawl()
    paths = [
        path
        for path in ("/", "/a", "/b", "/quiet", "/new")
        for status in site.statuses(path)
        if status == 200
    ]
    return {path: paths.count(path) for path in paths}


def test_the_next_crawl_fetches_nothing_that_was_made_again(
    pages: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url)
    workspace.crawl()
    assert len(workspace.search("heron")) == 3
    define(workspace, url, **EXCLUDE)
    assert workspace.command("reindex").code == 0
    assert workspace.search("heron") == []
    assert not workspace.command("plan", "--json").json["sources"][0]["recipe_changed"]
    assert fetched(pages, workspace) == {"/quiet": 1}, "what is not stored may have become a document"
    for _ in range(3):
        assert fetched(pages, workspace) == {}
    assert workspace.search("heron") == []
    assert workspace.indexed() == ["/", "/a", "/b"]


def test_a_definition_that_is_taken_back_makes_everything_anew(
    pages: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url)
    workspace.crawl()
    define(workspace, url, **EXCLUDE)
    assert workspace.command("reindex").code == 0
    define(workspace, url)
    assert fetched(pages, workspace) == {"/": 1, "/a": 1, "/b": 1, "/quiet": 1}
    assert len(workspace.search("heron")) == 3


@pytest.mark.parametrize("again", [EXCLUDE, {}], ids=["kept", "taken back"])
def test_a_part_that_was_made_again_settles_nothing(
    pages: Site, url: str, workspace: Workspace, again: dict[str, Any]
) -> None:
    define(workspace, url)
    workspace.crawl()
    define(workspace, url, **EXCLUDE)
    workspace.command("reindex", "--site", url.removeprefix("http://"))
    define(workspace, url, **again)
    assert fetched(pages, workspace) == {"/": 1, "/a": 1, "/b": 1, "/quiet": 1}
    assert len(workspace.search("heron")) == (0 if again else 3)


@pytest.mark.parametrize("dated", [False, True], ids=["linked", "unchanged by the sitemap"])
def test_a_page_that_is_not_stored_is_read(pages: Site, url: str, workspace: Workspace, dated: bool) -> None:
    if dated:
        entries = "".join(
            f"<url><loc>{url}{path}</loc><lastmod>2020-01-01</lastmod></url>" for path in ("/a", "/b")
        )
        schema = "http://www.sitemaps.org/schemas/sitemap/0.9"
        body = f'<urlset xmlns="{schema}">{entries}</urlset>'
        pages.file("/sitemap.xml", body.encode(), "application/xml")
    define(workspace, url)
    workspace.crawl()
    project = require(read_definitions(workspace.directory / "ultracrawl.yaml"))
    documents = open_documents(project, project.sources["site"])
    documents.discard([url_key(f"{url}/a")])
    documents.close()
    define(workspace, url, **EXCLUDE)
    assert workspace.command("reindex").code == 1
    assert workspace.search("heron") == ["/a"]
    assert fetched(pages, workspace) == {"/a": 1, "/quiet": 1}
    assert workspace.search("heron") == []
    assert fetched(pages, workspace) == {}


def test_a_page_that_may_be_indexed_now_is_read(pages: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url)
    workspace.crawl()
    define(workspace, url, robots={"meta": False})
    assert workspace.command("reindex").code == 0
    workspace.crawl()
    assert "/quiet" in workspace.indexed()


def test_links_that_count_now_are_followed(site: Site, url: str, workspace: Workspace) -> None:
    put(site, "/", "/a", more='<a rel="nofollow" href="/new">New</a>')
    put(site, "/a")
    put(site, "/new")
    define(workspace, url)
    workspace.crawl()
    assert workspace.indexed() == ["/", "/a"]
    define(workspace, url, robots={"follow_nofollow_links": True})
    assert workspace.command("reindex").code == 0
    assert fetched(site, workspace) == {"/": 1, "/new": 1}
    assert workspace.indexed() == ["/", "/a", "/new"]
    assert fetched(site, workspace) == {}
