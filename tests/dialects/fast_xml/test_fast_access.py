"""FAST collections with logins, passwords, cookies, feeds and payloads in real crawls."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from support.fast import fast_xml
from support.ftp import FtpSite
from support.project import Ended, Workspace
from support.resource import Reply
from support.server import Request
from support.site import Site

from ultracrawl.rules.access.cipher import PasswordCipher, new_key

QUICK = {"delay": 0.0, "max_pending": 4}
HTML = (("Content-Type", "text/html"),)


def crawl(workspace: Workspace, url: str, options: dict[str, Any] | None = None, inside: str = "") -> Ended:
    given = {**QUICK, "start_uris": (f"{url}/",), **(options or {})}
    (workspace.directory / "collection.xml").write_text(fast_xml(given, inside=inside))
    ended = workspace.command("crawl", "--json", "-c", "collection.xml")
    assert ended.code == 0, ended.err
    return ended


def found(workspace: Workspace) -> list[str]:
    hits = workspace.command(
        "search", "--json", "--as-typed", "--limit", "99", "-c", "collection.xml", "needle"
    ).json["hits"]
    return sorted("/" + hit["url"].split("/", 3)[3] for hit in hits)


def guarded(site: Site, path: str, accepts: Any) -> None:
    """Put a page at `path` that answers 403 unless `accepts` likes the request."""

    def answer(request: Request) -> Reply:
        body = f"<title>{path}</title>needle".encode() if accepts(request) else b"no"
        return Reply(200 if accepts(request) else 403, HTML, body)

    site.dynamic(path, answer)


@pytest.fixture
def home(site: Site) -> Site:
    site.page("/", title="Home", text="home", links=["/a", "/b"])
    return site


def test_fast_177_a_password_for_a_part_of_the_site(home: Site, url: str, workspace: Workspace) -> None:
    token = "Basic " + base64.b64encode(b"robot:s3:cret").decode()
    guarded(home, "/a", lambda request: request.header("Authorization") == token)
    guarded(home, "/b", lambda request: not request.header("Authorization"))
    section = f'<section name="passwd"><attrib name="{url}/a" type="string">robot:s3:cret</attrib></section>'
    ended = crawl(workspace, url, inside=section)
    assert found(workspace) == ["/a", "/b"]
    assert "s3:cret" not in ended.err + ended.out
    assert "N-SECRET" in ended.err


def test_fast_177_an_encrypted_password(home: Site, url: str, workspace: Workspace) -> None:
    token = "Basic " + base64.b64encode(b"robot:s3cret").decode()
    guarded(home, "/a", lambda request: request.header("Authorization") == token)
    (workspace.directory / "password.key").write_text(key := new_key())
    password = PasswordCipher.of_text(key).encrypt("s3cret")
    section = (
        f'<section name="passwd"><attrib name="{url}/a" type="string">robot:{password}</attrib></section>'
    )
    ended = crawl(workspace, url, inside=section)
    assert found(workspace) == ["/a"]
    assert "N-SECRET" not in ended.err


def test_fast_24_headers_of_every_request(home: Site, url: str, workspace: Workspace) -> None:
    guarded(home, "/a", lambda request: request.header("Accept-Language") == "de")
    crawl(workspace, url, {"headers": ("Accept-Language: de", "User-Agent: Bot/1")})
    assert found(workspace) == ["/a"]


@pytest.mark.parametrize("on", [True, False], ids=["fast_56-yes", "fast_56-no"])
def test_cookies(home: Site, url: str, workspace: Workspace, on: bool) -> None:
    home.page("/", title="Home", links=["/a"], headers={"Set-Cookie": "seen=1; Path=/"})
    guarded(home, "/a", lambda request: "seen=1" in request.header("Cookie"))
    crawl(workspace, url, {"use_cookies": on})
    assert found(workspace) == (["/a"] if on else [])


@pytest.mark.parametrize("on", [True, False], ids=["fast_22-yes", "fast_22-no"])
def test_compression(home: Site, url: str, workspace: Workspace, on: bool) -> None:
    guarded(home, "/a", lambda request: ("gzip" in request.header("Accept-Encoding")) is on)
    crawl(workspace, url, {"accept_compression": on})
    assert found(workspace) == ["/a"]


def login(url: str) -> str:
    host = url.split("/")[2]
    options = {"site": host, "form": "/session", "html_form": f"{url}/login"}
    own = "".join(f'<attrib name="{name}" type="string">{value}</attrib>' for name, value in options.items())
    sites = f'<attrib name="sites" type="list-string"><member>{host.partition(":")[0]}</member></attrib>'
    fill = '<attrib name="autofill" type="boolean">yes</attrib>'
    fields = '<attrib name="user" type="string">robot</attrib><attrib name="pw" type="string">s3cret</attrib>'
    return f'<Login name="members">{own}{sites}{fill}<section name="parameters">{fields}</section></Login>'


def test_fast_214_224_a_form_login_goes_ahead(home: Site, url: str, workspace: Workspace) -> None:
    form = "<form action=/session method=post><input type=hidden name=token value=t1><input name=user>"
    home.respond(
        "/login", headers={"Content-Type": "text/html"}, body=f"{form}<input type=password name=pw></form>"
    )
    sent: list[bytes] = []

    def session(request: Request) -> Reply:
        sent.append(request.body)
        return Reply(200, (*HTML, ("Set-Cookie", "session=ok; Path=/")), b"welcome")

    home.dynamic("/session", session)
    guarded(home, "/a", lambda request: "session=ok" in request.header("Cookie"))
    crawl(workspace, url, inside=login(url))
    assert sent == [b"token=t1&user=robot&pw=s3cret"]
    assert found(workspace) == ["/a"]


def test_fast_204_a_payload(home: Site, url: str, workspace: Workspace) -> None:
    guarded(home, "/a", lambda request: request.method == "POST" and request.body == b"q=all&page=1")
    inside = '<section name="post_payload">'
    inside += f'<attrib name="{url}/a" type="string"> q=all&amp;page=1 </attrib></section>'
    crawl(workspace, url, inside=inside)
    assert found(workspace) == ["/a"]


def test_fast_205_a_feed_is_a_beginning(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/n1", title="N", text="needle", links=["/deep"])
    site.page("/deep", title="D", text="needle")
    entry = f"<item><title>n</title><link>{url}/n1</link></item>"
    feed = f"<rss version='2.0'><channel><title>t</title>{entry}</channel></rss>"
    site.file("/feed.xml", feed.encode(), "application/rss+xml")
    crawl(
        workspace, url, {"start_uris": (), "rss/start_uris": (f"{url}/feed.xml",), "rss/follow_links": False}
    )
    assert found(workspace) == ["/n1"]


def test_fast_178_an_account_of_an_ftp_server(workspace: Workspace) -> None:
    root = workspace.directory / "served"
    root.mkdir()
    ftp = FtpSite(root)
    ftp.put("a.txt", "needle of ftp")
    ftp.users["mirror"] = ("s3:cret", root)
    with ftp.serve() as url:
        options = {
            "start_uris": (f"{url}/",),
            "allowed_schemes": ("ftp",),
            "ftp_acct/127.0.0.1": "mirror:s3:cret",
        }
        crawl(workspace, url, options)
    assert found(workspace) == ["/a.txt"]
    assert set(ftp.got("USER")) == {"mirror"}
