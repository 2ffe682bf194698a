"""What the scripts of a page may fetch: its parts, in the way that everything of a crawl is got."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Container
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urljoin

from scrapy import Request
from scrapy.exceptions import DownloadFailedError, IgnoreRequest

from ultracrawl.crawl.download_errors.kinds import LoginFailedError
from ultracrawl.crawl.rendering.browser import Fetch, PartAnswer, PartRequest
from ultracrawl.crawl.transport.headers import header_of, values_of
from ultracrawl.crawl.transport.outgoing import BARE, Send
from ultracrawl.model.status import REDIRECTS
from ultracrawl.rules.robots.policy import origin_of
from ultracrawl.rules.urls.canonical import host_of, site_of, split

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.rendering.browser import PartRequest
    from ultracrawl.rules.robots.rules import RobotsRules


_READ = frozenset({"fetch", "xhr"})
"""What scripts read the answer of; a script from elsewhere is run, and its text stays unread."""
_FRAME = "document"


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """The origin for which a part is got; empty for one that is like no other, as that of a sandbox is.

    The browser cannot see to it: answers come to it under the URL that was asked for, redirects and all, and
    Playwright lets every origin read what is answered in place of the network.
    """

    origin: str
    kind: str

    @classmethod
    def of(cls, part: PartRequest) -> RequestOrigin:
        """Return who asks for a part; a frame is asked for by the site that it comes from."""
        if part.kind == _FRAME:
            return cls(origin_of(part.url), part.kind)
        return cls(origin_of(part.headers.get("origin") or part.initiator), part.kind)

    def is_foreign(self, url: str) -> bool:
        """Whether a URL is of another origin: nothing secret goes there."""
        return not self.origin or origin_of(url) != self.origin

    def may_have(self, response: Response) -> bool:
        """Whether an answer of another origin may be handed over (CORS for what is read, no redirected frames)."""
        if self.kind not in _READ:
            return self.kind != _FRAME
        allowed = values_of(response)("Access-Control-Allow-Origin")
        return any(one == "*" or (self.origin and origin_of(one) == self.origin) for one in allowed)


logger = logging.getLogger(__name__)

KEPT = 32 << 20
"""Bytes of scripts that are kept, because the pages of a site share them."""
AT_ONCE = 8
"""Parts that are fetched at once, for all pages together."""
_HOPS = 5
"""Redirects of one part that are followed."""
_NOT_PASSED = frozenset(
    {"set-cookie", "content-encoding", "content-length", "transfer-encoding", "connection"}
)
_ASKED_WITH = ("accept", "accept-language", "x-requested-with", "origin")


class RobotsSource(Protocol):
    """Where the rules of robots.txt come from."""

    def known(self, url: str) -> RobotsRules | None:
        """Return the rules for a URL if they are known."""

    def fetch(self, url: str) -> Awaitable[RobotsRules]:
        """Fetch the rules for a URL."""

    def fetch_without_credentials(self, url: str) -> Awaitable[RobotsRules]:
        """Fetch the rules for a URL that a stranger caused."""


class PartFetcher:
    """Gets the parts of pages: through the download handler with its address guard.

    They keep robots.txt, the schemes and the exclusions of the boundary, and wait for their turn; one that is refused
    is missing. Secrets go with parts from the page's own origin only, and scripts read answers of others as CORS lets
    them.
    """

    def __init__(
        self, context: CrawlContext, robots: RobotsSource, send: Send, certified: Container[tuple[str, int]]
    ) -> None:
        """`certified` are the sites, by host and port, that a client certificate is shown to."""
        self._context = context
        self._robots = robots
        self._send = send
        self._certified = certified
        self._section = context.source.javascript
        self._form = context.rules.url_policy.without_rewriting
        self._requests = asyncio.Semaphore(AT_ONCE)
        self._next: dict[str, float] = {}
        self._scripts: dict[tuple[str, bool], PartAnswer] = {}
        """By URL, and whether the page was of another origin."""

    def for_page(self) -> Fetch:
        """Return what gets the parts of one page, no more of them than a page may have."""
        left = self._section.parts

        async def fetch(request: PartRequest) -> PartAnswer | None:
            nonlocal left
            left -= 1
            return await self._part(request) if left >= 0 else None

        return fetch

    async def _part(self, request: PartRequest) -> PartAnswer | None:
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
        url = self._form.canonical(written)
        if url is None or not url.startswith("http") or not await self._allowed(url, bare=bare):
            return None
        if bare and self._shows_certificate(url):
            return None
        async with self._requests:
            await self._turn(site_of(url))
            try:
                return await self._send(self._request(url, headers, bare=bare))
            except (DownloadFailedError, IgnoreRequest, LoginFailedError, OSError) as error:
                logger.info("%s, a part of a page, was not got: %s", url, error)
                return None

    async def _allowed(self, url: str, *, bare: bool) -> bool:
        """Whether a part may be asked for: inclusions do not count, they are about pages."""
        rules = self._context.rules
        rule = rules.boundary.exclusion(url)
        if rule is not None:
            self._context.counters.count_excluded_later(rule)
            return False
        if not rules.robots.obey:
            return True
        robots = self._robots
        known = robots.known(url)
        if known is None:
            known = await asyncio.shield(robots.fetch_without_credentials(url) if bare else robots.fetch(url))
        return not known.blocks(url)

    def _shows_certificate(self, url: str) -> bool:
        """Whether a client certificate would be shown; Scrapy's own handler knows no request without it."""
        parts = split(url)
        return parts.scheme == "https" and (parts.host, parts.port) in self._certified

    async def _turn(self, site: str) -> None:
        now, delay = time.monotonic(), self._section.delay
        if delay is None:
            await self._context.queue.wait_for_turn(site)
            return
        at = max(self._next.get(site, 0.0), now)
        self._next[site] = at + delay
        if at > now:
            await asyncio.sleep(at - now)

    def _request(self, url: str, asked: dict[str, str], *, bare: bool) -> Request:
        context = self._context
        grouping = context.rules.grouping
        headers = {
            **context.rules.headers,
            **{name: asked[name] for name in _ASKED_WITH if name in asked},
        }
        meta = {
            "download_slot": "javascript",
            "download_timeout": min(context.source.limits.timeout, self._section.timeout),
            "handle_httpstatus_all": True,
            **({"cookiejar": grouping.of(host_of(url))} if grouping else {}),
            **({BARE: True} if bare else {}),
        }
        return Request(url, headers=headers, meta=meta, dont_filter=True)


def _answer(response: Response) -> PartAnswer:
    headers = {
        name.decode("latin-1"): b", ".join(values).decode("latin-1")
        for name, values in response.headers.items()
        if name.decode("latin-1").lower() not in _NOT_PASSED
    }
    return PartAnswer(response.status, headers, response.body)
