"""The options of `feeds` in real crawls."""

from __future__ import annotations

from typing import Any

import pytest
from support.later import later
from support.project import Workspace
from support.sentences import sentence
from support.site import Site


def feed(*names: str) -> bytes:
    items = "".join(f"<item><title>entry {name}</title><link>{name}</link></item>" for name in names)
    return f"<rss version='2.0'><channel><title>Latest</title>{items}</channel></rss>".encode()


@pytest.fixture
def news(site: Site) -> Site:
    site.page("/", title="Home", text="needle", links=["/about"])
    site.page("/about", text="needle of us")
    for number in range(1, 6):
        site.page(f"/n{number}", title=f"News {number}", text="needle", links=[f"/deep{number}"])
        site.page(f"/deep{number}", text=f"needle {number}")
    site.file("/feed.xml", feed("/n1", "/n2"), "application/rss+xml")
    return site


def define(workspace: Workspace, start: str, url: str, **options: Any) -> None:
    start_urls = {} if start else {"start_urls": []}
    feeds = {"urls": [f"{url}/feed.xml"], **options.pop("feeds", {})}
    workspace.define(start, feeds=feeds, **start_urls, **options)


def test_fast_205_a_feed_is_a_beginning_and_no_document(news: Site, url: str, workspace: Workspace) -> None:
    define(workspace, "", url)
    assert workspace.crawl().run["problems"] == []
    assert workspace.indexed() == ["/deep1", "/deep2", "/n1", "/n2"]
    row = workspace.urls()["/feed.xml"]
    assert (row["outcome"], row["reason"]) == ("LIST", sentence("feeds.two_of_two_inside"))
    assert workspace.urls()["/n1"]["depth"] == 1


def test_fast_206_feeds_of_files(news: Site, url: str, workspace: Workspace) -> None:
    (workspace.directory / "feeds.txt").write_text(f"# mine\n{url}/feed.xml\n")
    workspace.define("", start_urls=[], feeds={"url_files": ["feeds.txt"]})
    workspace.crawl()
    assert "/n1" in workspace.indexed()


@pytest.mark.parametrize("kind", ["application/rss+xml", "application/xml"])
@pytest.mark.parametrize("discover", [True, False], ids=["fast_207_yes", "fast_207_no"])
def test_feeds_are_discovered(news: Site, url: str, workspace: Workspace, discover: bool, kind: str) -> None:
    link = '<link rel=alternate type="application/rss+xml" href=/feed.xml>'
    news.page("/", title="Home", text="needle", head=link)
    news.file("/feed.xml", feed("/n1"), kind)
    workspace.define(f"{url}/", feeds={"discover": discover})
    workspace.crawl()
    assert ("/n1" in workspace.indexed()) is discover
    assert "/feed.xml" not in workspace.indexed()


@pytest.mark.parametrize("follow", [True, False], ids=["fast_208_yes", "fast_208_no"])
def test_links_of_named_pages_are_followed_or_not(
    news: Site, url: str, workspace: Workspace, follow: bool
) -> None:
    define(workspace, f"{url}/", url, feeds={"follow_links": follow})
    workspace.crawl()
    assert ("/deep1" in workspace.indexed()) is follow
    assert {"/", "/about", "/n1", "/n2"} <= set(workspace.indexed()), "what else leads on is followed"
    news.change("/n1", text="needle again")
    workspace.crawl()
    assert ("/deep1" in workspace.indexed()) is follow, "the next run knows it too"


@pytest.mark.parametrize("ignore", [True, False], ids=["fast_209_yes", "fast_209_no"])
def test_named_pages_may_be_outside(news: Site, url: str, workspace: Workspace, ignore: bool) -> None:
    news.page("/n1", text="needle", links=["/n3"])
    news.robots("User-agent: *\nDisallow: /n2\n")
    outside = {"uris": {"exclude": [f"{url}/n"]}}
    define(workspace, f"{url}/", url, feeds={"ignore_rules": ignore}, boundary=outside)
    workspace.crawl()
    assert ("/n1" in workspace.indexed()) is ignore
    assert not {"/n2", "/n3"} & set(workspace.indexed()), "robots.txt holds, and so do rules for its links"
    outside["uris"]["exclude"].append(f"{url}/z")
    define(workspace, f"{url}/", url, feeds={"ignore_rules": ignore}, boundary=outside)
    workspace.crawl()
    assert ("/n1" in workspace.indexed()) is ignore, "another scope does not drop it"


@pytest.mark.parametrize("index", [True, False], ids=["fast_210_yes", "fast_210_no"])
def test_the_feed_itself_is_indexed_or_not(news: Site, url: str, workspace: Workspace, index: bool) -> None:
    define(workspace, "", url, feeds={"index": index})
    workspace.crawl()
    assert ("/feed.xml" in workspace.search("entry")) is index
    assert workspace.crawl().run["outcomes"] == {"NOT_MODIFIED": 5}


@pytest.mark.parametrize("delete", [True, False], ids=["fast_211_yes", "fast_211_no"])
def test_fast_213_the_oldest_pages_leave(news: Site, url: str, workspace: Workspace, delete: bool) -> None:
    options = {"follow_links": False, "delete_expired": delete, "max_links": 2}
    define(workspace, "", url, feeds=options)
    workspace.crawl()
    news.change("/feed.xml", body=feed("/n3", "/n1", "/n2"))
    assert workspace.crawl().run["deleted"] == delete
    assert workspace.indexed() == (["/n1", "/n3"] if delete else ["/n1", "/n2", "/n3"])


def test_fast_28_pages_that_are_over_stay_away(news: Site, url: str, workspace: Workspace) -> None:
    define(workspace, "", url, feeds={"follow_links": False, "delete_expired": True, "max_links": 2})
    news.change("/feed.xml", body=feed("/n1"))
    workspace.crawl()
    news.change("/feed.xml", body=feed("/n2", "/n1"))
    workspace.crawl()
    assert workspace.indexed() == ["/n1", "/n2"]
    news.change("/feed.xml", body=feed("/n3", "/n2", "/n1"))
    assert workspace.crawl().run["deleted"] == 1
    assert workspace.indexed() == ["/n2", "/n3"]
    news.reset()
    workspace.crawl()
    assert (workspace.indexed(), news.count("/n1")) == (["/n2", "/n3"], 0), "though the feed still names it"
    assert "/n1" not in workspace.urls()


def test_fast_211_a_page_that_something_else_leads_to_stays(
    news: Site, url: str, workspace: Workspace
) -> None:
    news.change("/", links=["/n1"])
    define(workspace, f"{url}/", url, feeds={"delete_expired": True, "max_links": 1})
    workspace.crawl()
    news.change("/feed.xml", body=feed("/n3", "/n1"))
    workspace.crawl()
    assert {"/n1", "/n3"} <= set(workspace.indexed())


def test_fast_212_pages_are_over_after_their_time(news: Site, url: str, workspace: Workspace) -> None:
    feeds = {"follow_links": False, "delete_expired": True, "max_age": "1 h"}
    define(workspace, "", url, feeds=feeds)
    assert workspace.crawl().run["deleted"] == 0
    over = later(workspace.directory, 3601)
    news.respond("/feed.xml", status=503)
    assert workspace.crawl(**over).run["deleted"] == 0, "a feed that does not answer loses nothing"
    news.file("/feed.xml", feed("/n1", "/n2"), "application/rss+xml")
    assert workspace.crawl().run["deleted"] == 0, "it is not over yet"
    assert workspace.crawl(code=1, **over).run["deleted"] == 2
    assert workspace.indexed() == []


def test_a_feed_on_another_host_names_pages_of_its_own_host(
    news: Site, url: str, workspace: Workspace
) -> None:
    with news.serve("127.0.0.2") as other:
        define(workspace, f"{url}/", other)
        workspace.crawl()
        assert {row["access_url"] for row in workspace.urls().values()} >= {f"{other}/n1", f"{url}/about"}


def test_p6_a_hostile_feed_brings_nothing(news: Site, url: str, workspace: Workspace) -> None:
    bomb = b'<!DOCTYPE rss [<!ENTITY a "b">]><rss><channel><item><link>/n1</link></item></channel></rss>'
    news.file("/feed.xml", bomb, "application/rss+xml")
    define(workspace, "", url)
    assert workspace.crawl(code=1).run["cause"] == "no-feed"
    row = workspace.urls()["/feed.xml"]
    assert (row["status_code"], "DTD" in row["reason"]) == (903, True)
    assert set(workspace.urls()) == {"/feed.xml"}
