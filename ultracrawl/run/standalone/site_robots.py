"""robots.txt for a spider without a definition: fetched once per origin, through the spider's downloader."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Self

from scrapy import Request
from scrapy.exceptions import DownloadTimeoutError, NotConfigured
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.httpobj import urlparse_cached

from ultracrawl.dataclass import dataclass
from ultracrawl.model.status import REDIRECTS
from ultracrawl.rules.robots.policy import MAX_REDIRECTS, RobotsPolicy, origin_of
from ultracrawl.rules.urls.canonical import DEFAULT_POLICY
from ultracrawl.run.download_errors.kinds import failure_of
from ultracrawl.run.transport.headers import url_in_header

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

    from ultracrawl.rules.robots.rules import RobotsRules

logger = logging.getLogger(__name__)

PATH = "/robots.txt"
_SCRAPY_MIDDLEWARE = "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"
_VERSION = re.compile(r"[/(].*", re.DOTALL)
_META = {"dont_obey_robotstxt": True, "dont_redirect": True}


@dataclass(frozen=True, slots=True)
class _CachedRules:
    rules: RobotsRules
    fetched: float
    """Monotonic seconds."""


class SiteRobots:
    """The rules of each origin of a spider; one task per origin fetches them, and all its requests await it.

    4xx allows everything; 5xx or no response forbids everything for now and is requested again after a minute.
    """

    def __init__(
        self,
        policy: RobotsPolicy,
        download: Callable[[Request], Awaitable[Response]],
        stats: StatsCollector,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Initialise; `download` sends a request through the middlewares of the crawler."""
        self._policy = policy
        self._download = download
        self._stats = stats
        self._clock = clock
        self._cached: dict[str, _CachedRules] = {}
        self._tasks: dict[str, asyncio.Task[RobotsRules]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the component of a crawler. Raises `NotConfigured` without an asyncio event loop."""
        if not is_asyncio_available():
            raise NotConfigured("it needs the asyncio reactor, which is Scrapy's default (TWISTED_REACTOR)")
        settings = crawler.settings
        base = settings.get_component_priority_dict_with_base("DOWNLOADER_MIDDLEWARES")
        if settings.getbool("ROBOTSTXT_OBEY") and base.get(_SCRAPY_MIDDLEWARE) is not None:
            logger.warning("ROBOTSTXT_OBEY is on, too: every robots.txt is fetched twice; set it to False")
        agent = getattr(crawler.spider, "user_agent", None) or settings["USER_AGENT"]
        name = robot_name(settings["ROBOTSTXT_USER_AGENT"] or agent)
        assert crawler.stats is not None

        async def download(request: Request) -> Response:
            assert crawler.engine is not None
            return await crawler.engine.download_async(request)

        return cls(RobotsPolicy(name=name), download, crawler.stats)

    def judged_url(self, request: Request) -> str:
        """Return the canonical URL of a web request that robots.txt applies to, else ""."""
        parts = urlparse_cached(request)
        exempt = request.meta.get("dont_obey_robotstxt") or parts.path == PATH
        if exempt or parts.scheme not in {"http", "https"}:
            return ""
        return DEFAULT_POLICY.canonical(request.url) or request.url

    def known(self, url: str) -> RobotsRules | None:
        """Return the rules for a URL if they are cached and not expired."""
        cached = self._cached.get(origin_of(url))
        if cached is None or not self._is_fresh(cached):
            return None
        return cached.rules

    def _is_fresh(self, cached: _CachedRules) -> bool:
        age = self._clock() - cached.fetched
        return self._policy.is_fresh(age, unavailable=bool(cached.rules.unavailable))

    def fetch(self, url: str) -> asyncio.Task[RobotsRules]:
        """Return the task that fetches the rules for a URL; a running one is reused."""
        origin = origin_of(url)
        task = self._tasks.get(origin)
        if task is None:
            task = self._tasks[origin] = asyncio.ensure_future(self._renew(origin))
        return task

    def record_refusal(self, request: Request, rules: RobotsRules) -> str:
        """Count a request that is refused; returns the reason."""
        decision = rules.allowed(DEFAULT_POLICY.canonical(request.url) or request.url)
        self._stats.inc_value("robotstxt/unavailable" if rules.unavailable else "robotstxt/forbidden")
        logger.debug("Forbidden by robots.txt (%s): %s", decision.reason, request)
        return f"robots.txt: {decision.rule} ({decision.reason})"

    async def _renew(self, origin: str) -> RobotsRules:
        try:
            rules = await self._fetch_rules(origin)
        finally:
            del self._tasks[origin]
        before = self._cached.get(origin)
        if rules.unavailable:
            logger.warning("%s%s: %s", origin, PATH, rules.unavailable)
            if before is not None and not before.rules.unavailable:
                rules = (
                    before.rules
                )  # if they cannot be fetched again, the previous rules stay (RFC 9309 2.4)
        self._cached[origin] = _CachedRules(rules, self._clock())
        return rules

    async def _fetch_rules(self, origin: str) -> RobotsRules:
        """Return the rules in the response after redirects."""
        url = DEFAULT_POLICY.canonical(origin + PATH) or origin + PATH
        for _ in range(MAX_REDIRECTS + 1):
            self._stats.inc_value("robotstxt/request_count")
            request = Request(url, callback=NO_CALLBACK, dont_filter=True, meta=dict(_META))
            try:
                response = await self._download(request)
            except Exception as failure:  # any error of the handler counts as a failure of the origin
                timed_out = isinstance(failure, DownloadTimeoutError)
                return self._policy.judge_response(
                    None, error=str(failure_of(failure).cause), timed_out=timed_out
                )
            self._stats.inc_value("robotstxt/response_count")
            self._stats.inc_value(f"robotstxt/response_status_count/{response.status}")
            location = url_in_header(response, "Location")
            if response.status not in REDIRECTS or not location:
                return self._policy.judge_response(response.status, response.body)
            target = DEFAULT_POLICY.canonical(location, url)
            if not target:
                break
            url = target
        # RFC 9309 2.3.1.2: after that many redirects robots.txt counts as missing.
        return self._policy.judge_response(404)


def robot_name(agent: str) -> str:
    """Return the name of a user agent in robots.txt: the part before version and comment."""
    return " ".join(_VERSION.sub("", agent).split()) or agent
