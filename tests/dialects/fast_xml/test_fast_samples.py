"""Whole configurations of FAST collections, on sites with everything that they name.

Hosts are addresses of this machine with the same ending, so that a suffix of host names has its meaning; `networks.txt`
opens them. Members have the host of their login, because addresses share no cookies. The delay is a tenth of what the
sample has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.ftp import FtpSite
from support.project import Workspace
from support.resource import Reply
from support.server import Request
from support.site import Site

pytestmark = pytest.mark.servers  # much time

SIMPLE = """<?xml version="1.0"?>
<CrawlerConfig>
  <DomainSpecification name="default_example">
    <attrib name="start_uris" type="list-string">
      <member> HANDBOOK/ </member>
    </attrib>
    <attrib name="delay" type="real"> 0 </attrib>
    <section name="include_domains">
      <attrib name="exact" type="list-string">
        <member> HANDBOOK-HOST </member>
      </attrib>
    </section>
  </DomainSpecification>
</CrawlerConfig>
"""

COMPLETE = """<?xml version="1.0" encoding="utf-8"?>
<CrawlerConfig>
    <!-- one collection -->
    <DomainSpecification name="handbook">
        <attrib name="info" type="string"> Handbook and news </attrib>
        <attrib name="start_uris" type="list-string">
            <member> HANDBOOK/ </member>
            <member> FTP/ </member>
        </attrib>
        <attrib name="allowed_schemes" type="list-string">
            <member> http </member>
            <member> ftp </member>
        </attrib>
        <attrib name="delay" type="real"> 0.2 </attrib>
        <attrib name="refresh" type="real"> 1440.0 </attrib>
        <attrib name="refresh_mode" type="string"> adaptive </attrib>
        <attrib name="use_sitemaps" type="boolean"> yes </attrib>
        <section name="include_domains">
            <attrib name="suffix" type="list-string">
                <member> .0.1 </member>
            </attrib>
        </section>
        <section name="exclude_uris">
            <attrib name="regexp" type="list-string">
                <member> .*/calendar/.* </member>
            </attrib>
        </section>
        <section name="crawlmode">
            <attrib name="mode" type="string"> DEPTH:4 </attrib>
            <attrib name="fwdredirects" type="boolean"> yes </attrib>
        </section>
        <section name="http_errors">
            <attrib name="4xx" type="string"> DELETE:2 </attrib>
        </section>
        <section name="adaptive">
            <attrib name="refresh_count" type="integer"> 6 </attrib>
            <section name="weights">
                <attrib name="change_history" type="real"> 5.0 </attrib>
            </section>
        </section>
        <section name="feeding">
            <section name="main">
                <attrib name="collection" type="string"> handbook_index </attrib>
                <attrib name="destination" type="string"> default </attrib>
            </section>
        </section>
        <Login name="members">
            <attrib name="scheme" type="string"> http </attrib>
            <attrib name="site" type="string"> LOGIN-SITE </attrib>
            <attrib name="form" type="string"> /session </attrib>
            <attrib name="action" type="string"> POST </attrib>
            <attrib name="sites" type="list-string">
                <member> MEMBERS-HOST </member>
            </attrib>
            <section name="parameters">
                <attrib name="user" type="string"> robot </attrib>
                <attrib name="pass" type="string"> s3cret </attrib>
            </section>
        </Login>
        <SubDomain name="news">
            <section name="include_domains">
                <attrib name="exact" type="list-string">
                    <member> NEWS-HOST </member>
                </attrib>
            </section>
            <attrib name="refresh" type="real"> 60.0 </attrib>
            <section name="rss">
                <attrib name="start_uris" type="list-string">
                    <member> NEWS/feed.xml </member>
                </attrib>
            </section>
        </SubDomain>
        <Node name="crawler_b">
            <attrib name="max_sites" type="integer"> 8 </attrib>
        </Node>
    </DomainSpecification>
</CrawlerConfig>
"""

HOSTS = {
    "HANDBOOK": "127.1.0.1",
    "LOGIN": "127.3.0.1",
    "MEMBERS": "127.3.0.1",
    "NEWS": "127.5.0.1",
    "DEEP": "127.6.0.1",
    "TROUBLE": "127.7.0.1",
    "FOREIGN": "127.9.9.9",
}
TYPICAL: dict[str, Any] = {
    "info": "A sample\nof two lines",
    "fetch_timeout": 4,
    "max_backoff_delay": 1,
    "allowed_types": ("text/html", "text/plain"),
    "allowed_schemes": ("http", "ftp"),
    "force_mimetype_detection": True,
    "cut_off": 5000000,
    "truncate": False,
    "exclude_exts": (".png", ".jpg, .gif"),
    "use_cookies": True,
    "cookie_timeout": 900,
    "http_errors/4xx": "DELETE:0",
    "http_errors/5xx": "DELETE:10, RETRY:3",
    "http_errors/408": "KEEP",
    "crawlmode/mode": "DEPTH:2",
    "crawlmode/fwdredirects": False,
    "crawlmode/reset_level": False,
    "link_extraction/comment": False,
    "link_extraction/embed": False,
    "rss/follow_links": False,
    "max_reflinks": 0,
    "login_failed_ignore": False,
    "wqfilter": True,
    "cachesize/duplicates": 128,
    "cachesize/crosslinks": None,
    "log/fetch": "text",
    "log/screened": "text",
    "storage/compress": True,
    "pp/max_dupes": 10,
    "refresh": 1440.0,
    "refresh_mode": "scratch",
}


@dataclass
class World:
    """All hosts of a sample: one server for the web, by host and path, and one for FTP."""

    workspace: Workspace
    site: Site
    ftp: FtpSite
    port: str
    ftp_url: str

    def url(self, host: str, path: str = "/") -> str:
        return f"http://{HOSTS[host]}:{self.port}{path}"

    def filled(self, text: str) -> str:
        """Return a sample with the hosts in place of their names."""
        for name, address in HOSTS.items():
            text = text.replace(f"{name}-HOST", address).replace(f"{name}-SITE", f"{address}:{self.port}")
            text = text.replace(f"{name}/", f"http://{address}:{self.port}/")
        return text.replace("FTP/", f"{self.ftp_url}/")

    def crawl(self, text: str, code: int = 0) -> str:
        """Crawl a sample; returns what was said about it."""
        (self.workspace.directory / "collection.xml").write_text(self.filled(text))
        ended = self.workspace.command("crawl", "--json", "-c", "collection.xml")
        assert ended.code == code, ended.err
        return ended.err

    def asked(self) -> set[str]:
        """Return what was asked for, by host and path, robots.txt and sitemaps apart."""
        names = {address: name for name, address in HOSTS.items()}
        found = {(urlsplit(f"//{one.header('Host')}").hostname or "", one.path) for one in self.site.requests}
        return {f"{names[host]}{path}" for host, path in found if path not in ("/robots.txt", "/sitemap.xml")}

    def downloads(self, source: str) -> dict[str, str]:
        """Return what became of each URL of a source, by host and path."""
        names = {address: name for name, address in HOSTS.items()}
        lines = (self.workspace.directory / f"var/log/{source}.fetch.log").read_text().splitlines()
        found = {}
        for _, _, _, _, _, _, url, became in (line.split("\t") for line in lines):
            parts = urlsplit(url)
            if became != "sitemap":
                name = "FTP" if parts.scheme == "ftp" else names.get(parts.hostname or "", "?")
                found[f"{name}{parts.path}"] = became
        return found


def build(site: Site, world: World) -> None:
    """Put the pages of all hosts on the site; the paths of the hosts differ."""
    url = world.url
    links = ["/old", "/away", "/calendar/2024/1", "/pic.png", url("FOREIGN", "/x"), url("DEEP", "/1")]
    links += [url("TROUBLE", path) for path in ("/gone", "/broken", "/slow", "/cut", "/cookie")]
    links += [url("MEMBERS", "/inside"), url("NEWS", "/n1")]
    site.page("/", title="Home", text="needle", links=links)
    site.redirect("/old", "/new")
    site.page("/new", title="New", text="needle new")
    site.redirect("/away", url("DEEP", "/redirected"))
    site.page("/redirected", title="Redirected", text="needle redirected")
    site.file("/pic.png", b"\x89PNG\r\n", "image/png")
    for number in range(1, 7):
        site.page(f"/{number}", title=str(number), text=f"needle {number}", links=[f"/{number + 1}"])
    site.gone("/gone")
    site.respond("/broken", status=503)
    site.slow("/slow", 8, text="needle slow")
    site.raw("/cut", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 500\r\n\r\n<html>")
    site.page(
        "/cookie",
        title="Cookie",
        text="needle cookie",
        headers={"Set-Cookie": "id=1; Path=/"},
        links=["/cookie/2"],
    )
    site.dynamic(
        "/cookie/2",
        lambda request: page("cookie" if "id=1" in (request.header("Cookie") or "") else "without"),
    )
    site.dynamic("/session", session)
    site.dynamic(
        "/inside", lambda request: page("inside", 200 if "s=ok" in (request.header("Cookie") or "") else 403)
    )
    entry = f"<item><title>n</title><link>{url('NEWS', '/n2')}</link></item>"
    site.file(
        "/feed.xml",
        f"<rss version='2.0'><channel><title>t</title>{entry}</channel></rss>".encode(),
        "application/rss+xml",
    )
    site.page("/n1", title="n1", text="needle n1")
    site.page("/n2", title="n2", text="needle n2", links=["/n3"])
    site.page("/n3", title="n3", text="needle n3")
    site.robots("")
    site.dynamic("/sitemap.xml", sitemap)
    site.page("/only-in-the-sitemap", title="Sitemap", text="needle sitemap")


def page(text: str, status: int = 200) -> Reply:
    return Reply(status, (("Content-Type", "text/html"),), f"<title>{text}</title>needle {text}".encode())


def session(request: Request) -> Reply:
    """Let in who brings user and password."""
    if request.method == "POST" and request.body == b"user=robot&pass=s3cret":
        return Reply(200, (("Content-Type", "text/html"), ("Set-Cookie", "s=ok; Path=/")), b"in")
    return Reply(403, (), b"")


def sitemap(request: Request) -> Reply:
    host = request.header("Host") or ""
    if not host.startswith(HOSTS["HANDBOOK"]):
        return Reply(404, (), b"")
    body = f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://{host}/only-in-the-sitemap</loc></url></urlset>"
    return Reply(200, (("Content-Type", "application/xml"),), body.encode())


@pytest.fixture
def world(workspace: Workspace) -> Iterator[World]:
    site, ftp = Site(), FtpSite(workspace.directory / "served")
    ftp.put("a.txt", "needle of ftp")
    (workspace.directory / "networks.txt").write_text("127.0.0.0/8\n")
    with site.serve(host="0.0.0.0") as address, ftp.serve(host="127.2.0.1") as ftp_url:
        made = World(workspace, site, ftp, str(urlsplit(address).port), ftp_url)
        build(site, made)
        yield made


def test_fast_simple_sample(world: World) -> None:
    """A starting point and a host: everything of that host, and nothing else."""
    world.crawl(SIMPLE)
    assert world.asked() == {
        f"HANDBOOK{path}" for path in ("/", "/old", "/new", "/away", "/calendar/2024/1", "/pic.png")
    }
    assert world.downloads("default_example") == {
        "HANDBOOK/": "new",
        "HANDBOOK/old": "redirect",
        "HANDBOOK/new": "new",
        "HANDBOOK/away": "discarded",
        "HANDBOOK/calendar/2024/1": "error",
        "HANDBOOK/pic.png": "discarded",
    }


def test_fast_complete_sample(world: World) -> None:
    """Logins, redirects, a feed, FTP, cookies, slow and failing pages, sitemaps, a sub-collection, a node."""
    said = world.crawl(COMPLETE)
    assert "N-CLUSTER" in said
    asked = world.asked()
    assert not [one for one in asked if one.startswith("FOREIGN")], "no host of the collection"
    assert "HANDBOOK/calendar/2024/1" not in asked
    assert {"DEEP/1", "DEEP/5"} <= asked, "a link to another host begins to count anew"
    assert "DEEP/6" not in asked, "five hops"
    got = world.downloads("handbook")
    assert got["HANDBOOK/old"] == got["HANDBOOK/away"] == "redirect"
    assert got["HANDBOOK/new"] == got["DEEP/redirected"] == "new"
    assert got["HANDBOOK/only-in-the-sitemap"] == "new"
    assert got["MEMBERS/inside"] == "new", "after the login"
    assert got["FTP/a.txt"] == "new"
    assert got["TROUBLE/slow"] == "new", "five minutes are allowed"
    assert got["TROUBLE/gone"] == got["TROUBLE/broken"] == got["TROUBLE/cut"] == "error"
    assert got["TROUBLE/cookie/2"] == "new"
    assert not any(name.startswith("NEWS") for name in got), "these belong to the sub-collection"
    news = world.downloads("handbook.news")
    assert {name: news[name] for name in ("NEWS/n1", "NEWS/n2", "NEWS/n3")} == dict.fromkeys(
        ("NEWS/n1", "NEWS/n2", "NEWS/n3"), "new"
    )
    logged_in = [one for one in world.site.requests if one.path == "/session"]
    assert len(logged_in) == 1
    cookies = {one.path: one.header("Cookie") for one in world.site.requests}
    assert cookies["/inside"] == "s=ok"
    assert cookies["/cookie/2"] is None, "cookies are for sites with a login only"
    home = sorted(
        one.time for one in world.site.requests if (one.header("Host") or "").startswith(HOSTS["HANDBOOK"])
    )
    assert home[-1] - home[0] > 0.19 * (len(home) - 1), "the delay is kept"
    for file in (world.workspace.directory / "var").rglob("*"):
        assert not file.is_file() or b"s3cret" not in file.read_bytes()


def test_fast_typical_sample(world: World) -> None:
    """Most sections at once; what is not said of other hosts is their default."""
    from support.fast import attrib, fast_xml

    login = {
        "scheme": "http",
        "site": f"{HOSTS['LOGIN']}:{world.port}",
        "form": "/session",
        "sites": (HOSTS["MEMBERS"],),
    }
    own = "".join(attrib(name, f"Login/{name}", value) for name, value in login.items())
    fields = attrib("user", "Login/parameters/user", "robot") + attrib(
        "pass", "Login/parameters/pass", "s3cret"
    )
    inside = f'<Login name="members">{own}<section name="parameters">{fields}</section></Login>'
    options = {
        **TYPICAL,
        "delay": 0.0,
        "start_uris": (world.url("HANDBOOK"), f"{world.ftp_url}/"),
        "rss/start_uris": (world.url("NEWS", "/feed.xml"),),
        "include_domains/suffix": (".0.1",),
        "exclude_uris/prefix": (world.url("HANDBOOK", "/calendar/"),),
    }
    world.crawl(fast_xml(options, inside=inside))
    got, asked = world.downloads("handbook"), world.asked()
    assert got["HANDBOOK/old"] == "redirect"
    assert got["HANDBOOK/away"] == "discarded", "redirects to other hosts are not followed"
    assert "DEEP/redirected" not in asked
    assert "HANDBOOK/pic.png" not in asked
    assert "HANDBOOK/calendar/2024/1" not in asked
    assert "DEEP/2" in asked, "two hops"
    assert "DEEP/3" not in asked, "three hops: another host does not begin anew"
    assert got["MEMBERS/inside"] == "new"
    assert got["FTP/a.txt"] == "new"
    assert got["TROUBLE/slow"] == got["TROUBLE/gone"] == got["TROUBLE/cut"] == "error"
    counts = world.site.counts()
    assert (counts["/gone"], counts["/broken"], counts["/slow"], counts["/cut"]) == (1, 4, 1, 2)
    cookies = {one.path: one.header("Cookie") for one in world.site.requests}
    assert cookies["/cookie/2"] == "id=1"
    assert got["NEWS/n2"] == "new"
    assert "NEWS/n3" not in asked, "one hop from a feed"
    screened = world.workspace.command("screened", "--json", "-c", "collection.xml").lines
    excluded = {urlsplit(one["url"]).path for one in screened}
    assert {"/x", "/calendar/2024/1", "/pic.png", "/3"} <= excluded


def test_samples_are_read_without_a_mistake(world: World) -> None:
    for text in (SIMPLE, COMPLETE):
        file: Path = world.workspace.directory / "sample.xml"
        file.write_text(world.filled(text))
        linted = world.workspace.command("lint", "sample.xml")
        assert linted.code == 0
        assert " E-" not in linted.out
        told = {code for code in ("N-CLUSTER", "N-SECRET", "N-TUNING") if code in linted.out}
        assert told == (set() if text is SIMPLE else {"N-CLUSTER", "N-SECRET"})
