"""What documents in the index tell of other URLs, and how it is kept true (FAST 5.8 ds_meta_info)."""

from __future__ import annotations

from typing import Any

import pytest
from support.project import Workspace
from support.site import Site

STORY = "a heron stands in the shallow water and waits for a fish that does not come"


def relations_of(workspace: Workspace, path: str, *words: str) -> dict[str, list[str]]:
    """Return what the document of a path tells, each URL as its path."""
    hits = workspace.command("search", "--json", "--as-typed", "--limit", "100", "", *words).json["hits"]
    (hit,) = [hit for hit in hits if "/" + hit["url"].split("/", 3)[3] == path]
    names = ("Duplicates", "Redirects", "Mirrors", "Metadata", "Links", "Referrers")
    return {name: list(map(short, hit["attributes"][name])) for name in names if name in hit["attributes"]}


def short(text: str) -> str:
    return "/" + text.split("/", 3)[3] if text.startswith("http://127.0.0.1:") else text


@pytest.fixture
def herons(site: Site) -> Site:
    for path in ("/heron", "/print/heron", "/copies/heron"):
        site.page(path, title="Heron", text=STORY)
    site.redirect("/old", "/older")
    site.redirect("/older", "/heron")
    paths = ["/heron", "/print/heron", "/copies/heron", "/old", "https://elsewhere.example/x?b=1"]
    site.page(
        "/", title="Start", links=paths, text="where everything begins", headers={"Set-Cookie": "a=secret"}
    )
    return site


ALL = {"tell": ["duplicates", "redirects", "mirrors", "metadata"], "links": True, "referrers": 5}


def test_fast_112_nothing_is_reported_unless_it_is_asked_for(
    herons: Site, url: str, workspace: Workspace
) -> None:
    workspace.define(f"{url}/")
    workspace.crawl()
    assert relations_of(workspace, "/heron") == relations_of(workspace, "/") == {}


def test_fast_112_51_115_documents_tell_of_urls_around_them(
    herons: Site, url: str, workspace: Workspace
) -> None:
    host = url.split("/")[2].partition(":")[0]
    workspace.define(f"{url}/", relations=ALL, sites={"aliases": {"mirror.example": host}})
    workspace.crawl()
    heron = relations_of(workspace, "/heron")
    assert set(heron["Duplicates"]) == {"/print/heron", "/copies/heron"}
    assert set(heron["Redirects"]) == {"/old", "/older"}, "also through another redirect"
    assert heron["Mirrors"] == [f"http://mirror.example:{url.rpartition(':')[2]}/heron"]
    assert heron["Referrers"] == ["/"]
    home = relations_of(workspace, "/")
    assert home["Links"][-1] == "https://elsewhere.example/x?b=1", "in their order, those outside too"
    assert home["Links"][:2] == ["/heron", "/print/heron"]
    assert any(one.startswith("http.content-type=text/html") for one in home["Metadata"])
    assert "secret" not in str(home["Metadata"])
    assert workspace.search("heron", "--where", f"Duplicates={url}/print/heron") == ["/heron"]


@pytest.mark.parametrize(
    ("status", "path", "others"),
    [(301, "/heron", {"/old", "/older"}), (302, "/old", {"/older", "/heron"})],
    ids=["fast_112-301", "fast_112-302"],
)
def test_a_document_never_lists_the_url_that_it_is_shown_under(
    herons: Site, url: str, workspace: Workspace, status: int, path: str, others: set[str]
) -> None:
    herons.redirect("/old", "/older", status=status)
    herons.redirect("/older", "/heron", status=status)
    herons.page("/", title="Start", links=["/old"])
    workspace.define(f"{url}/", relations={"tell": ["redirects"]})
    for _ in range(3):
        workspace.crawl()
        found = relations_of(workspace, path)
        assert set(found["Redirects"]) == others
    herons.redirect("/old", "/gone", status=status)
    herons.redirect("/older", "/heron", status=301)
    herons.page("/", title="Start", links=["/older"])
    workspace.crawl()
    assert relations_of(workspace, "/heron") == {"Redirects": ["/older"]}


def test_fast_112_what_is_reported_follows_the_site_without_a_request(
    herons: Site, url: str, workspace: Workspace
) -> None:
    workspace.define(f"{url}/", relations=ALL)
    workspace.crawl()
    before = relations_of(workspace, "/heron")
    herons.page("/copies/heron", title="Egret", text="an egret is white")
    herons.page("/late/heron", title="Heron", text=STORY)
    herons.redirect("/older", "/print/heron")
    herons.page("/egrets", title="Egrets", links=["/heron", "/late/heron"], text="on other birds")
    herons.page(
        "/",
        title="Start",
        links=["/heron", "/print/heron", "/copies/heron", "/egrets", "/old"],
        text="begins",
    )
    herons.reset()
    workspace.crawl()
    after = relations_of(workspace, "/heron")
    assert (set(before["Duplicates"]), set(after["Duplicates"])) == (
        {"/print/heron", "/copies/heron"},
        {"/print/heron", "/late/heron"},
    )
    assert "Redirects" not in after
    assert set(after["Referrers"]) == {"/", "/egrets"}
    assert herons.statuses("/heron") == [304], "it was not fetched for that"
    assert len(workspace.indexed()) == len(set(workspace.indexed()))
    herons.reset()
    assert workspace.crawl().run["indexed"] == 0, "and is left alone when nothing changed"


def test_a_document_that_tells_anew_keeps_what_links_to_it_are_called(
    herons: Site, url: str, workspace: Workspace
) -> None:
    herons.file("/", b"<a href=/heron>feathered friend</a><a href=/print/heron>p</a>", "text/html")
    workspace.define(f"{url}/", relations={"tell": ["duplicates"]})
    workspace.crawl()
    assert "/heron" in workspace.search("feathered friend")
    herons.file("/other", b"<a href=/copies/heron>c</a>", "text/html")
    herons.file(
        "/", b"<a href=/heron>feathered friend</a><a href=/print/heron>p</a><a href=/other>o</a>", "text/html"
    )
    workspace.crawl()
    assert set(relations_of(workspace, "/heron")["Duplicates"]) == {"/print/heron", "/copies/heron"}
    assert "/heron" in workspace.search("feathered friend")


@pytest.mark.parametrize(
    ("relations", "always", "expected"),
    [
        ({"listed": 1}, None, {"Duplicates": 1, "Redirects": 1}),
        ({"listed": 0}, None, {}),
        ({"listed": 0}, r".*/print/.*", {"Duplicates": 1}),
        ({}, None, {"Duplicates": 2, "Redirects": 2}),
    ],
    ids=["fast_113-1", "fast_113-0", "fast_114-beyond", "fast_113-10"],
)
def test_lists_are_bounded(
    herons: Site,
    url: str,
    workspace: Workspace,
    relations: dict[str, Any],
    always: str | None,
    expected: dict[str, int],
) -> None:
    section = {"tell": ["duplicates", "redirects"], **relations}
    workspace.define(f"{url}/", relations=section, duplicates={"always_listed": always})
    workspace.crawl()
    assert {name: len(urls) for name, urls in relations_of(workspace, "/heron").items()} == expected


def test_a_copy_that_takes_over_tells_of_the_others(herons: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/", relations={"tell": ["duplicates"]})
    workspace.crawl()
    herons.remove("/heron")
    workspace.crawl()
    (left,) = workspace.search("shallow")
    assert relations_of(workspace, left) == {
        "Duplicates": [({"/print/heron", "/copies/heron"} - {left}).pop()]
    }


def test_documents_that_wait_for_an_approval_tell_too(herons: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/", relations={"tell": ["duplicates"]}, crawling_mode="examine")
    workspace.crawl()
    workspace.command("approve", "site")
    workspace.crawl()
    assert len(relations_of(workspace, "/heron")["Duplicates"]) == 2
