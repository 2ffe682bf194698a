"""How long sessions last and who shares them: cookies and logins of sources in YAML and in the XML of FAST."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from support.certificates import Authority
from support.fast import fast_xml
from support.network import NetworkSite
from support.project import ANY_PORT, LOOPBACK, Workspace
from support.proxy import Proxy
from support.resource import Reply
from support.sentences import sentence
from support.server import Request
from support.site import Site
from support.tls_site import secured
from support.written import LANGUAGES, Written, section_of

HTML = (("Content-Type", "text/html"),)


@pytest.fixture(params=LANGUAGES)
def source(request: pytest.FixtureRequest, workspace: Workspace) -> Written:
    return Written(workspace, request.param)


def cookies(site: Site) -> dict[str, str]:
    """Return the cookies of the last request for each path."""
    return {one.path: one.header("Cookie") or "" for one in site.requests}


# ---- cookies


@pytest.mark.parametrize(
    ("seconds", "lasts"),
    [pytest.param(2, False, id="fast_57-2"), pytest.param(300, True, id="fast_57-default")],
)
def test_a_session_cookie_is_forgotten(
    site: Site, url: str, source: Written, seconds: int, lasts: bool
) -> None:
    pages = [f"/{number}" for number in range(6)]
    site.page("/", title="Home", links=pages, headers={"Set-Cookie": "door=open"})
    for page in pages:
        site.page(page, title=page)
    source.define(
        f"{url}/",
        {
            "cookies": {"enabled": True, "session_age": seconds},
            "politeness": {"delay": 0.7, "concurrency": 1},
            "sitemaps": {"discover": False},
        },
        {"use_cookies": True, "cookie_timeout": seconds, "delay": 0.7, "max_pending": 1},
    )
    source.crawl()
    asked = [one for one in site.requests if one.path in pages]
    assert asked[0].header("Cookie") == "door=open"
    assert (asked[-1].header("Cookie") == "door=open") is lasts


SHARED: dict[str, tuple[Mapping[str, Any], Mapping[str, Any], str]] = {
    "own": ({}, {}, ""),
    "domain": ({"domain_clustering": True}, {"domain_clustering": True}, ""),
    "cluster": (
        {"clusters": {"family": ["a.shop.test", "b.shop.test"]}},
        {},
        '<section name="site_clusters"><attrib name="family" type="list-string">'
        "<member>a.shop.test</member><member>b.shop.test</member></attrib></section>",
    ),
}


@pytest.mark.parametrize(
    ("way", "shared"),
    [
        pytest.param("own", False, id="fast_19-no"),
        pytest.param("domain", True, id="fast_19-yes"),
        pytest.param("cluster", True, id="fast_199"),
    ],
)
@pytest.mark.servers  # much time
def test_hosts_that_share_their_cookies(source: Written, way: str, shared: bool) -> None:
    first, second = Site(), Site()
    cookie = {"Set-Cookie": "basket=1; Domain=shop.test; Path=/"}
    first.page("/", title="A", links=["/again", "http://b.shop.test/x"], headers=cookie)
    first.page("/again", title="Again")
    second.page("/x", title="X")
    yaml, xml, inside = SHARED[way]
    with first.serve() as one, second.serve() as two:
        ports = {"a.shop.test": int(one.rpartition(":")[2]), "b.shop.test": int(two.rpartition(":")[2])}
        with Proxy(ports) as proxy:
            source.define(
                "http://a.shop.test/",
                {
                    "cookies": {"enabled": True},
                    "sites": yaml,
                    "proxy": {"servers": {"p": {"url": proxy.url}}},
                    "boundary": {"domains": {"include": ["a.shop.test", "b.shop.test"]}},
                },
                {
                    **xml,
                    "use_cookies": True,
                    "proxy": (proxy.url,),
                    "include_domains/exact": ("a.shop.test", "b.shop.test"),
                },
                inside=inside,
            )
            source.crawl()
    assert cookies(first)["/again"] == "basket=1"
    assert cookies(second)["/x"] == ("basket=1" if shared else "")


# ---- logins


class Club(NetworkSite):
    """Members only; the first `closed` attempts to log in are refused."""

    def __init__(self, closed: int) -> None:
        super().__init__()
        self.closed = closed
        self.attempts = 0
        self.pages = [f"/in/{number}" for number in range(6)]
        self.dynamic("/enter", self.enter)
        self.dynamic("/in/*", self.inside)

    def enter(self, request: Request) -> Reply:
        self.attempts += 1
        if self.attempts <= self.closed:
            return Reply(403)
        return Reply(200, (*HTML, ("Set-Cookie", "session=ok; Path=/")), b"welcome")

    def inside(self, request: Request) -> Reply:
        known = "session=ok" in (request.header("Cookie") or "")
        return Reply(200 if known else 403, HTML, f"<title>{request.path}</title>needle".encode())


def login_xml(options: Mapping[str, str], flags: Mapping[str, bool], *, ttl: int = 0) -> str:
    own = "".join(f'<attrib name="{name}" type="string">{value}</attrib>' for name, value in options.items())
    own += "".join(
        f'<attrib name="{name}" type="boolean">{"yes" if value else "no"}</attrib>'
        for name, value in flags.items()
    )
    own += f'<attrib name="ttl" type="integer">{ttl}</attrib>' if ttl else ""
    sites = '<attrib name="sites" type="list-string"><member>127.0.0.1</member></attrib>'
    return f'<Login name="club">{own}{sites}{section_of("parameters", {"user": "robot"})}</Login>'


@pytest.mark.parametrize(
    ("again", "closed", "attempts", "found"),
    [(True, 1, 2, 6), (False, 1, 1, 0), (True, 99, 3, 0)],
    ids=["fast_220-fast_223-yes", "fast_220-fast_223-no", "fast_223-never let in"],
)
def test_another_try_after_a_login_that_failed(
    source: Written, again: bool, closed: int, attempts: int, found: int
) -> None:
    """Pages whose turn comes in between wait for it; after three failures in a row nothing waits any more."""
    club = Club(closed)
    with club.serve() as url:
        pages = tuple(f"{url}{page}" for page in club.pages)
        entry = {"action": f"{url}/enter", "fields": {"user": "robot"}, "ttl": "60 s"}
        options = {"site": url.split("/")[2], "form": "/enter"}
        source.define(
            f"{url}/in/0",
            {
                "start_urls": pages,
                "logins": {"club": {**entry, "relogin_if_failed": again, "sites": ["127.0.0.1"]}},
                "politeness": {"delay": 0.4, "concurrency": 2},
                "sitemaps": {"discover": False},
            },
            {"start_uris": pages, "delay": 0.4, "max_pending": 2},
            inside=login_xml(options, {"relogin_if_failed": again}, ttl=60),
        )
        run = source.crawl(code=1)
    assert run["problems"] == [sentence("logins.club_status_403")]
    statuses = [source.statuses()[page] for page in club.pages]
    assert (statuses.count(200), statuses.count(959)) == (found, 6 - found)
    assert club.attempts == attempts


class Shaky(Club):
    """A club whose pages fail when they are asked for the first time."""

    def __init__(self) -> None:
        super().__init__(closed=1)
        self.asked: set[str] = set()

    def inside(self, request: Request) -> Reply:
        if request.path not in self.asked:
            self.asked.add(request.path)
            return Reply(503)
        return super().inside(request)


def test_fast_223_a_page_that_waited_for_a_login_has_all_its_attempts(workspace: Workspace) -> None:
    club = Shaky()
    with club.serve() as url:
        pages = tuple(f"{url}{page}" for page in club.pages[:2])
        inside = login_xml({"site": url.split("/")[2], "form": "/enter"}, {"relogin_if_failed": True}, ttl=60)
        options = {
            "start_uris": pages,
            "delay": 0.4,
            "max_pending": 2,
            "http_errors/5xx": "DELETE:9, RETRY:1",
        }
        (workspace.directory / "c.xml").write_text(fast_xml(options, inside=inside))
        workspace.crawl("-c", "c.xml", code=None)
    assert len(workspace.command("search", "-c", "c.xml", "needle", "--json").json["hits"]) == 2


@pytest.mark.parametrize("ttl", [1, 0], ids=["fast_220-1", "fast_220-none"])
def test_a_login_is_renewed_by_its_age(source: Written, ttl: int) -> None:
    club = Club(closed=0)
    with club.serve() as url:
        pages = tuple(f"{url}{page}" for page in club.pages)
        entry = {"action": f"{url}/enter", "fields": {"user": "robot"}, **({"ttl": "1 s"} if ttl else {})}
        source.define(
            f"{url}/in/0",
            {
                "start_urls": pages,
                "logins": {"club": entry},
                "politeness": {"delay": 0.4, "concurrency": 1},
                "sitemaps": {"discover": False},
            },
            {"start_uris": pages, "delay": 0.4, "max_pending": 1},
            inside=login_xml({"site": url.split("/")[2], "form": "/enter"}, {}, ttl=ttl),
        )
        source.crawl()
    assert source.search("needle") == club.pages
    assert club.attempts >= 2 if ttl else club.attempts == 1


SESSIONS = "location = /enter { add_header Set-Cookie 'session=ok; Path=/; Secure' always; return 200 in; }"
INSIDE = 'if ($cookie_session != ok) { return 403; } return 200 "needle";'


@pytest.mark.servers
@pytest.mark.parametrize(
    "scheme", ["https", "http", ""], ids=["fast_215-https", "fast_215-http", "fast_215-none"]
)
def test_the_scheme_of_a_form(source: Written, scheme: str) -> None:
    """The form is there by TLS alone; asked in clear at that port, nginx answers 400."""
    folder = source.workspace.directory
    authority = Authority(folder)
    with secured(folder, authority, INSIDE, server=SESSIONS) as (_, address):
        site = address.removeprefix("https://")
        action = f"{scheme or 'http'}://{site}/enter"
        options = {"site": site, "form": "/enter", **({"scheme": scheme} if scheme else {})}
        source.define(
            f"{address}/page",
            {"types": ["text/plain"], "logins": {"club": {"action": action, "fields": {"user": "robot"}}}},
            {"allowed_schemes": ("https",)},
            inside=login_xml(options, {}),
        )
        source.crawl(code=None, SSL_CERT_FILE=str(authority.file))
    assert source.search("needle") == (["/page"] if scheme == "https" else [])
    assert source.statuses()["/page"] == (200 if scheme == "https" else 959)


@pytest.mark.processes
@pytest.mark.parametrize("across", [False, True])
def test_another_port_of_a_host_gets_its_cookies_on_request_only(workspace: Workspace, across: bool) -> None:
    first, second = Site(), Site()
    with first.serve() as one, second.serve() as two:
        first.page("/", title="A", links=["/again", f"{two}/x"], headers={"Set-Cookie": "basket=1; Path=/"})
        first.page("/again", title="Again")
        second.page("/x", title="X")
        options = {"boundary": {**LOOPBACK, "ports": ANY_PORT}, "politeness": {"delay": 0}}
        workspace.define(f"{one}/", **options, cookies={"enabled": True, "across_ports": across})
        workspace.crawl()
    assert cookies(first)["/again"] == "basket=1"
    sent = "basket=1" if across else ""
    assert [cookies(second)[path] for path in ("/robots.txt", "/x")] == [sent, sent]
