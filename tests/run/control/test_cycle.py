"""The life of a site in the index: first crawl, nothing changed, changes, vanished pages."""

from __future__ import annotations

from typing import Any

import pytest
from support.project import Workspace
from support.site import Site


def adds_up(run: dict[str, Any]) -> None:
    assert sum(run["outcomes"].values()) == run["scheduled"]
    assert sum(run["status_codes"].values()) == run["scheduled"]


@pytest.fixture
def small(site: Site, url: str, workspace: Workspace) -> Site:
    site.page("/", title="Home", links=["/a", "/b"], text="welcome everybody")
    site.page("/a", title="Alpha", links=["/c", "/"], text="the first animal is an aardvark")
    site.page("/b", title="Beta", links=["/missing"], text="the second animal is a badger")
    site.page("/c", title="Gamma", text="the third animal is a caracal")
    workspace.define(f"{url}/")
    return site


def test_first_crawl_indexes_every_page_reachable(small: Site, workspace: Workspace) -> None:
    run = workspace.crawl().run
    adds_up(run)
    assert run["outcomes"] == {"GONE": 1, "NEW": 4}
    assert run["indexed"] == 4
    assert set(workspace.search("animal")) == {"/a", "/b", "/c"}
    assert workspace.search("title:gamma") == ["/c"]
    rows = workspace.urls()
    assert {path: row["depth"] for path, row in rows.items()} == {
        "/": 0,
        "/a": 1,
        "/b": 1,
        "/c": 2,
        "/missing": 2,
    }
    assert all(row["indexed"] for path, row in rows.items() if path != "/missing")
    assert rows["/missing"]["status_code"] == 404


def test_second_run_downloads_and_indexes_nothing(small: Site, workspace: Workspace) -> None:
    workspace.crawl()
    small.reset()
    run = workspace.crawl().run
    adds_up(run)
    assert run["outcomes"] == {"GONE": 1, "NOT_MODIFIED": 4}
    assert (run["indexed"], run["deleted"]) == (0, 0)
    assert [r.path for r in small.requests if r.status == 200] in ([], ["/robots.txt"])


def test_without_validators_an_equal_body_is_unmodified(small: Site, workspace: Workspace) -> None:
    text = "the first animal is an aardvark"
    small.page("/a", title="Alpha", links=["/c", "/"], text=text, etag=False, modified=False)
    workspace.crawl()
    run = workspace.crawl().run
    assert run["outcomes"] == {"GONE": 1, "NOT_MODIFIED": 3, "UNMODIFIED": 1}
    assert run["indexed"] == 0


def test_one_changed_one_deleted_one_added(small: Site, workspace: Workspace) -> None:
    workspace.crawl()
    small.change("/a", text="the first animal is an antelope", links=["/c", "/", "/new"])
    small.page("/new", title="New", text="the fourth animal is a dingo")
    small.remove("/c")
    run = workspace.crawl().run
    adds_up(run)
    assert run["outcomes"] == {"GONE": 2, "MODIFIED": 1, "NEW": 1, "NOT_MODIFIED": 2}
    assert (run["indexed"], run["deleted"]) == (2, 1)
    assert workspace.search("aardvark") == []
    assert workspace.search("antelope") == ["/a"]
    assert workspace.search("caracal") == []
    assert workspace.search("dingo") == ["/new"]


def test_children_of_an_unmodified_page_stay_alive_and_are_checked(small: Site, workspace: Workspace) -> None:
    workspace.crawl()
    small.change("/c", text="the third animal is a cheetah")
    run = workspace.crawl().run
    assert run["outcomes"] == {"GONE": 1, "MODIFIED": 1, "NOT_MODIFIED": 3}, (
        "/a said 304, its child /c was asked for"
    )
    assert workspace.search("cheetah") == ["/c"]


def test_a_vanished_page_that_comes_back_is_found_though_its_parent_is_unmodified(
    small: Site, workspace: Workspace
) -> None:
    workspace.crawl()
    small.remove("/c")
    for _ in range(4):
        workspace.crawl()
    assert workspace.search("caracal") == []
    small.page("/c", title="Gamma", text="the third animal is a caracal")
    small.reset()
    run = workspace.crawl().run
    assert run["outcomes"]["NEW"] == 1
    assert small.statuses("/a") == [304]
    assert workspace.search("caracal") == ["/c"]


@pytest.mark.parametrize("status", [500, 503, 403])
def test_an_error_answer_deletes_nothing(small: Site, workspace: Workspace, status: int) -> None:
    workspace.crawl()
    small.respond("/c", status=status)
    run = workspace.crawl().run
    adds_up(run)
    assert run["outcomes"] == {"GONE": 1, "HTTP_ERROR": 1, "NOT_MODIFIED": 3}
    assert run["deleted"] == 0
    assert workspace.search("caracal") == ["/c"]
    assert workspace.urls()["/c"]["status_code"] == status


def test_a_broken_connection_deletes_nothing(small: Site, workspace: Workspace) -> None:
    workspace.crawl()
    small.raw("/c", b"")
    run = workspace.crawl().run
    assert run["outcomes"] == {"GONE": 1, "NETWORK_ERROR": 1, "NOT_MODIFIED": 3}
    assert workspace.search("caracal") == ["/c"]


def test_a_site_that_is_down_deletes_nothing(site: Site, workspace: Workspace) -> None:
    site.page("/", title="Home", text="welcome everybody")
    with site.serve() as url:
        workspace.define(f"{url}/")
        workspace.crawl()
    ended = workspace.crawl(code=1)
    assert ended.run["outcomes"] == {"NETWORK_ERROR": 1}
    assert workspace.search("welcome") == ["/"]


def test_force_indexes_everything_again(small: Site, workspace: Workspace) -> None:
    workspace.crawl()
    run = workspace.crawl("--force").run
    assert run["outcomes"] == {"GONE": 1, "REINDEXED": 4}
    assert run["indexed"] == 4
    assert workspace.search("aardvark") == ["/a"]


def test_a_page_that_turns_noindex_leaves_the_index(small: Site, workspace: Workspace) -> None:
    workspace.crawl()
    small.change("/a", robots="noindex")
    run = workspace.crawl().run
    assert run["outcomes"]["NOT_INDEXED"] == 1
    assert run["deleted"] == 1
    assert workspace.search("aardvark") == []
    assert workspace.search("caracal") == ["/c"], "its links are followed all the same"


def test_a_narrowed_boundary_drops_pages_without_asking_for_them(
    small: Site, url: str, workspace: Workspace
) -> None:
    workspace.crawl()
    host = url.split("//")[1].split(":", maxsplit=1)[0]
    workspace.define(f"{url}/", boundary={"paths": {host: {"exclude": ["/a"]}}})
    small.reset()
    run = workspace.crawl().run
    assert small.count("/a") == 0
    assert "/a" not in workspace.urls()
    assert run["deleted"] == 1
    assert workspace.search("aardvark") == []


def test_a_widened_boundary_finds_what_unchanged_pages_link_to(
    small: Site, url: str, workspace: Workspace
) -> None:
    workspace.define(f"{url}/", depth=1)
    workspace.crawl()
    assert workspace.search("caracal") == []
    workspace.define(f"{url}/", depth=2)
    run = workspace.crawl().run
    assert run["outcomes"]["NEW"] == 1
    assert workspace.search("caracal") == ["/c"]


def test_a_changed_attribute_map_makes_every_document_again(
    small: Site, url: str, workspace: Workspace
) -> None:
    small.change("/a", head='<meta name="team" content="Zoo">')
    workspace.crawl()
    assert workspace.search("animal", "--where", "Subject=Zoo") == []
    workspace.define(f"{url}/", attributes={"team": "Subject"})
    run = workspace.crawl().run
    assert run["outcomes"] == {"GONE": 1, "REINDEXED": 4}
    assert workspace.search("animal", "--where", "Subject=Zoo") == ["/a"]
    assert workspace.crawl().run["outcomes"] == {"GONE": 1, "NOT_MODIFIED": 4}


def test_a_page_whose_header_turns_noindex_leaves_though_its_body_is_the_same(
    small: Site, workspace: Workspace
) -> None:
    workspace.crawl()
    page = {"title": "Alpha", "links": ["/c", "/"], "text": "the first animal is an aardvark"}
    small.page("/a", **page, headers={"X-Robots-Tag": "noindex"})
    run = workspace.crawl().run
    assert run["outcomes"]["NOT_INDEXED"] == 1
    assert workspace.search("aardvark") == []
    small.page("/a", **page)
    workspace.crawl()
    assert workspace.search("aardvark") == ["/a"]


@pytest.mark.parametrize("status", [500, 503, 429, 403, 206])
def test_the_body_of_an_answer_other_than_200_is_no_page(
    site: Site, url: str, workspace: Workspace, status: int
) -> None:
    site.page("/", title="Home", links=["/bad"], text="words")
    body = b'<title>Sorry</title><p>words <a href="/from-an-error-page">x</a>'
    site.respond("/bad", status=status, headers={"Content-Type": "text/html"}, body=body)
    workspace.define(f"{url}/")
    workspace.crawl()
    assert workspace.indexed() == ["/"]
    assert site.count("/from-an-error-page") == 0
    row = workspace.urls()["/bad"]
    assert (row["status_code"], row["outcome"]) == (status, "NOT_INDEXED" if status == 206 else "HTTP_ERROR")
    assert site.count("/bad") == (2 if status in (429, 500, 503) else 1)


def test_scrapy_settings_of_a_definition_hold_under_our_own_command(
    small: Site, url: str, workspace: Workspace
) -> None:
    workspace.define(f"{url}/", settings={"LOG_LEVEL": "INFO"})
    assert "[ultracrawl.run.lifecycle] INFO: site: finished" in workspace.crawl().err
    workspace.define(f"{url}/")
    assert "INFO" not in workspace.crawl().err


def test_ultra_search_1_a_search_starts_no_crawl(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="needle")
    workspace.define(f"{url}/")
    workspace.crawl()
    site.reset()
    site.change("/", text="other")
    assert workspace.search("needle") == ["/"]
    assert workspace.search("other") == []
    assert site.requests == []


@pytest.mark.parametrize("interrupted", [False, True])
@pytest.mark.parametrize("concurrency", [1, 8])
def test_ultra_search_75_links_of_an_unchanged_page_that_came_nearer_are_inside(
    site: Site, url: str, workspace: Workspace, concurrency: int, interrupted: bool
) -> None:
    chain = ["/", "/a", "/b", "/c", "/d"]
    for at, path in enumerate(chain):
        site.page(path, title=path, text=f"needle {path}", links=chain[at + 1 : at + 2])
    options = {"depth": 3, "politeness": {"delay": 0.05, "concurrency": concurrency}}
    workspace.define(f"{url}/", **options)
    workspace.crawl()
    assert "/d" not in workspace.urls(), "too deep"
    site.change("/", links=["/a", "/c"])
    if interrupted:
        workspace.define(f"{url}/", **options, limits={"pages": 1})
        workspace.crawl()
        workspace.define(f"{url}/", **options)
    workspace.crawl()
    assert "/d" in workspace.indexed()
    assert workspace.urls()["/c"]["depth"] == 1
