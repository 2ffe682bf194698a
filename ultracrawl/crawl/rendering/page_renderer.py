"""Pages of a source that are opened in a browser: which, and what their scripts may fetch."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from scrapy import Request
from scrapy.exceptions import DownloadFailedError, IgnoreRequest

from ultracrawl.content import AnswerHead
from ultracrawl.crawl.failures.download_errors import LoginFailedError
from ultracrawl.crawl.reading.document_converter import cut_short
from ultracrawl.crawl.rendering.browser import (
    Browser,
    Fetch,
    PartAnswer,
    PartRequest,
    Rendered,
    browser_program,
)
from ultracrawl.crawl.rendering.origins import RequestOrigin
from ultracrawl.crawl.transport.headers import header_of
from ultracrawl.crawl.transport.outgoing import BARE
from ultracrawl.crawl.visit import Step
from ultracrawl.model import LinkKind
from ultracrawl.model.page import Link
from ultracrawl.model.status import REDIRECTS
from ultracrawl.rules.boundary.matcher import UriTable
from ultracrawl.rules.boundary.rules import Action, UriRule
from ultracrawl.rules.urls import host_of, site_of
from ultracrawl.rules.urls.parts import split

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.crawl.session import CrawlSession
    from ultracrawl.crawl.visit import Visit
    from ultracrawl.model import Page

logger = logging.getLogger(__name__)

PAGES = frozenset({"text/html", "application/xhtml+xml"})
KEPT = 32 << 20
"""Bytes of scripts that are kept, because the pages of a site share them."""
AT_ONCE = 8
TRIES = 2
"""How often a page is opened on which the browser fails, or that is not written in time."""
_HOPS = 5
_PAGE_HEADERS = ("Content-Type", "Content-Security-Policy", "Referrer-Policy")
_NOT_PASSED = frozenset(
    {"set-cookie", "content-encoding", "content-length", "transfer-encoding", "connection"}
)
_ASKED_WITH = ("accept", "accept-language", "x-requested-with", "origin")


class PageRenderer:
    """Has the scripts of pages run, and gets what they ask for in the way that everything of a crawl is got.

    The page itself is not asked for again. Its parts go through the download handler with its address guard, keep
    robots.txt, the schemes and the exclusions of the boundary, and wait for their turn; a refused part is missing.
    Secrets go with parts from the page's own origin only, and scripts read answers of others as CORS lets them.
    """

    def __init__(self, session: CrawlSession) -> None:
        self._session = session
        self._section = session.context.source.javascript
        self.on = self._section.use
        rules = [UriRule(pattern.kind, pattern.text, Action.INCLUDE) for pattern in self._section.urls]
        self._pages = UriTable(rules, session.context.rules.url_policy.without_rewriting)
        self._places = asyncio.Semaphore(self._section.pages)
        self._requests = asyncio.Semaphore(AT_ONCE)
        self._next: dict[str, float] = {}
        self._scripts: dict[tuple[str, bool], PartAnswer] = {}
        """By URL, and whether the page was of another origin."""
        self._browser: Browser | None = None
        if self.on:
            self._browser = Browser(browser_program(self._section.browser), session.context.source.user_agent)

    def takes(self, visit: Visit, body: bytes) -> bool:
        """Whether a page is opened in the browser: it has scripts, and a rule covers it."""
        if not self.on or visit.media_type not in PAGES or b"<script" not in body.lower():
            return False
        return self._pages.empty or self._pages.find(visit.url) is not None

    async def page(self, visit: Visit, response: Response, page: Page) -> Page:
        """Return what scripts make of a page; the page as it came if that fails."""
        rendered = await self.rendered(visit, response)
        if rendered is None:
            return page
        made = await self._read(visit, response, rendered)
        return page if made is None else self._made(page, made, rendered)

    async def rendered(self, visit: Visit, response: Response) -> Rendered | None:
        """Return what the browser has after the scripts of a page.

        None if that fails, or is too long: the page is taken as it came, and the next run opens it whatever its
        validators say.
        """
        why = ""
        for _ in range(TRIES):
            try:
                with self._session.watch.within(visit, Step.BROWSER):
                    rendered = await self._opened(visit.url, response)
            except TimeoutError:
                why = f"it took longer than {self._section.timeout:g} seconds"
            except (RuntimeError, OSError) as error:
                why = str(error)
            else:
                if len(rendered.html) <= self._session.context.source.limits.max_size:
                    return rendered
                why = "what they make of it is larger than limits.max_size"
                break
        visit.unrendered = f"its scripts were not run: {why}"
        logger.warning("%s: %s", visit.url, visit.unrendered)
        self._session.context.report.turn_away("javascript failed")
        return None

    async def _opened(self, url: str, response: Response) -> Rendered:
        assert self._browser is not None
        headers = {name: value for name in _PAGE_HEADERS if (value := header_of(response, name))}
        fetch: Fetch = _Parts(self, self._section.parts).fetch
        async with self._places:
            return await self._browser.render(url, response.body, headers, fetch, self._section.timeout)

    async def _read(self, visit: Visit, response: Response, rendered: Rendered) -> Page | None:
        session = self._session
        html, reader = rendered.html.encode("utf-8", "replace"), session.context.rules.reader
        head = AnswerHead("text/html; charset=utf-8")
        if reader.is_large(html, "text/html"):
            made = await session.conversion.large_page(visit, html, response.url, head, reader)
        else:
            made = reader.read(html, response.url, "text/html", head)
        if made is not None:
            cut_short(session, visit, made)
        return made

    def _made(self, page: Page, made: Page, rendered: Rendered) -> Page:
        links = (*made.links, *(Link(url, LinkKind.SCRIPT_TEXT) for url in rendered.targets))
        if not self._section.keep_html:
            return replace(page, links=links)
        # What the server forbids is not undone by a script.
        robots = replace(
            made.robots,
            index=made.robots.index and page.robots.index,
            follow=made.robots.follow and page.robots.follow,
            others=tuple(dict.fromkeys((*page.robots.others, *made.robots.others))),
        )
        return replace(made, links=links, robots=robots, charset=page.charset)

    async def close(self) -> None:
        """End the browser."""
        if self._browser is not None:
            await self._browser.close()

    # ---- parts of pages

    async def part(self, request: PartRequest) -> PartAnswer | None:
        """Return a part of a page, None if it is refused or cannot be had."""
        asker = RequestOrigin.of(request)
        key = request.url, asker.is_foreign(request.url)
        kept = self._scripts.get(key) if request.kind == "script" else None
        if kept is not None:
            return kept
        answer = await self._follow(request, asker)
        if answer is not None and request.kind == "script" and answer.status == 200:
            self._keep(key, answer)
        return answer

    def _keep(self, key: tuple[str, bool], answer: PartAnswer) -> None:
        self._scripts[key] = answer
        while sum(len(one.body) for one in self._scripts.values()) > KEPT:
            del self._scripts[next(iter(self._scripts))]

    async def _follow(self, request: PartRequest, asker: RequestOrigin) -> PartAnswer | None:
        url, foreign = request.url, False
        for _ in range(_HOPS + 1):
            foreign = foreign or asker.is_foreign(url)
            response = await self._get(url, request.headers, bare=foreign)
            if response is None:
                return None
            location = header_of(response, "Location")
            if response.status not in REDIRECTS or not location:
                return _answer(response) if not foreign or asker.may_have(response) else None
            try:
                url = urljoin(url, location)
            except ValueError:
                return None
        return None

    async def _get(self, written: str, headers: dict[str, str], *, bare: bool) -> Response | None:
        url = self._session.context.rules.url_policy.without_rewriting.canonical(written)
        if url is None or not url.startswith("http") or not await self._allowed(url, bare=bare):
            return None
        if bare and self._shows_certificate(url):
            return None
        async with self._requests:
            await self._turn(site_of(url))
            try:
                return await self._session.crawler.engine.download_async(
                    self._request(url, headers, bare=bare)
                )
            except (DownloadFailedError, IgnoreRequest, LoginFailedError, OSError) as error:
                logger.info("%s, a part of a page, was not got: %s", url, error)
                return None

    async def _allowed(self, url: str, *, bare: bool) -> bool:
        """Whether a part may be asked for: inclusions do not count, they are about pages."""
        rules = self._session.context.rules
        for decision in rules.boundary.decisions(url):
            if not decision.accept and (decision.stage == "scheme" or decision.rule.startswith("exclude")):
                self._session.context.report.turn_away(decision.rule)
                return False
        if not rules.robots.obey:
            return True
        book = self._session.robots
        known = book.known(url)
        if known is None:
            known = await asyncio.shield(book.fetch_bare(url) if bare else book.fetch(url))
        return not known.blocks(url)

    def _shows_certificate(self, url: str) -> bool:
        """Whether a client certificate would be shown; Scrapy's own handler knows no request without it."""
        parts = split(url)
        return parts.scheme == "https" and (parts.host, parts.port) in self._session.access.certificates

    async def _turn(self, site: str) -> None:
        now, delay = time.monotonic(), self._section.delay
        if delay is None:
            at = self._session.context.queue.claim_turn(site, now)
        else:
            at = max(self._next.get(site, 0.0), now)
            self._next[site] = at + delay
        if at > now:
            await asyncio.sleep(at - now)

    def _request(self, url: str, asked: dict[str, str], *, bare: bool) -> Request:
        session = self._session
        grouping = session.context.rules.grouping
        headers = {
            **session.context.rules.headers,
            **{name: asked[name] for name in _ASKED_WITH if name in asked},
        }
        meta = {
            "download_slot": "javascript",
            "download_timeout": min(session.context.source.limits.timeout, self._section.timeout),
            "handle_httpstatus_all": True,
            **({"cookiejar": grouping.of(host_of(url))} if grouping else {}),
            **({BARE: True} if bare else {}),
        }
        return Request(url, headers=headers, meta=meta, dont_filter=True)


class _Parts:
    """Counts what one page asks for."""

    def __init__(self, desk: PageRenderer, most: int) -> None:
        self._desk = desk
        self._left = most

    async def fetch(self, request: PartRequest) -> PartAnswer | None:
        if self._left <= 0:
            return None
        self._left -= 1
        return await self._desk.part(request)


def _answer(response: Response) -> PartAnswer:
    headers = {
        name.decode("latin-1"): b", ".join(values).decode("latin-1")
        for name, values in response.headers.items()
        if name.decode("latin-1").lower() not in _NOT_PASSED
    }
    return PartAnswer(response.status, headers, response.body)
