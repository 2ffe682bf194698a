"""Fetches the parts of pages under the rules of all requests: as scripts ask for them, or to see what has changed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Container, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urljoin

from scrapy import Request
from scrapy.exceptions import DownloadCancelledError, IgnoreRequest
from scrapy.http.headers import Headers

from ultracrawl.model import CauseCode
from ultracrawl.model.status import REDIRECTS
from ultracrawl.rules.frontier.politeness.retry_after import RETRY_AFTER_STATUS, retry_after
from ultracrawl.rules.recrawl.failure_policy import NET, TIMEOUT
from ultracrawl.rules.urls.canonical import host_of, site_of, split
from ultracrawl.run.download_errors.kinds import LoginFailedError, failure_of
from ultracrawl.run.hooks import Feature
from ultracrawl.run.rendering.known_parts import KnownPage, KnownPart
from ultracrawl.run.rendering.open_page import PartAnswer, PartRequest
from ultracrawl.run.rendering.part_origin import (
    ACCEPT_ANY,
    CREDENTIALS,
    FRAME,
    RequestOrigin,
    headers_of_scripts,
    is_stream,
    sent_to_others,
)
from ultracrawl.run.results import FetchedPart
from ultracrawl.run.transport.headers import header_of, url_in_header
from ultracrawl.run.transport.outgoing import ANONYMOUS, MORE_COOKIES, Send
from ultracrawl.run.visit import PART_KEY, Visit
from ultracrawl.sources.compilation.access import credentials_without_passwords

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.rules.robots.rules import RobotsRules
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.sources.sections.fetching.javascript import JavascriptSection

logger = logging.getLogger(__name__)

MAX_CACHED_BYTES = 32 << 20
"""Bytes of scripts that are cached, because the pages of a site share them."""
MAX_CURRENT = 10_000
"""Answers 304 to requests for scripts that are remembered: a site may have a script for each page."""
MAX_CONCURRENT_PARTS = 8
"""Parts that are fetched concurrently, for all pages together."""
PARTS, BYTES, MAX_SIZE = "javascript.parts", "javascript.bytes", "limits.max_size"
"""Options by which a page is refused a part."""
_MAX_REDIRECTS = 5
"""Redirects that are followed per part."""
_DROPPED_HEADERS = frozenset(
    {"set-cookie", "content-encoding", "content-length", "transfer-encoding", "connection"}
)
_DATA = frozenset({"fetch", "xhr"})
_UNAUTHORISED = 401
_NOT_SENT = "headers that scripts set were not sent to other hosts than that of their page"


class RobotsSource(Protocol):
    """The rules of robots.txt for URLs."""

    def known(self, url: str) -> RobotsRules | None:
        """Return the rules for a URL if they were fetched."""

    def fetch(self, url: str) -> asyncio.Future[RobotsRules]:
        """Return the task that fetches the rules for a URL."""

    def fetch_without_credentials(self, url: str) -> asyncio.Future[RobotsRules]:
        """Return the task that fetches the rules for a URL that a script of another origin requests."""


class PageParts:
    """The parts of one page: what is left of its limits, and its parts that wait to be requested."""

    def __init__(self, fetcher: PartFetcher, visit: Visit, options: JavascriptSection) -> None:
        self.visit = visit
        self.options = options
        """The options in force at the site of the page."""
        self._fetcher = fetcher
        self._requests = options.parts
        self._most = options.bytes
        self.received = 0
        """Bytes of its parts so far."""
        self._largest = 0
        self._under_way = 0
        self._arrived = asyncio.Event()
        self.exceeded: set[str] = set()
        """The options by which a part was refused."""
        self.is_cut_by_run = False
        """Whether a part was refused because the run had reached a limit."""
        self.refused = False
        """Whether data of the page were refused, although a log-in is defined for them."""
        self.let_in = False
        """Whether the page got data of its own origin."""
        self.closed = False
        self._waits: set[asyncio.Future[None]] = set()
        self._asked: set[tuple[object, ...]] = set()
        """What the page has asked for."""
        self._known: dict[tuple[object, ...], KnownPart] | None = {}

    def known(self) -> bytes:
        """Return the parts that the page got, as stored beside its validators and its checksum.

        Empty if they cannot be repeated, or if the page still waits for one that it never had.
        """
        if self._known is None or not self._asked <= self._known.keys():
            return b""
        fetch, parts = self.visit.fetch, tuple(self._known.values())
        return KnownPage(fetch.etag, fetch.last_modified, parts, self.visit.checksum.hex()).stored()

    @property
    def has_any(self) -> bool:
        """Whether the page asked for anything."""
        return bool(self._asked)

    async def __call__(self, request: PartRequest) -> PartAnswer | None:
        """Return a part; None if the page may not have it, or is closed."""
        if self._requests <= 0:
            self.exceeded.add(PARTS)
            return None
        self._requests -= 1
        headers = headers_of_scripts(request.headers)
        key = (request.url, request.kind, *headers.items())
        self._asked.add(key)
        # A stream, or one by POST, or with cookies or a secret of scripts, is not repeated without the page.
        if request.data is not None or request.cookies or CREDENTIALS in headers or is_stream(headers):
            self._known = None
        answer = await self._fetcher.fetch(request, self)
        if self._known is not None:
            self._known[key] = KnownPart.of(request, headers, answer)
        return answer

    def note_refusal(self) -> None:
        """Note that data were refused although a log-in is defined for them: the page is to be opened again."""
        self.refused, self._known = True, None

    async def may_request(self) -> bool:
        """Return whether a part may be requested now: the page is open, and may get more bytes.

        Waits for parts that are under way while parts as large as the largest so far would exceed the limit together.
        """
        while self._under_way and self.received + (self._under_way + 1) * self._largest > self._most:
            self._arrived.clear()
            await self._arrived.wait()
        if self.received >= self._most:
            self.exceeded.add(BYTES)
        return not self.closed and self.received < self._most

    @contextmanager
    def requesting(self) -> Iterator[None]:
        """Count a part as under way."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            self._arrived.set()

    def receive(self, size: int) -> None:
        """Count the bytes of a part."""
        self.received += size
        self._largest = max(self._largest, size)

    async def wait(self, waiting: Awaitable[None]) -> bool:
        """Wait for a turn; returns False if the page is closed before."""
        wait = asyncio.ensure_future(waiting)
        self._waits.add(wait)
        try:
            await wait
        except asyncio.CancelledError:
            if not self.closed:
                raise
            return False
        finally:
            self._waits.discard(wait)
        return True

    def close(self) -> None:
        """Request nothing more for the page; requests that are sent already are completed."""
        self.closed = True
        for wait in self._waits:
            wait.cancel()


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
        self._credentials = credentials_without_passwords(context.source, context.rules.trusted_urls)
        self._form = context.rules.url_policy.without_rewriting
        self._places = asyncio.Semaphore(MAX_CONCURRENT_PARTS)
        self._order = defaultdict[str, asyncio.Lock](asyncio.Lock)
        """One part of each site waits for its turn with a place; the others of the site wait for that one."""
        self._next: dict[str, float] = {}
        self._scripts: dict[tuple[str, bool], PartAnswer] = {}
        """Cached scripts by URL, and whether the page was of another origin."""
        self._checking = defaultdict[tuple[object, ...], asyncio.Lock](asyncio.Lock)
        self._current: dict[tuple[object, ...], PartAnswer] = {}
        """The answers 304 of this run to requests for scripts, by URL, whether the page was foreign, and validators."""

    def for_page(self, visit: Visit) -> PageParts:
        """Return what fetches the parts of one page, up to its limits."""
        return PageParts(self, visit, self._context.source_at(visit.url).javascript)

    async def fetch(self, request: PartRequest, page: PageParts) -> PartAnswer | None:
        """Return a part of a page, None if it is refused or not available."""
        origin = RequestOrigin.of(request)
        key = request.url, origin.is_foreign(request.url)
        if request.kind != "script":
            return await self._follow(request, origin, page)
        cached = self._scripts.get(key)
        if cached is not None:
            page.receive(len(cached.body))
            return cached
        if request.validators:
            return await self._check_script(key, request, origin, page)
        answer = await self._follow(request, origin, page)
        if answer is not None and answer.status == 200:
            self._cache(key, answer)
        return answer

    async def _check_script(
        self, key: tuple[str, bool], request: PartRequest, origin: RequestOrigin, page: PageParts
    ) -> PartAnswer | None:
        """Return the answer to a conditional request for a script; pages that share one ask once in a run."""
        condition = (*key, *request.validators.values())
        async with self._checking[condition]:
            answer = self._current.get(condition) or self._scripts.get(key)
            if answer is not None:
                return answer
            answer = await self._follow(request, origin, page)
            if answer is not None and answer.status == 304:
                self._remember_current(condition, answer)
            elif answer is not None and answer.status == 200:
                self._cache(key, answer)
            return answer

    def _remember_current(self, condition: tuple[object, ...], answer: PartAnswer) -> None:
        if len(self._current) >= MAX_CURRENT:
            self._current.clear()
            self._checking.clear()  # at worst a script is asked for twice
        self._current[condition] = answer

    def _cache(self, key: tuple[str, bool], answer: PartAnswer) -> None:
        self._scripts[key] = answer
        while sum(len(script.body) for script in self._scripts.values()) > MAX_CACHED_BYTES:
            del self._scripts[next(iter(self._scripts))]

    async def _follow(
        self, request: PartRequest, origin: RequestOrigin, page: PageParts
    ) -> PartAnswer | None:
        url, foreign = request.url, False
        if request.data is not None and origin.is_foreign(url):
            return None
        for _ in range(_MAX_REDIRECTS + 1):
            foreign = foreign or origin.is_foreign(url)
            response = await self._get(url, request, page, anonymous=foreign)
            if response is None:
                return None
            location = url_in_header(response, "Location")
            if response.status not in REDIRECTS or not location or request.data is not None:
                return _answer(response) if not foreign or origin.may_have(response) else None
            try:
                url = urljoin(url, location)
            except ValueError:
                return None
        return None

    async def _get(
        self, written: str, part: PartRequest, page: PageParts, *, anonymous: bool
    ) -> Response | None:
        url = self._form.canonical(written)
        if url is None or not url.startswith("http") or self._is_excluded(url):
            return None
        if anonymous and self._shows_certificate(url):
            return None
        rules = await self._robots_rules(url, anonymous=anonymous)
        if rules is not None and self._context.rules.robots.obey and rules.blocks(url):
            return None
        delay = -1.0 if rules is None else self._context.rules.robots.delay(rules, -1.0)
        part.note_turn(True)
        try:
            if not await page.wait(self._take_place(site_of(url), delay)):
                return None
        finally:
            part.note_turn(False)
        try:
            request = self._request(url, part, anonymous=anonymous)
            if part.kind in _DATA and not anonymous:
                request.meta[PART_KEY] = page.visit
            return await self._download(request, part, page)
        finally:
            self._places.release()

    async def _download(self, request: Request, part: PartRequest, page: PageParts) -> Response | None:
        """Send a request and tell the crawl of its response; returns None if there is none, or none for who is let in.

        Nothing is sent for a page that is closed or has got its bytes, or when the run has reached a limit.
        """
        if not await page.may_request():
            return None
        if self._context.counters.ended_by:
            part.note_failure()
            page.is_cut_by_run = True
            return None
        try:
            with page.requesting():
                response = await self._send(request)
                page.receive(len(response.body))
        except Exception as error:  # any error of the download handler or a middleware
            logger.info("The page resource %s was not fetched: %s", request.url, error)
            if isinstance(error, DownloadCancelledError):
                page.exceeded.add(MAX_SIZE)
            elif isinstance(error, LoginFailedError):
                page.note_refusal()
            elif not isinstance(error, IgnoreRequest):
                part.note_failure()
            self._tell(page, FetchedPart(request.url, 0, error=_name_of(error)))
            return None
        self._note_login(request, response, page)
        media_type = header_of(response, "Content-Type").partition(";")[0].strip().lower()
        latency = float(request.meta.get("download_latency", 0.0))
        size = len(response.body)
        self._tell(page, FetchedPart(request.url, response.status, media_type, size, latency))
        if response.status in RETRY_AFTER_STATUS:
            longest = self._context.rules.pace.at(site_of(request.url)).longest_retry_after
            seconds = retry_after(header_of(response, "Retry-After"), self._context.clock(), longest)
            if seconds:
                self._context.queue.hold_site(site_of(request.url), seconds)
        return response

    def _note_login(self, request: Request, response: Response, page: PageParts) -> None:
        """Note whether an answer with data shows that a password is accepted; 401 says so of all that is asked for."""
        if PART_KEY not in request.meta:
            return
        if response.status == _UNAUTHORISED and self._credentials.covering(request.url):
            page.note_refusal()
        elif response.status < 300:
            page.let_in = True

    def _tell(self, page: PageParts, part: FetchedPart) -> None:
        for hook in self._context.hooks[Feature.part_received]:
            hook(page.visit, part)

    def _is_excluded(self, url: str) -> bool:
        """Return whether the boundary excludes a part; its inclusions do not apply, they are for pages."""
        rule = self._context.rules.boundary.exclusion(url)
        if rule is not None:
            self._context.counters.count_excluded_later(rule)
        return rule is not None

    async def _robots_rules(self, url: str, *, anonymous: bool) -> RobotsRules | None:
        """Return the rules of robots.txt for a part, None if they are not obeyed."""
        if not self._context.rules.robots.needed:
            return None
        robots = self._robots
        known = robots.known(url)
        if known is not None:
            return known
        task = robots.fetch_without_credentials(url) if anonymous else robots.fetch(url)
        return await asyncio.shield(task)

    def _shows_certificate(self, url: str) -> bool:
        """Return whether a client certificate would be sent; Scrapy's handler cannot send requests without it."""
        parts = split(url)
        return parts.scheme == "https" and (parts.host, parts.port) in self._certified

    async def _take_place(self, site: str, own_delay: float) -> None:
        """Wait for one of the places of concurrent parts, and with it for the turn of the site."""
        async with self._order[site]:
            await self._places.acquire()
            try:
                await self._take_turn(site, own_delay)
            except BaseException:
                self._places.release()
                raise

    async def _take_turn(self, site: str, own_delay: float) -> None:
        """Wait for the turn of a site; `own_delay` is the delay that its robots.txt asks for, negative for none."""
        usual = self._context.source_at(f"http://{site}/").javascript.delay
        delay = usual if own_delay < 0 else own_delay
        if delay is None or own_delay >= 0:
            await self._context.queue.wait_for_turn(site)
        if delay is None:
            return
        now = time.monotonic()
        at = max(self._next.get(site, 0.0), now)
        self._next[site] = at + delay
        if at > now:
            await asyncio.sleep(at - now)

    def _request(self, url: str, part: PartRequest, *, anonymous: bool) -> Request:
        context, grouping = self._context, self._context.rules.grouping
        cookies, there = part.cookies and not anonymous, context.source_at(url)
        headers = Headers(
            context.rules.headers
        )  # by name: what a script sets takes the place of what the crawl says
        if part.kind != FRAME:
            headers["Accept"] = ACCEPT_ANY
        headers.update(self._headers_of_scripts(part, anonymous=anonymous))
        headers.update({**({"Cookie": part.cookies} if cookies else {}), **part.validators})
        meta = {
            "download_slot": "javascript",
            "download_timeout": min(there.limits.timeout, there.javascript.timeout),
            "download_maxsize": there.limits.max_size,
            "handle_httpstatus_all": True,
            **({"cookiejar": grouping.of(host_of(url))} if grouping else {}),
            **({ANONYMOUS: True} if anonymous else {}),
            **({MORE_COOKIES: True} if cookies else {}),
        }
        method, body = ("GET", b"") if part.data is None else ("POST", part.data)
        return Request(url, method=method, body=body, headers=headers, meta=meta, dont_filter=True)

    def _headers_of_scripts(self, part: PartRequest, *, anonymous: bool) -> dict[str, str]:
        """Return what scripts have set, as far as the server of a part may know it; what is left out is told once."""
        headers = headers_of_scripts(part.headers, posts=part.data is not None)
        if not anonymous:
            return headers
        sent = sent_to_others(headers)
        if len(sent) < len(headers):
            self._context.counters.add_new_remark(_NOT_SENT)
            logger.info(
                "%s: %s of its scripts are not sent", part.url, ", ".join(headers.keys() - sent.keys())
            )
        return sent


def _name_of(error: Exception) -> str:
    """Return the name of a failed download in the logs."""
    return TIMEOUT if failure_of(error).cause.code is CauseCode.TIMEOUT else NET


def _answer(response: Response) -> PartAnswer:
    headers = {
        name.decode("latin-1"): b", ".join(values).decode("latin-1")
        for name, values in response.headers.items()
        if name.decode("latin-1").lower() not in _DROPPED_HEADERS
    }
    return PartAnswer(response.status, headers, response.body)
