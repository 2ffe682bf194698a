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


COOKIES: dict[str, tuple[str, str, str, bool]] = {
    "its-host": ("http://a.example/", "a=1", "http://a.example/x", True),
    "P4-another-host": ("http://a.example/", "a=1", "http://b.example/", False),
    "P4-host-only": ("http://a.example/", "a=1", "http://www.a.example/", False),
    "domain": ("http://w.a.example/", "a=1; Domain=a.example", "http://b.a.example/", True),
    "leading-dot": ("http://w.a.example/", "a=1; Domain=.a.example", "http://a.example/", True),
    "P4-foreign-domain": ("http://w.a.example/", "a=1; Domain=b.example", "http://b.example/", False),
    "P4-public-suffix": ("http://w.a.co.uk/", "a=1; Domain=co.uk", "http://b.co.uk/", False),
    "P4-private-suffix": ("http://a.github.io/", "a=1; Domain=github.io", "http://b.github.io/", False),
    "P4-top-level": ("http://w.a.com/", "a=1; Domain=com", "http://w.a.com/", False),
    "P4-part-of-an-address": ("http://127.0.0.1/", "a=1; Domain=0.0.1", "http://126.0.0.1/", False),
    "P4-port": ("http://127.0.0.1/", "a=1", "http://127.0.0.1:8080/", False),
    "P4-secure": ("https://a.example/", "a=1; Secure", "http://a.example/", False),
    "secure-over-tls": ("https://a.example/", "a=1; Secure", "https://a.example/", True),
    "path": ("http://a.example/", "a=1; Path=/s", "http://a.example/s/x", True),
    "path-whole-steps": ("http://a.example/", "a=1; Path=/s", "http://a.example/start", False),
    "default-path": ("http://a.example/s/p", "a=1", "http://a.example/other", False),
    "secure-by-http": ("http://a.example/", "a=1; Secure", "https://a.example/", False),
    "not-secure": ("https://a.example/", "__Secure-a=1", "https://a.example/", False),
    "is-secure": ("https://a.example/", "__secure-a=1; Secure", "https://a.example/", True),
    "not-host": ("https://a.example/", "__Host-a=1; Path=/", "https://a.example/", False),
    "host-by-http": ("http://a.example/", "__Host-a=1; Path=/; Secure", "https://a.example/", False),
    "host-path": ("https://a.example/", "__Host-a=1; Path=/s; Secure", "https://a.example/s", False),
    "host-with-domain": (
        "https://a.example/",
        "__Host-a=1; Path=/; Secure; Domain=a.example",
        "https://a.example/",
        False,
    ),
    "is-host": ("https://a.example/", "__Host-a=1; Path=/; Secure", "https://a.example/", True),
    "bytes-as-they-came": ("http://a.example/", "a=gr\xfc\xdf", "http://a.example/", True),
    "deleted": ("http://a.example/", "a=1; Max-Age=0", "http://a.example/", False),
    "http-only": ("http://a.example/", "a=1; HttpOnly", "http://a.example/", True),
    "no-dot": ("http://localhost/", "a=1", "http://localhost/", True),
    "too-large": ("http://a.example/", "a=" + "x" * MAX_COOKIE_LENGTH, "http://a.example/", False),
}


def test_ultra_search_12_3_where_cookies_go(subtests: pytest.Subtests) -> None:
    for name, (setter, cookie, url, sent) in COOKIES.items():
        with subtests.test(name):
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


PORTS: list[tuple[str, str, bool, bool]] = [
    ("http://a.example:8080/", "http://a.example:8080/x", False, True),
    ("http://a.example:8080/", "http://a.example:9090/", False, False),
    ("http://a.example:8080/", "http://a.example:9090/robots.txt", False, False),
    ("http://a.example:8080/", "http://a.example/", False, False),
    ("http://a.example/", "http://a.example:8080/", False, False),
    ("http://a.example/", "https://a.example/", False, True),
    ("http://a.example:80/", "https://a.example:443/", False, True),
    ("http://a.example/", "http://a.example:443/", False, False),
    ("http://a.example:8080/", "http://a.example:9090/", True, True),
]


def test_p4_cookies_stay_with_the_port_that_set_them(subtests: pytest.Subtests) -> None:
    for setter, url, across, sent in PORTS:
        with subtests.test(setter, url=url, across=across):
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
