"""Cookies: which are taken, which are sent where, how long they live."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from scrapy import Request
from scrapy.http import Response
from support.clock import wall_time

from ultracrawl.run.auth.cookie_jars import MAX_COOKIE_LENGTH, MAX_COOKIES_PER_DOMAIN, CookieJars


class Web:
    """Servers that set cookies, and note which come back."""

    def __init__(
        self,
        group_of: Callable[[str], str | None] = lambda host: "all",
        age: float = 300,
        *,
        across_ports: bool = False,
    ) -> None:
        self.now = wall_time()
        self.jars = CookieJars(group_of, age, lambda: self.now, across_ports=across_ports)

    def get(self, url: str, *cookies: str) -> str:
        """Ask for a URL that sets cookies; returns the cookies that were sent."""
        seen = []

        async def answer(request: Request) -> Response:
            seen.append((request.headers.get("Cookie") or b"").decode("latin-1"))
            lines = [cookie.encode("latin-1") for cookie in cookies]
            return Response(request.url, headers={"Set-Cookie": lines} if lines else {})

        asyncio.run(self.jars.fetch(Request(url), answer))
        return seen[0]


@pytest.mark.parametrize(
    ("setter", "cookie", "url", "sent"),
    [
        pytest.param("http://a.example/", "a=1", "http://a.example/x", True, id="its-host"),
        pytest.param("http://a.example/", "a=1", "http://b.example/", False, id="P4-another-host"),
        pytest.param("http://a.example/", "a=1", "http://www.a.example/", False, id="P4-host-only"),
        pytest.param(
            "http://w.a.example/", "a=1; Domain=a.example", "http://b.a.example/", True, id="domain"
        ),
        pytest.param(
            "http://w.a.example/", "a=1; Domain=.a.example", "http://a.example/", True, id="leading-dot"
        ),
        pytest.param(
            "http://w.a.example/", "a=1; Domain=b.example", "http://b.example/", False, id="P4-foreign-domain"
        ),
        pytest.param(
            "http://w.a.co.uk/", "a=1; Domain=co.uk", "http://b.co.uk/", False, id="P4-public-suffix"
        ),
        pytest.param(
            "http://a.github.io/",
            "a=1; Domain=github.io",
            "http://b.github.io/",
            False,
            id="P4-private-suffix",
        ),
        pytest.param("http://w.a.com/", "a=1; Domain=com", "http://w.a.com/", False, id="P4-top-level"),
        pytest.param(
            "http://127.0.0.1/", "a=1; Domain=0.0.1", "http://126.0.0.1/", False, id="P4-part-of-an-address"
        ),
        pytest.param("http://127.0.0.1/", "a=1", "http://127.0.0.1:8080/", False, id="P4-port"),
        pytest.param("https://a.example/", "a=1; Secure", "http://a.example/", False, id="P4-secure"),
        pytest.param("https://a.example/", "a=1; Secure", "https://a.example/", True, id="secure-over-tls"),
        pytest.param("http://a.example/", "a=1; Path=/s", "http://a.example/s/x", True, id="path"),
        pytest.param(
            "http://a.example/", "a=1; Path=/s", "http://a.example/start", False, id="path-whole-steps"
        ),
        pytest.param("http://a.example/s/p", "a=1", "http://a.example/other", False, id="default-path"),
        pytest.param("http://a.example/", "a=1; Secure", "https://a.example/", False, id="secure-by-http"),
        pytest.param("https://a.example/", "__Secure-a=1", "https://a.example/", False, id="not-secure"),
        pytest.param(
            "https://a.example/", "__secure-a=1; Secure", "https://a.example/", True, id="is-secure"
        ),
        pytest.param("https://a.example/", "__Host-a=1; Path=/", "https://a.example/", False, id="not-host"),
        pytest.param(
            "http://a.example/", "__Host-a=1; Path=/; Secure", "https://a.example/", False, id="host-by-http"
        ),
        pytest.param(
            "https://a.example/", "__Host-a=1; Path=/s; Secure", "https://a.example/s", False, id="host-path"
        ),
        pytest.param(
            "https://a.example/",
            "__Host-a=1; Path=/; Secure; Domain=a.example",
            "https://a.example/",
            False,
            id="host-with-domain",
        ),
        pytest.param(
            "https://a.example/", "__Host-a=1; Path=/; Secure", "https://a.example/", True, id="is-host"
        ),
        pytest.param("http://a.example/", "a=gr\xfc\xdf", "http://a.example/", True, id="bytes-as-they-came"),
        pytest.param("http://a.example/", "a=1; Max-Age=0", "http://a.example/", False, id="deleted"),
        pytest.param("http://a.example/", "a=1; HttpOnly", "http://a.example/", True, id="http-only"),
        pytest.param("http://localhost/", "a=1", "http://localhost/", True, id="no-dot"),
        pytest.param(
            "http://a.example/", "a=" + "x" * MAX_COOKIE_LENGTH, "http://a.example/", False, id="too-large"
        ),
    ],
)
def test_ultra_search_12_3_where_cookies_go(setter: str, cookie: str, url: str, sent: bool) -> None:
    web = Web()
    web.get(setter, cookie)
    assert web.get(url) == (cookie.partition(";")[0] if sent else "")


@pytest.mark.parametrize(
    ("cookie", "seconds", "sent"),
    [
        pytest.param("a=1", 299, True, id="fast_57-session-young"),
        pytest.param("a=1", 301, False, id="fast_57-session-old"),
        pytest.param("a=1; Max-Age=1000", 999, True, id="fast_57-dated-ones-follow-their-date"),
    ],
)
def test_how_long_cookies_live(
    monkeypatch: pytest.MonkeyPatch, cookie: str, seconds: int, sent: bool
) -> None:
    web = Web()
    monkeypatch.setattr("time.time", lambda: web.now)
    web.get("http://a.example/", cookie)
    web.now += seconds
    assert bool(web.get("http://a.example/")) is sent


def test_fast_57_each_setting_starts_the_time_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    web = Web()
    monkeypatch.setattr("time.time", lambda: web.now)
    web.get("http://a.example/", "a=1")
    web.now += 200
    web.get("http://a.example/", "a=2")
    web.now += 200
    assert web.get("http://a.example/") == "a=2"


def test_groups_share_cookies_and_others_have_none() -> None:
    web = Web({"a.x.example": "one", "b.x.example": "one", "c.x.example": "two"}.get)
    for host in "abcd":
        web.get(f"http://{host}.x.example/", f"from={host}; Domain=x.example")
    assert [web.get(f"http://{host}.x.example/") for host in "abcd"] == ["from=b", "from=b", "from=c", ""]


def test_a_domain_has_so_many_cookies_at_most() -> None:
    web = Web()
    for number in range(MAX_COOKIES_PER_DOMAIN + 50):
        web.get("http://a.example/", f"n{number}=1")
    assert web.get("http://a.example/").count("=") == MAX_COOKIES_PER_DOMAIN


@pytest.mark.parametrize(
    ("setter", "url", "across", "sent"),
    [
        ("http://a.example:8080/", "http://a.example:8080/x", False, True),
        ("http://a.example:8080/", "http://a.example:9090/", False, False),
        ("http://a.example:8080/", "http://a.example:9090/robots.txt", False, False),
        ("http://a.example:8080/", "http://a.example/", False, False),
        ("http://a.example/", "http://a.example:8080/", False, False),
        ("http://a.example/", "https://a.example/", False, True),
        ("http://a.example:80/", "https://a.example:443/", False, True),
        ("http://a.example/", "http://a.example:443/", False, False),
        ("http://a.example:8080/", "http://a.example:9090/", True, True),
    ],
)
def test_p4_cookies_stay_with_the_port_that_set_them(setter: str, url: str, across: bool, sent: bool) -> None:
    for cookie in ("sess=1", "sess=1; Domain=a.example"):
        web = Web(across_ports=across)
        web.get(setter, cookie)
        assert web.get(url) == ("sess=1" if sent else "")


def test_cookies_of_one_name_from_two_ports_are_two() -> None:
    web = Web()
    web.get("http://a.example:8080/", "sess=1")
    web.get("http://a.example:9090/", "sess=2")
    assert web.get("http://a.example:8080/") == "sess=1"
    assert web.get("http://a.example:9090/") == "sess=2"


def test_adopted_cookies_go_to_the_ports_they_came_from() -> None:
    web, later = Web(), Web()
    web.get("http://a.example:8080/", "sess=1")
    web.get("https://a.example/", "sess=2")
    later.jars.adopt_cookies("all", list(web.jars.cookies("all")))
    assert later.get("http://a.example:8080/") == "sess=1"
    assert later.get("https://a.example/") == "sess=2"
    assert later.get("http://a.example:9090/") == ""
