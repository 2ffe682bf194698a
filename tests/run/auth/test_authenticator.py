"""Passwords on their way: what is sent unasked, what after a challenge, and when no more."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from ultracrawl.errors import WorkError
from ultracrawl.rules.access.credentials import Credential, CredentialStore, Scheme, basic_answer
from ultracrawl.rules.access.prefix import UrlPrefix
from ultracrawl.run.auth.authenticator import MAX_REFUSALS, Authenticator
from ultracrawl.run.download_errors.kinds import LoginFailedError
from ultracrawl.run.visit import META_KEY

ROOT = "https://a.example"
RECORD = SimpleNamespace(retained=True)
BASIC = basic_answer("u", "p")
DIGEST = 'Digest realm="R", nonce="{}", qop="auth", algorithm=SHA-256'


class Asked:
    """A site that asks for one scheme, and what it was sent."""

    def __init__(self, challenge: str, scheme: Scheme, *, takes: bool = True, **facts: Any) -> None:
        prefixes = (UrlPrefix.parse(f"{ROOT}/"),)
        book = CredentialStore([Credential("c", prefixes, scheme, "u", "p", **facts)])
        self.problems: list[WorkError] = []
        self.desk = Authenticator(book, self.problems.append)
        self.challenge, self.takes = challenge, takes
        self.sent: list[str] = []
        self.out = self.most = 0

    async def send(self, request: Request) -> Response:
        header = (request.headers.get("Authorization") or b"").decode()
        self.sent.append(header.partition(" ")[0])
        self.out += 1
        self.most = max(self.most, self.out)
        await asyncio.sleep(0)
        self.out -= 1
        scheme = self.challenge.partition(" ")[0]
        if header.startswith(scheme) and self.takes:
            return Response(request.url)
        return Response(request.url, 401, {"WWW-Authenticate": self.challenge.format(len(self.sent))})

    def ask(self, times: int = 1, url: str = f"{ROOT}/page") -> list[int]:
        async def all_of_them() -> list[int]:
            return [(await self.desk.fetch(Request(url), self.send)).status for _ in range(times)]

        return asyncio.run(all_of_them())


@pytest.mark.parametrize(
    ("challenge", "scheme", "facts", "sent"),
    [
        pytest.param("Basic realm=R", Scheme.BASIC, {}, ["Basic"] * 3, id="basic-unasked"),
        pytest.param("Basic realm=R", Scheme.AUTO, {}, ["", *["Basic"] * 3], id="basic-after-the-first"),
        pytest.param(
            "Basic realm=R", Scheme.BASIC, {"realm": "R"}, ["", "Basic"] * 3, id="basic-of-a-realm-when-asked"
        ),
        pytest.param(DIGEST, Scheme.AUTO, {}, ["", *["Digest"] * 3], id="digest-after-the-first"),
        pytest.param(DIGEST, Scheme.DIGEST, {"realm": "other"}, [""] * 3, id="another-realm"),
        pytest.param("Bearer", Scheme.AUTO, {}, [""] * 3, id="a-scheme-that-is-not-ours"),
    ],
)
def test_what_is_sent(challenge: str, scheme: Scheme, facts: dict[str, str], sent: list[str]) -> None:
    site = Asked(challenge, scheme, **facts)
    answers = site.ask(3)
    assert site.sent == sent
    assert answers == ([200] * 3 if any(sent) else [401] * 3)
    assert site.problems == []


@pytest.mark.parametrize("scheme", [Scheme.BASIC, Scheme.AUTO])
def test_a_password_that_is_refused_is_sent_so_often_and_no_more(scheme: Scheme) -> None:
    site = Asked("Basic realm=R", scheme, takes=False)
    assert site.ask(MAX_REFUSALS + 3) == [401] * (MAX_REFUSALS + 3)
    assert site.sent.count("Basic") == MAX_REFUSALS
    assert site.sent[-1] == "", "the page is asked for without it"
    assert len(site.problems) == 1


def test_of_requests_at_once_one_shows_an_unproven_password_and_those_that_waited_do_not_show_a_wrong_one() -> (
    None
):
    async def at_once(site: Asked) -> list[int]:
        fetched = [site.desk.fetch(Request(f"{ROOT}/{number}"), site.send) for number in range(8)]
        return [response.status for response in await asyncio.gather(*fetched)]

    good, wrong = (Asked("Basic realm=R", Scheme.BASIC, takes=takes) for takes in (True, False))
    assert asyncio.run(at_once(good)) == [200] * 8
    assert asyncio.run(at_once(wrong)) == [401] * 8
    assert wrong.sent.count("Basic") == MAX_REFUSALS


def test_nothing_goes_to_urls_that_it_is_not_for() -> None:
    site = Asked("Basic realm=R", Scheme.BASIC)
    assert site.ask(url="https://b.example/page") == [401]
    assert site.ask(url="http://a.example/page") == [401]
    assert site.sent == ["", ""]


@pytest.mark.parametrize("challenge", ["Basic realm=R", DIGEST])
def test_what_guests_get_is_no_page_once_a_password_was_refused(challenge: str) -> None:
    """Of a server that takes those who send nothing for guests."""

    async def work() -> None:
        site = Asked(challenge, Scheme.AUTO)
        is_guest = False

        async def send(request: Request) -> Response:
            if is_guest and "Authorization" not in request.headers:
                return Response(request.url)
            return await site.send(request)

        def request(path: str) -> Request:
            return Request(f"{ROOT}{path}", meta={META_KEY: SimpleNamespace(sitemap=None, record=RECORD)})

        assert (await site.desk.fetch(request("/a"), send)).status == 200
        site.takes = False
        answers = [(await site.desk.fetch(request("/a"), send)).status for _ in range(MAX_REFUSALS + 1)]
        assert answers == [401] * (MAX_REFUSALS + 1)
        is_guest = True
        with pytest.raises(LoginFailedError):
            await site.desk.fetch(request("/a"), send)
        assert (await site.desk.fetch(request("/robots.txt"), send)).status == 200

    asyncio.run(work())


def test_a_page_that_never_asked_for_the_password_goes_on() -> None:
    async def work() -> None:
        site = Asked("Basic realm=R", Scheme.AUTO, takes=False, realm="R")

        async def send(request: Request) -> Response:
            return Response(request.url) if request.url.endswith("/public") else await site.send(request)

        for path in (*["/a"] * (MAX_REFUSALS + 1), "/public"):
            visit = SimpleNamespace(sitemap=None, record=RECORD)
            answer = await site.desk.fetch(Request(f"{ROOT}{path}", meta={META_KEY: visit}), send)
        assert answer.status == 200

    asyncio.run(work())
