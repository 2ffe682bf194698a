"""Whole configuration files as a manual has them, crawled on the hosts that they name, over TLS with an own authority.

The files are in `complete`. Those without a start URI are added to the simple one, as `admin add` does it.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from support.clock import AHEAD, wall_time
from support.hosts import HTML, Hosts
from support.in_process import InProcessWorkspace
from support.resource import Html, Reply
from support.server import Request

pytestmark = pytest.mark.servers  # much time

FILES = Path(__file__).with_name("complete")
FILE = "collection.xml"
HOUR, DAY = 3600.0, 86_400.0
WWW, NEWS, OTHER = "www.example.com", "news.example.com", "www.example.net"


class World:
    """The hosts of the files, and a collection that is crawled on them."""

    def __init__(self, folder: Path) -> None:
        self.workspace = InProcessWorkspace(folder)
        self.folder = folder
        named = ("login", "docs", "handbook", "members")
        self.hosts = Hosts(
            dict.fromkeys((WWW, NEWS, OTHER, *(f"{name}.example.com" for name in named)), "127.0.0.1")
        )
        (folder / "networks.txt").write_text("127.0.0.0/8\n")
        hosts = self.hosts
        hosts.links(
            f"{WWW}/", "/1", "/news/", f"https://{NEWS}/", f"https://{OTHER}/", "/calendar/1", "/a.png"
        )
        hosts.links(f"{WWW}/1", "/2")
        hosts.links(f"{WWW}/2", "/3")
        hosts.links(f"{WWW}/news/", "/news/1", "/4")
        hosts.links(f"{NEWS}/", "/deep")
        hosts.links(f"{NEWS}/deep", "/deeper")

    def take(self, name: str) -> None:
        """Have a file be that of the collection."""
        shutil.copy(FILES / f"{name}.xml", self.folder / FILE)

    def add(self, name: str) -> None:
        """Add a file to that of the collection."""
        added = self.workspace.command("admin", "add", str(FILES / f"{name}.xml"), "-c", FILE)
        assert added.code == 0, added.err

    def crawl(self, ahead: float = 0.0, code: int = 0, **env: str) -> list[dict[str, object]]:
        self.hosts.reset()
        ended = self.workspace.crawl("-c", FILE, code=code, **{AHEAD: str(ahead), "TZ": "UTC", **env})
        return list(ended.json["runs"])

    def asked(self, host: str = "") -> set[str]:
        return {place.removeprefix(host) for place in self.hosts.asked() if place.startswith(host)}

    def gap(self, host: str = WWW) -> int:
        """Return the least number of whole seconds between two requests to a host."""
        times = [one.time for one in self.hosts.pages() if one.header("Host") == host]
        return round(min(b - a for a, b in pairwise(times)))

    def sources(self) -> dict[str, str]:
        """Return by place of whose documents it is one."""
        hits = self.workspace.command(
            "search", "--json", "--as-typed", "-c", FILE, "--limit", "50", "needle"
        ).json["hits"]
        return {"".join(urlsplit(hit["url"])[1:3]): hit["source"] for hit in hits}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    with made.hosts.over_tls(tmp_path):
        yield made


def monday(hour: float) -> float:
    """Return how many seconds it is from now to an hour of a Monday."""
    now = time.gmtime(wall_time())
    return (7 - now.tm_wday) * DAY + (hour - now.tm_hour) * HOUR - now.tm_min * 60 - now.tm_sec


SIMPLE = {
    f"{WWW}{path}" for path in ("/", "/1", "/2", "/3", "/4", "/a.png", "/calendar/1", "/news/", "/news/1")
}


def test_simple_the_whole_host_and_nothing_else_a_page_a_minute(world: World) -> None:
    world.take("simple")
    world.crawl()
    assert world.asked() == SIMPLE
    assert world.gap() == 60
    assert set(world.sources()) == SIMPLE
    assert "N-SCHEME" in world.workspace.command("lint", FILE).out


def test_simple_without_the_authority_nothing_is_read(world: World) -> None:
    (world.folder / "ca.pem").unlink()
    world.take("simple")
    (run,) = world.crawl(code=1)
    assert world.asked() == set()
    assert run["indexed"] == 0


def test_simple_a_name_that_the_certificate_does_not_have_is_not_talked_to(tmp_path: Path) -> None:
    made = World(tmp_path)
    made.take("simple")
    del made.hosts.names[WWW]
    with made.hosts.over_tls(tmp_path):
        made.crawl(code=1)
    assert made.asked() == set()


def test_typical_each_section_does_what_it_says(world: World) -> None:
    hosts = world.hosts
    hosts.put(f"{WWW}/", Reply(200, (HTML, ("Set-Cookie", "id=1; Path=/")), typical_home()))
    for path, reply in {
        "/moved": Reply(301, (("Location", "https://docs.example.com/"),)),
        "/within": Reply(301, (("Location", "/found"),)),
        "/missing": Reply(404),
        "/broken": Reply(503),
        "/late": Reply(200, (HTML,), b"needle", delay=40.0),
        "/long": Reply(200, (HTML,), b"<title>long</title>needle " + b"word " * 5000),
        "/data": Reply(200, (("Content-Type", "application/json"),), b'"needle"'),
        "/text": Reply(200, (("Content-Type", "text/plain"),), b"needle text"),
    }.items():
        hosts.put(f"{WWW}{path}", reply)
    items = f"<item><link>https://{NEWS}/deep</link></item>"
    feed = f"<rss version='2.0'><channel><title>t</title>{items}</channel></rss>".encode()
    hosts.file(f"{NEWS}/feed.xml", feed, "application/rss+xml")
    world.take("typical")
    world.crawl()
    assert world.asked(OTHER) == set(), "no host of the collection"
    assert world.asked("docs.example.com") == set(), "redirects to other hosts are not followed"
    refused = {"/calendar/1", "/a.png", "/in-a-comment", "/embedded", "/3"}
    assert world.asked(WWW) & refused == set()
    assert {"/1", "/2", "/within", "/found", "/missing", "/data", "/text"} <= world.asked(WWW)
    assert world.asked(NEWS) == {"/feed.xml", "/deep"}, "what a feed names, and nothing behind it"
    assert world.gap() == 10
    counts = world.hosts.counts()
    assert (counts["/missing"], counts["/broken"], counts["/late"]) == (1, 4, 1)
    kept = {"/", "/1", "/2", "/found", "/text"}
    assert set(world.sources()) == {f"{WWW}{path}" for path in kept} | {f"{NEWS}/deep"}
    cookies = {one.path: one.header("Cookie") for one in hosts.pages() if one.header("Host") == WWW}
    assert cookies["/1"] == "id=1"
    (row,) = world.workspace.command("admin", "list", "--json", "-c", FILE).lines
    assert row["info"].split() == ["Pages", "of", "all", "offices", "and", "their", "manuals"]


def typical_home() -> bytes:
    paths = (
        "/1",
        "/moved",
        "/within",
        "/missing",
        "/broken",
        "/late",
        "/long",
        "/data",
        "/text",
        "/calendar/1",
    )
    page = Html("home", (*paths, "/a.png", f"https://{OTHER}/"), "needle home").render()
    return page.replace(b"</body>", b'<!-- <a href="/in-a-comment">x</a> --><embed src="/embedded"></body>')


@pytest.mark.parametrize(("hour", "gap", "begins"), [(6, 60, 6), (9, 90, 9), (15, 60, 16)])
def test_variable_delay_the_span_decides(world: World, hour: int, gap: int, begins: int) -> None:
    begun: list[float] = []
    home = Html("home", ("/1", "/2")).render()

    def answer(_: Request) -> Reply:
        begun.append(wall_time())
        return Reply(200, (HTML,), home)

    world.hosts.put(f"{WWW}/", answer)
    world.take("simple")
    world.add("variable_delay")
    world.crawl(monday(hour))
    assert world.gap() == gap
    assert time.gmtime(begun[0]).tm_hour == begins


def test_login_the_form_is_sent_once_and_its_cookie_opens_the_site(world: World) -> None:
    sent: list[dict[str, list[str]]] = []

    def form(request: Request) -> Reply:
        assert "hello=1" in (request.header("Cookie") or "")
        hidden = b"<input type=hidden name=token value=t1>"
        return Reply(
            200,
            (HTML,),
            b"<form method=post>" + hidden + b"<input name=account><input type=password name=secret></form>",
        )

    def enter(request: Request) -> Reply:
        sent.append(parse_qs(request.body.decode()))
        return Reply(200, (HTML, ("Set-Cookie", "s=1; Domain=example.com; Path=/; Secure")), b"in")

    def inside(request: Request) -> Reply:
        known = "s=1" in (request.header("Cookie") or "")
        return Reply(200 if known else 403, (HTML,), b"<title>in</title>needle")

    cookie = ("Set-Cookie", "hello=1; Path=/; Secure")
    world.hosts.put("login.example.com/hello", Reply(200, (HTML, cookie), b"hello"))
    world.hosts.put("login.example.com/session", form)
    world.hosts.put("login.example.com/session/new", enter)
    world.hosts.put(f"{WWW}/1", inside)
    world.take("simple")
    world.add("login")
    world.crawl()
    assert sent == [{"account": ["robot"], "secret": ["s3cret"], "token": ["t1"]}]
    assert f"{WWW}/1" in world.sources()


@pytest.mark.parametrize(("name", "gap"), [("", 30), ("crawler_b", 90), ("crawler_c", 30)])
def test_node_its_options_count_on_the_machine_of_its_name(world: World, name: str, gap: int) -> None:
    world.take("simple")
    world.add("node")
    world.crawl(ULTRACRAWL_NODE=name or "none")
    assert world.gap() == gap


def test_part_of_uris_it_has_its_own_pages_and_interval(world: World) -> None:
    world.take("part_of_uris")
    world.crawl()
    world.crawl()
    found = world.sources()
    assert {place for place, source in found.items() if source == "offices.front_page"} == {
        f"{WWW}/news/",
        f"{WWW}/news/1",
    }
    assert found[f"{WWW}/"] == found[f"{WWW}/4"] == found[f"{NEWS}/deeper"] == "offices"
    assert not any(place.startswith(OTHER) for place in found)


@pytest.mark.parametrize("name", ["part_alone", "section_alone"])
def test_a_part_with_the_only_start_uri_which_is_that_of_its_collection(world: World, name: str) -> None:
    """It lies outside of the part, and its scheme counts where it goes."""
    world.take(name)
    world.crawl()
    found = world.sources()
    assert {place for place, source in found.items() if source == "offices.front_page"} == {
        f"{WWW}/news/",
        f"{WWW}/news/1",
    }
    assert {place for place, source in found.items() if source == "offices"} >= {f"{WWW}/", f"{WWW}/1"}
    known = world.workspace.command("urls", "--json", "-c", FILE).lines
    assert {url.partition(":")[0] for url in (row["url"] for row in known)} == {"https"}
    told = world.workspace.command("lint", FILE)
    assert told.code == 0
    assert ("N-SCHEME" in told.out, "N-MEMBER" in told.out) == (True, False)


def test_part_of_hosts_it_has_its_own_delay_and_depth(world: World) -> None:
    world.take("part_of_hosts")
    world.crawl()
    found = world.sources()
    press = {place for place, source in found.items() if source == "offices.press"}
    assert press == {f"{NEWS}/", f"{NEWS}/deep"}, "one hop"
    assert world.gap(NEWS) == 5
    assert world.gap(WWW) == 60


def test_whole_the_collection_and_its_part_have_what_each_begins_at(world: World) -> None:
    """No FTP server answers; the rest of the file is crawled all the same."""
    hosts, sent = world.hosts, list[dict[str, list[str]]]()
    hosts.links(
        "handbook.example.com/", "/a", "/calendar/2024", f"https://{NEWS}/", "https://members.example.com/"
    )
    items = f"<item><link>https://{NEWS}/deep</link></item>"
    feed = f"<rss version='2.0'><channel><title>t</title>{items}</channel></rss>".encode()
    hosts.file(f"{NEWS}/feed.xml", feed, "application/rss+xml")

    def enter(request: Request) -> Reply:
        sent.append(parse_qs(request.body.decode()))
        return Reply(200, (HTML, ("Set-Cookie", "s=1; Domain=example.com; Path=/; Secure")), b"in")

    hosts.put("login.example.com/session", enter)
    world.take("whole")
    world.crawl()
    found = world.sources()
    assert {place: source for place, source in found.items() if "login" not in place} == {
        "handbook.example.com/": "handbook",
        "handbook.example.com/a": "handbook",
        "members.example.com/": "handbook",
        f"{NEWS}/": "handbook.news",
        f"{NEWS}/deep": "handbook.news",
        f"{NEWS}/deeper": "handbook.news",
    }
    assert "handbook.example.com/calendar/2024" not in world.asked()
    assert sent == [{"user": ["robot"], "pass": ["s3cret"]}] * len(sent)
    assert sent
