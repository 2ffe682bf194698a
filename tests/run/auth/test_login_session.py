"""One login in a crawl: when it is carried out, by whom if many notice that it is lost, and when no more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response

from ultracrawl.errors import WorkError
from ultracrawl.rules.access.login import Login
from ultracrawl.rules.access.visitors import Likeness
from ultracrawl.run.auth.cookie_jars import CookieJars
from ultracrawl.run.auth.first_page import FirstPage, LetInMemory
from ultracrawl.run.auth.form_login import MAX_USELESS_LOGINS, LoginSession, SignsOfVisitors
from ultracrawl.run.download_errors.kinds import LoginFailedError
from ultracrawl.run.transport.outgoing import VISITOR
from ultracrawl.run.visit import META_KEY

ROOT = "https://a.example"


def page(url: str = f"{ROOT}/page", *, retained: bool = False) -> Request:
    """Return the request for a page, whose document may be in the index."""
    record = SimpleNamespace(retained=retained, first_seen=0.0)
    return Request(url, meta={META_KEY: SimpleNamespace(sitemap=None, record=record)})


class Guarded:
    """A site that lets nobody in who has not logged in since it forgot its sessions, and a clock."""

    def __init__(self, **options: Any) -> None:
        self.inside = self.refuses = self.refuses_pages = False
        self.logins = 0
        self.now = 1.0
        self.problems: list[WorkError] = []
        form, action = f"{ROOT}/login", f"{ROOT}/enter"
        login = Login(
            "l", frozenset({"a.example"}), (("pw", "p"),), form, action=action, autofill=False, **options
        )
        self.memory = LetInMemory(lambda: None, self.problems.append, lambda: self.now)
        self.login = login
        self.again()

    def again(self) -> None:
        """Begin another run."""
        self.first = FirstPage(self.memory, "logins.l", {}, self.login.covers)
        jars = CookieJars(lambda host: None, 60.0)
        self.session = LoginSession(self.login, jars, self.problems.append, self.first, lambda: self.now)

    async def send(self, request: Request) -> Response:
        await asyncio.sleep(0)
        if request.url == f"{ROOT}/enter":
            self.logins += 1
            self.inside = not self.refuses
            return Response(request.url, 403 if self.refuses else 200)
        if self.inside and not self.refuses_pages:
            return Response(request.url)
        return Response(request.url, 302, {"Location": f"{ROOT}/login?back={request.url}"})

    async def ask(self) -> int:
        return int((await self.session.fetch(page(), self.send)).status)


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(work())


def test_many_requests_wait_for_one_login_and_one_renews_it_for_all() -> None:
    async def work() -> None:
        site = Guarded()
        assert await asyncio.gather(*(site.ask() for _ in range(5))) == [200] * 5
        assert site.logins == 1
        site.inside = False
        assert await asyncio.gather(*(site.ask() for _ in range(5))) == [200] * 5
        assert site.logins == 2

    run(work)


def test_pages_that_always_ask_for_a_login_are_no_content_and_end_the_logins() -> None:
    async def work() -> None:
        site = Guarded()
        assert await site.ask() == 200

        async def never(request: Request) -> Response:
            site.inside = False
            return await site.send(request)

        for _ in range(MAX_USELESS_LOGINS + 2):
            with pytest.raises(LoginFailedError):
                await site.session.fetch(page(f"{ROOT}/login-help", retained=True), never)
        assert site.logins == 1 + MAX_USELESS_LOGINS
        assert len(site.problems) == 1

    run(work)


def test_a_login_whose_first_page_is_refused_has_failed() -> None:
    async def work() -> None:
        site = Guarded()

        async def never(request: Request) -> Response:
            site.inside = False
            return await site.send(request)

        for _ in range(3):
            with pytest.raises(LoginFailedError):
                await site.session.fetch(page(), never)
        assert (site.logins, len(site.problems)) == (1, 1)

    run(work)


def test_a_sitemap_that_is_refused_says_nothing_of_the_login() -> None:
    async def work() -> None:
        site = Guarded()

        async def closed(request: Request) -> Response:
            if request.url.endswith(("sitemap.xml", "login")):
                return Response(request.url, 302, {"Location": f"{ROOT}/login"})
            return await site.send(request)

        with pytest.raises(LoginFailedError):
            await site.session.fetch(Request(f"{ROOT}/sitemap.xml"), closed)
        assert (await site.session.fetch(page(), closed)).status == 200
        assert (site.logins, site.problems) == (1, [])

    run(work)


@pytest.mark.parametrize(
    ("ttl", "again", "passed", "logins"),
    [(60.0, True, 59.9, 1), (60.0, True, 60.0, 2), (None, True, 9999.0, 1), (60.0, False, 60.0, 2)],
)
def test_fast_220_a_login_is_renewed_when_its_time_is_over(
    ttl: float | None, again: bool, passed: float, logins: int
) -> None:
    async def work() -> None:
        site = Guarded(ttl=ttl, relogin_if_failed=again)
        await site.ask()
        site.now += passed
        await site.ask()
        assert site.logins == logins

    run(work)


@pytest.mark.parametrize(("again", "passed", "logins"), [(True, 60.0, 2), (True, 59.0, 1), (False, 60.0, 1)])
def test_fast_223_a_login_that_failed_is_tried_again_if_that_is_wanted(
    again: bool, passed: float, logins: int
) -> None:
    async def work() -> None:
        site = Guarded(ttl=60.0, relogin_if_failed=again)
        site.refuses = True
        for _ in range(2):
            with pytest.raises(LoginFailedError):
                await site.ask()
        site.refuses = False
        site.now += passed
        if logins == 2:
            assert await site.ask() == 200
        else:
            with pytest.raises(LoginFailedError):
                await site.ask()
        assert (site.logins, len(site.problems)) == (logins, 1)

    run(work)


def test_a_login_that_is_not_required_stops_nobody() -> None:
    async def work() -> None:
        site = Guarded(required=False)
        site.refuses = True

        async def public(request: Request) -> Response:
            return await site.send(request) if request.url.endswith("/enter") else Response(request.url)

        assert (await site.session.fetch(page(), public)).status == 200
        with pytest.raises(LoginFailedError):
            await site.ask()
        assert (site.logins, len(site.problems)) == (1, 1)

    run(work)


# ---- what the first page proves


class Members(Guarded):
    """A site with a first page, which knows what the answers to all its paths are for those inside."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.answers: dict[str, int] = {}
        self.sent: list[str] = []

    async def send(self, request: Request) -> Response:
        self.sent.append(request.url)
        status = self.answers.get(request.url.removeprefix(ROOT))
        if VISITOR in request.meta:
            return Response(request.url, 302, {"Location": f"{ROOT}/login"})
        if status is not None and (self.inside or request.url.endswith("/login")):
            place = {"Location": f"{ROOT}/login"} if status == 302 else {}
            return HtmlResponse(request.url, status, headers=place, body=b"<p>hello", encoding="utf-8")
        return await super().send(request)

    async def fetch(self, path: str, *, retained: bool = False) -> int:
        return int((await self.session.fetch(page(f"{ROOT}{path}", retained=retained), self.send)).status)


@pytest.mark.parametrize("status", [404, 410, 429, 503])
def test_a_session_is_renewed_although_the_first_page_proves_nothing(status: int) -> None:
    async def work() -> None:
        site = Members()
        assert await site.fetch("/page") == 200
        assert site.first.page is not None
        site.answers["/page"] = status
        site.inside = False
        assert await site.fetch("/a", retained=True) == 200
        assert site.logins == 2

    run(work)


def test_a_login_goes_on_whose_first_page_is_gone() -> None:
    async def work() -> None:
        site = Members()
        await site.fetch("/page")
        site.answers = {"/page": 404, "/closed": 302, "/login": 302}
        site.again()
        with pytest.raises(LoginFailedError):
            await site.fetch("/closed")
        assert await site.fetch("/a") == 200
        assert (site.logins, site.problems) == (2, [])
        found = site.first.page
        assert found is not None
        assert found.url == f"{ROOT}/a"

    run(work)


def test_a_first_page_that_greets_everybody_is_doubted_once() -> None:
    async def work() -> None:
        site = Members()
        await site.fetch("/page")

        async def greets(request: Request) -> Response:
            if request.url.endswith("/page") and VISITOR not in request.meta:
                return HtmlResponse(request.url, body=b"<p>hello ada", encoding="utf-8")
            return await site.send(request)

        site.inside = False
        for path in "ab":
            request = page(f"{ROOT}/{path}", retained=True)
            assert (await site.session.fetch(request, greets)).status == 200
            site.inside = False
        assert site.logins == 3
        site.refuses_pages = True
        for path in "cdef":
            with pytest.raises(LoginFailedError):
                await site.session.fetch(page(f"{ROOT}/{path}", retained=True), greets)
        assert site.logins == 4

    run(work)


def test_pages_that_end_sessions_end_no_renewal() -> None:
    async def work() -> None:
        site = Members()
        await site.fetch("/page")

        async def ending(request: Request) -> Response:
            if "/out" in request.url:
                site.inside = False
            return await site.send(request)

        for number in range(MAX_USELESS_LOGINS + 1):
            with pytest.raises(LoginFailedError):
                await site.session.fetch(page(f"{ROOT}/out/{number}"), ending)
        assert await site.fetch("/a") == 200

    run(work)


def test_a_text_of_lost_sessions_that_a_page_cannot_hold() -> None:
    site = Guarded(lost_text="été \u4e00")
    response = HtmlResponse(f"{ROOT}/page", body=b"<p>hello", encoding="ascii")
    assert SignsOfVisitors(site.login, site.first).of(response) is Likeness.NONE


def test_a_refused_page_stays_once_logins_were_no_use() -> None:
    async def work() -> None:
        site = Members()
        await site.fetch("/page")
        site.answers = {"/page": 503, **{f"/{number}": 403 for number in range(9)}}
        for number in range(MAX_USELESS_LOGINS):
            assert await site.fetch(f"/{number}", retained=True) == 403
        with pytest.raises(LoginFailedError):
            await site.fetch("/8", retained=True)
        assert await site.fetch("/7") == 403

    run(work)


@pytest.mark.parametrize("known", [False, True])
def test_a_redirect_to_a_form_that_is_no_form_inside(known: bool) -> None:
    async def work() -> None:
        site = Members()
        if known:
            await site.fetch("/page")
        site.answers = {"/login": 200, "/a": 302}
        assert await site.fetch("/a") == 302
        assert site.first.known.worked is known
        with pytest.raises(LoginFailedError):
            await site.fetch("/a", retained=True)
        assert await site.fetch("/b") == 200

    run(work)


# ---- pages that refresh themselves


@pytest.mark.parametrize(
    ("body", "leads"),
    [
        ('<meta http-equiv="refresh" content="0;url=/login">', True),
        ('<base href="/x/"><meta http-equiv="refresh" content="0;url=../login">', True),
        ('<meta http-equiv="refresh" content="0;url=http://[">', False),
        ('<base href="http://["><meta http-equiv="refresh" content="0;url=login">', True),
        ('<meta http-equiv="refresh" content="60;url=/login">', False),
        ('<template><meta http-equiv="refresh" content="0;url=/login"></template>', False),
        ('<noscript><meta http-equiv="refresh" content="0;url=/login"></noscript>', False),
        ('<!-- <meta http-equiv="refresh" content="0;url=/login"> -->', False),
        ("refresh", False),
    ],
)
def test_a_page_that_refreshes_itself_to_the_form(body: str, leads: bool) -> None:
    site = Guarded()
    signs = SignsOfVisitors(site.login, site.first)
    response = HtmlResponse(f"{ROOT}/page", body=body.encode(), encoding="utf-8")
    assert signs.leads_to_form(response) is leads
