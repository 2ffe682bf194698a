"""A session in the store: whose it is, how old it may be, and that a later log-in takes its place."""

from __future__ import annotations

from http.cookiejar import Cookie
from typing import Any

from scrapy.http.cookies import CookieJar

from ultracrawl.rules.access.cipher import SessionCipher
from ultracrawl.rules.access.login import Login
from ultracrawl.run.auth.form_login import KeptSession
from ultracrawl.stores import SqliteSiteStore

KEY = "000102030405060708090a0b0c0d0e0f"


class Store:
    """A store of sites with a clock, and the log-ins of several crawls in it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._sites = SqliteSiteStore(":memory:", clock=lambda: self.now)

    def session(self, *, key: str = KEY, name: str = "l", pw: str = "p", **options: Any) -> KeptSession:
        login = Login(name, frozenset({"a.example"}), (("pw", pw),), "https://a.example/login", **options)
        return KeptSession(lambda: self._sites, SessionCipher(key), login, lambda: self.now)


def cookie(value: str) -> Cookie:
    return Cookie(
        version=0,
        name="session",
        value=value,
        port=None,
        port_specified=False,
        domain="a.example",
        domain_specified=True,
        domain_initial_dot=False,
        path="/",
        path_specified=True,
        secure=True,
        expires=None,
        discard=True,
        comment=None,
        comment_url=None,
        rest={"HttpOnly": ""},
    )


def test_a_later_session_is_taken_once_with_its_age_and_its_cookies() -> None:
    store = Store()
    one, two = store.session(), store.session(name="called otherwise")
    assert two.load_newer() is None
    one.store_cookies([cookie("first")])
    assert one.load_newer() is None, "it is its own"
    store.now += 5
    taken = two.load_newer()
    assert taken is not None
    age, cookies = taken
    assert age == 5
    assert list(map(vars, cookies)) == [vars(cookie("first"))]
    assert two.load_newer() is None
    two.store_cookies([cookie("second")])
    assert [one.value for one in (one.load_newer() or (0, []))[1]] == ["second"]


def test_a_session_older_than_its_ttl_is_over() -> None:
    store = Store()
    store.session().store_cookies([cookie("x")])
    store.now += 10
    assert store.session(ttl=10.0).load_newer() is None
    assert store.session(ttl=10.1).load_newer() is not None
    assert store.session().load_newer() is not None


def test_who_logs_in_with_anything_else_or_has_another_key_gets_nothing() -> None:
    store = Store()
    store.session().store_cookies([cookie("x")])
    assert store.session(pw="another").load_newer() is None
    assert store.session(action="https://a.example/enter").load_newer() is None
    assert store.session(key=KEY[::-1]).load_newer() is None


def test_a_jar_gives_the_cookies_that_are_kept() -> None:
    store, jar = Store(), CookieJar()
    jar.set_cookie(cookie("of a jar"))
    store.session().store_cookies(jar)
    _, cookies = store.session().load_newer() or (0, [])
    assert [one.value for one in cookies] == ["of a jar"]
