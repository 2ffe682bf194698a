"""Fetches the parts that the scripts of a page request, under the same rules as all requests of a crawl."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Container
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urljoin

from scrapy import Request
from scrapy.exceptions import DownloadFailedError, IgnoreRequest

from ultracrawl.model.status import REDIRECTS
from ultracrawl.rules.robots.policy import origin_of
from ultracrawl.rules.urls.canonical import host_of, site_of, split
from ultracrawl.run.download_errors.kinds import LoginFailedError
from ultracrawl.run.rendering.open_page import Fetch, PartAnswer, PartRequest
from ultracrawl.run.transport.headers import header_of, values_of
from ultracrawl.run.transport.outgoing import ANONYMOUS, MORE_COOKIES, Send

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.rules.robots.rules import RobotsRules
    from ultracrawl.run.context import CrawlContext

logger = logging.getLogger(__name__)

MAX_CACHED_BYTES = 32 << 20
"""Bytes of scripts that are cached, because the pages of a site share them."""
MAX_CONCURRENT_PARTS = 8
"""Parts that are fetched concurrently, for all pages together."""
_MAX_REDIRECTS = 5
"""Redirects that are followed per part."""
_DROPPED_HEADERS = frozenset(
    {"set-cookie", "content-encoding", "content-length", "transfer-encoding", "connection"}
)
_PASSED_HEADERS = ("accept", "accept-language", "x-requested-with", "origin")
_READABLE_TYPES = frozenset({"fetch", "xhr"})
"""Resource types whose content scripts can read; a script of another origin is run but not readable."""
_FRAME = "document"


class RobotsSource(Protocol):
    """The rules of robots.txt for URLs."""

    def known(self, url: str) -> RobotsRules | None:
        """Return the rules for a URL if they were fetched."""

    def fetch(self, url: str) -> asyncio.Future[RobotsRules]:
        """Return the task that fetches the rules for a URL."""

    def fetch_without_credentials(self, url: str) -> asyncio.Future[RobotsRules]:
        """Return the task that fetches the rules for a URL that a script of another origin requests."""


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """The origin that requests a part; empty for an opaque one, such as that of a sandbox.

    Checked here because the browser cannot: it sees every response under the requested URL, redirects included, and
    Playwright lets every origin read responses that are fulfilled in place of the network.
    """

    origin: str
    kind: str

    @classmethod
    def of(cls, part: PartRequest) -> RequestOrigin:
        """Return the origin of a request for a part; a frame counts as requested by its own site."""
        if part.kind == _FRAME:
            return cls(origin_of(part.url), part.kind)
        return cls(origin_of(part.headers.get("origin") or part.initiator), part.kind)

    def is_foreign(self, url: str) -> bool:
        """Return whether a URL is of another origin, which gets no secrets."""
        return not self.origin or origin_of(url) != self.origin

    def may_have(self, response: Response) -> bool:
        """Return whether a response of another origin may be passed on.

        CORS decides for readable types; redirected frames are never passed on.
        """
        if self.kind not in _READABLE_TYPES:
            return self.kind != _FRAME
        allowed = values_of(response)("Access-Control-Allow-Origin")
        return any(value == "*" or (self.origin and origin_of(value) == self.origin) for value in allowed)


class PartFetcher:
    """Fetches the parts of pages through the download handler with its address guard.

    Parts obey robots.txt, the allowed schemes, the exclusions of the boundary and the politeness delay; a refused part
    is missing in the page. Secrets are sent to the page's own origin only, and scripts read responses of other origins
    as CORS permits.
    """

    def __init__(
        self, context: CrawlContext, robots: RobotsSource, send: Send, certified: Container[tuple[str, int]]
    ) -> None:
        """Initialise; `certified` are the sites (host, port) that get a client certificate."""
        self._context = context
        self._robots = robots
        self._send = send
        self._certified = certified
        self._section = context.source.javascript
        self._form = context.rules.url_policy.without_rewriting
        self._requests = asyncio.Semaphore(MAX_CONCURRENT_PARTS)
        self._next: dict[str, float] = {}
        self._scripts: dict[tuple[str, bool], PartAnswer] = {}
        """Cached scripts by URL, and whether the page was of another origin."""

    def for_page(self) -> Fetch:
        """Return a function that fetches the parts of one page, up to the limit of parts per page."""
        left = self._section.parts

        async def fetch(request: PartRequest) -> PartAnswer | None:
            nonlocal left
            left -= 1
            return await self._part(request) if left >= 0 else None

        return fetch

    async def _part(self, request: PartRequest) -> PartAnswer | None:
        """Return a part of a page, None if it is refused or not available."""
        origin = RequestOrigin.of(request)
        key = request.url, origin.is_foreign(request.url)
        cached = self._scripts.get(key) if request.kind == "script" else None
        if cached is not None:
            return cached
        answer = await self._follow(request, origin)
        if answer is not None and request.kind == "script" and answer.status == 200:
            self._cache(key, answer)
        return answer

    def _cache(self, key: tuple[str, bool], answer: PartAnswer) -> None:
        self._scripts[key] = answer
        while sum(len(script.body) for script in self._scripts.values()) > MAX_CACHED_BYTES:
            del self._scripts[next(iter(self._scripts))]

    async def _follow(self, request: PartRequest, origin: RequestOrigin) -> PartAnswer | None:
        url, foreign = request.url, False
        if request.data is not None and origin.is_foreign(url):
            return None
        for _ in range(_MAX_REDIRECTS + 1):
            foreign = foreign or origin.is_foreign(url)
            response = await self._get(url, request, anonymous=foreign)
            if response is None:
                return None
            location = header_of(response, "Location")
            if response.status not in REDIRECTS or not location or request.data is not None:
                return _answer(response) if not foreign or origin.may_have(response) else None
            try:
                url = urljoin(url, location)
            except ValueError:
                return None
        return None

    async def _get(self, written: str, part: PartRequest, *, anonymous: bool) -> Response | None:
        url = self._form.canonical(written)
        if url is None or not url.startswith("http") or not await self._allowed(url, anonymous=anonymous):
            return None
        if anonymous and self._shows_certificate(url):
            return None
        async with self._requests:
            part.note_turn(True)
            try:
                await self._take_turn(site_of(url))
            finally:
                part.note_turn(False)
            try:
                return await self._send(self._request(url, part, anonymous=anonymous))
            except (DownloadFailedError, IgnoreRequest, LoginFailedError, OSError) as error:
                logger.info("The page resource %s was not fetched: %s", url, error)
                part.note_failure()
                return None

    async def _allowed(self, url: str, *, anonymous: bool) -> bool:
        """Return whether a part may be requested; inclusions of the boundary do not apply, they are for pages."""
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
            known = await asyncio.shield(
                robots.fetch_without_credentials(url) if anonymous else robots.fetch(url)
            )
        return not known.blocks(url)

    def _shows_certificate(self, url: str) -> bool:
        """Return whether a client certificate would be sent; Scrapy's handler cannot send requests without it."""
        parts = split(url)
        return parts.scheme == "https" and (parts.host, parts.port) in self._certified

    async def _take_turn(self, site: str) -> None:
        now, delay = time.monotonic(), self._section.delay
        if delay is None:
            await self._context.queue.wait_for_turn(site)
            return
        at = max(self._next.get(site, 0.0), now)
        self._next[site] = at + delay
        if at > now:
            await asyncio.sleep(at - now)

    def _request(self, url: str, part: PartRequest, *, anonymous: bool) -> Request:
        context, page_headers = self._context, part.headers
        grouping = context.rules.grouping
        passed = _PASSED_HEADERS if part.data is None else (*_PASSED_HEADERS, "content-type")
        cookies = part.cookies and not anonymous
        headers = {
            **context.rules.headers,
            **{name: page_headers[name] for name in passed if name in page_headers},
            **({"Cookie": part.cookies} if cookies else {}),
        }
        meta = {
            "download_slot": "javascript",
            "download_timeout": min(context.source.limits.timeout, self._section.timeout),
            "handle_httpstatus_all": True,
            **({"cookiejar": grouping.of(host_of(url))} if grouping else {}),
            **({ANONYMOUS: True} if anonymous else {}),
            **({MORE_COOKIES: True} if cookies else {}),
        }
        method, body = ("GET", b"") if part.data is None else ("POST", part.data)
        return Request(url, method=method, body=body, headers=headers, meta=meta, dont_filter=True)


def _answer(response: Response) -> PartAnswer:
    headers = {
        name.decode("latin-1"): b", ".join(values).decode("latin-1")
        for name, values in response.headers.items()
        if name.decode("latin-1").lower() not in _DROPPED_HEADERS
    }
    return PartAnswer(response.status, headers, response.body)
