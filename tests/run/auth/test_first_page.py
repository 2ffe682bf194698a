"""The first page of an entry: when it is learnt, what it proves, and when it proves nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from itertools import count, cycle
from types import SimpleNamespace

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response

from ultracrawl.errors import WorkError
from ultracrawl.rules.access.visitors import Likeness, VisitorPage
from ultracrawl.run.auth.access_watch import AccessWatch
from ultracrawl.run.auth.first_page import FIRST_PAGES, PROOF_SECONDS, FirstPage, LetInMemory, is_refusal
from ultracrawl.run.download_errors.kinds import LoginFailedError
from ultracrawl.run.transport.outgoing import VISITOR
from ultracrawl.run.visit import META_KEY

ROOT = "https://a.example"
INSIDE = "<p>axolotl gills"


def page(url: str = f"{ROOT}/page", *, retained: bool = False) -> Request:
    """Return the request for a page, whose document may be in the index."""
    record = SimpleNamespace(retained=retained, first_seen=0.0)
    return Request(url, meta={META_KEY: SimpleNamespace(sitemap=None, record=record)})


class Site:
    """A site with one entry; what its visitors and members get, and what it was asked for."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.asked: list[tuple[str, bool]] = []
        self.visitors: Callable[[str], Response] = lambda url: Response(url, 403)
        self.members: Callable[[str], Response] = lambda url: html(url, INSIDE)
        self.problems: list[WorkError] = []
        self.memory = LetInMemory(lambda: None, self.problems.append, lambda: self.now)
        self.first = self.opened()

    def opened(self, covers: Callable[[str], bool] = lambda url: True) -> FirstPage:
        return FirstPage(self.memory, "site_headers.c", {}, covers)

    async def send(self, request: Request) -> Response:
        is_visitor = VISITOR in request.meta
        self.asked.append((request.url, is_visitor))
        return (self.visitors if is_visitor else self.members)(request.url)

    async def learn(self, url: str = f"{ROOT}/page") -> VisitorPage | None:
        request = page(url)
        await self.first.learn(request, await self.send(request), self.send)
        return self.first.page

    async def lets_in(self, *, doubt: bool = False) -> bool | None:
        return await self.first.lets_in(self.send, self.is_refused, doubt=doubt)

    def is_refused(self, response: Response) -> bool:
        return is_refusal(response) or self.first.likeness(response) is not Likeness.NONE


def html(url: str, body: str, status: int = 200) -> Response:
    return HtmlResponse(url, status, body=body.encode(), encoding="utf-8")


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def run_it() -> None:
        await work()

    asyncio.run(run_it())


def texts(words: Iterator[object]) -> Callable[[str], Response]:
    return lambda url: html(url, f"<p>welcome {next(words)}")


@pytest.mark.parametrize(
    "changing",
    [
        lambda: (f"generated in {10**number} ms" for number in count()),
        lambda: (f"{number * 'x'} offers" for number in count(1)),
        lambda: cycle(["otters", "quokkas"]),
        lambda: cycle(["otters", "quokkas", "narwhals"]),
    ],
    ids=["numbers", "words", "two", "three"],
)
def test_a_public_page_whose_text_changes_is_no_first_page(
    changing: Callable[[], Iterator[object]],
) -> None:
    async def work() -> None:
        site = Site()
        site.visitors = site.members = texts(changing())
        for _ in range(4):
            assert await site.learn() is None

    run(work)


def test_a_page_that_greets_its_members_is_a_first_page() -> None:
    async def work() -> None:
        site = Site()
        site.visitors = texts(f"generated in {number} ms" for number in count())
        found = await site.learn()
        assert found is not None
        assert await site.lets_in()

    run(work)


def test_what_visitors_get_is_known_under_the_title_of_another_page() -> None:
    async def work() -> None:
        site = Site()
        site.visitors = lambda url: html(url, f"<title>{url[-4:]} a</title><p>for members only")
        assert await site.learn() is not None
        other = html(f"{ROOT}/other", "<title>All the herons</title><p>for members only")
        assert site.first.likeness(other) is Likeness.SAME

    run(work)


def test_how_many_public_pages_are_asked_for() -> None:
    async def work() -> None:
        site = Site()
        site.visitors = site.members
        asked = []
        for number in range(1, 40):
            site.asked.clear()
            await site.learn(f"{ROOT}/{number}")
            asked += [number] if len(site.asked) > 1 else []
        assert asked == [*range(1, FIRST_PAGES + 1), 4, 8, 16, 32]

    run(work)


def test_the_fourth_page_may_be_the_first_that_is_closed() -> None:
    async def work() -> None:
        site = Site()
        site.visitors = lambda url: Response(url, 403) if url.endswith("/4") else html(url, INSIDE)
        for number in range(1, 4):
            assert await site.learn(f"{ROOT}/{number}") is None
        assert await site.learn(f"{ROOT}/4") is not None

    run(work)


def test_a_first_page_of_another_host_is_none() -> None:
    async def work() -> None:
        site = Site()
        assert await site.learn() is not None
        moved = site.opened(lambda url: url.startswith("https://b.example/"))
        assert moved.page is None
        assert moved.likeness(Response(f"{ROOT}/page", 403)) is Likeness.NONE
        request = page("https://b.example/")
        await moved.learn(request, await site.send(request), site.send)
        assert moved.page is not None

    run(work)


@pytest.mark.parametrize("status", [204, 302, 404, 410, 429, 500, 503])
def test_what_proves_nothing(status: int) -> None:
    async def work() -> None:
        site = Site()
        await site.learn()
        site.members = lambda url: Response(url, status, {"Location": "https://b.example/"})
        assert await site.lets_in() is None

    run(work)


@pytest.mark.parametrize("how", ["gone", "public"])
def test_another_first_page_is_looked_for(how: str) -> None:
    async def work() -> None:
        site = Site()
        await site.learn()
        opened = lambda url: html(url, "<p>moved", 410 if how == "gone" else 200)  # noqa: E731
        members, visitors = site.members, site.visitors
        site.members = lambda url: opened(url) if url.endswith("/page") else members(url)
        if how == "public":
            site.visitors = lambda url: opened(url) if url.endswith("/page") else visitors(url)
        assert await site.lets_in() is None
        found = await site.learn(f"{ROOT}/other")
        assert found is not None
        assert found.url == f"{ROOT}/other"
        assert await site.lets_in()

    run(work)


def test_a_proof_lasts_for_a_while_unless_there_is_doubt() -> None:
    async def work() -> None:
        site = Site()
        await site.learn()
        site.asked.clear()
        for _ in range(3):
            assert await site.lets_in()
        assert [is_visitor for _, is_visitor in site.asked] == [False, True]
        assert await site.lets_in(doubt=True)
        assert [is_visitor for _, is_visitor in site.asked[2:]] == [False]
        site.members = site.visitors
        assert await site.lets_in()
        site.now += PROOF_SECONDS
        assert await site.lets_in() is False

    run(work)


# ---- headers and certificates


def watch(site: Site) -> AccessWatch:
    """Return a watch over all URLs, which knows what the site knows of its entry."""
    covered = ("site_headers.c", lambda url: True)
    return AccessWatch([covered], {}, site.memory, site.problems.append)


@pytest.mark.parametrize("status", [404, 503])
def test_a_known_page_that_is_refused_stays_while_nothing_is_proved(status: int) -> None:
    async def work() -> None:
        site = Site()
        await site.learn()
        site.members = lambda url: Response(url, status if url.endswith("/page") else 403)
        watched = watch(site)
        with pytest.raises(LoginFailedError):
            await watched.fetch(page(f"{ROOT}/b", retained=True), site.send)
        assert (await watched.fetch(page(f"{ROOT}/c"), site.send)).status == 403

    run(work)


def test_a_page_that_is_refused_although_the_first_page_lets_in_is_refused() -> None:
    async def work() -> None:
        site = Site()
        await site.learn()
        site.members = lambda url: html(url, INSIDE) if url.endswith("/page") else Response(url, 403)
        answer = await watch(site).fetch(page(f"{ROOT}/b", retained=True), site.send)
        assert answer.status == 403

    run(work)


def test_all_entries_of_a_page_are_named() -> None:
    async def work() -> None:
        site = Site()
        names = ("site_headers.c", "site_headers.d")
        watched = AccessWatch(
            ((name, lambda url: True) for name in names), {}, site.memory, site.problems.append
        )
        await watched.fetch(page(), site.send)
        site.members = site.visitors
        with pytest.raises(LoginFailedError):
            await watched.fetch(page(), site.send)
        (problem,) = site.problems
        assert all(name in str(problem) for name in names)

    run(work)


def test_a_token_that_is_challenged_lets_in_no_more() -> None:
    async def work() -> None:
        site = Site()
        await site.learn()
        site.members = lambda url: Response(url, 401, {"WWW-Authenticate": "Bearer"})
        with pytest.raises(LoginFailedError):
            await watch(site).fetch(page(f"{ROOT}/b", retained=True), site.send)

    run(work)
