"""robots.txt for a spider without a definition: fetched once for each origin, on the way of its other requests."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.exceptions import DownloadTimeoutError, NotConfigured
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.httpobj import urlparse_cached

from ultracrawl.crawl.download_errors.kinds import failure_of
from ultracrawl.model.status import REDIRECTS
from ultracrawl.rules.robots.policy import MAX_REDIRECTS, RobotsPolicy, origin_of
from ultracrawl.rules.urls.canonical import DEFAULT_POLICY

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

    from ultracrawl.rules.robots.rules import RobotsRules

logger = logging.getLogger(__name__)

PATH = "/robots.txt"
_SCRAPYS_OWN = "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"
_VERSION = re.compile(r"[/(].*", re.DOTALL)
_META = {"dont_obey_robotstxt": True, "dont_redirect": True}


@dataclass(frozen=True, slots=True)
class _Copy:
    rules: RobotsRules
    fetched: float
    """Monotonic seconds."""


class SiteRobots:
    """The rules of each origin that a spider meets; one task an origin fetches them, and all its requests await it.

    4xx means that everything is allowed, 5xx or no answer that nothing is for now; that is asked again after a minute.
    """

    def __init__(
        self,
        policy: RobotsPolicy,
        download: Callable[[Request], Awaitable[Response]],
        stats: StatsCollector,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`download` sends a request through the middlewares of the crawler."""
        self._policy = policy
        self._download = download
        self._stats = stats
        self._clock = clock
        self._copies: dict[str, _Copy] = {}
        self._tasks: dict[str, asyncio.Task[RobotsRules]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it for a crawler. Raises `NotConfigured` without an asyncio event loop."""
        if not is_asyncio_available():
            raise NotConfigured("it needs the asyncio reactor, which is Scrapy's default (TWISTED_REACTOR)")
        settings = crawler.settings
        base = settings.get_component_priority_dict_with_base("DOWNLOADER_MIDDLEWARES")
        if settings.getbool("ROBOTSTXT_OBEY") and base.get(_SCRAPYS_OWN) is not None:
            logger.warning("ROBOTSTXT_OBEY is on, too: every robots.txt is fetched twice; set it to False")
        agent = getattr(crawler.spider, "user_agent", None) or settings["USER_AGENT"]
        name = robot_name(settings["ROBOTSTXT_USER_AGENT"] or agent)
        assert crawler.stats is not None

        async def download(request: Request) -> Response:
            assert crawler.engine is not None
            return await crawler.engine.download_async(request)

        return cls(RobotsPolicy(name=name), download, crawler.stats)

    def judged_url(self, request: Request) -> str:
        """Return the canonical URL of a request for a page of the web that may not pass without a look."""
        parts = urlparse_cached(request)
        exempt = request.meta.get("dont_obey_robotstxt") or parts.path == PATH
        if exempt or parts.scheme not in {"http", "https"}:
            return ""
        return DEFAULT_POLICY.canonical(request.url) or request.url

    def known(self, url: str) -> RobotsRules | None:
        """Return the rules for a URL if they are known, and young enough."""
        copy = self._copies.get(origin_of(url))
        if copy is None or not self._policy.is_young(copy.rules, self._clock() - copy.fetched):
            return None
        return copy.rules

    def fetch(self, url: str) -> asyncio.Task[RobotsRules]:
        """Return the task that fetches the rules for a URL, the one that runs already if there is one."""
        origin = origin_of(url)
        task = self._tasks.get(origin)
        if task is None:
            task = self._tasks[origin] = asyncio.ensure_future(self._renew(origin))
        return task

    def record_refusal(self, request: Request, rules: RobotsRules) -> str:
        """Count a request that is not sent."""
        decision = rules.allowed(DEFAULT_POLICY.canonical(request.url) or request.url)
        self._stats.inc_value("robotstxt/unavailable" if rules.unavailable else "robotstxt/forbidden")
        logger.debug("Forbidden by robots.txt (%s): %s", decision.reason, request)
        return f"robots.txt: {decision.rule} ({decision.reason})"

    async def _renew(self, origin: str) -> RobotsRules:
        try:
            rules = await self._ask(origin)
        finally:
            del self._tasks[origin]
        before = self._copies.get(origin)
        if rules.unavailable:
            logger.warning("%s%s: %s", origin, PATH, rules.unavailable)
            if before is not None and not before.rules.unavailable:
                rules = before.rules  # rules that cannot be had again stay as they were (RFC 9309 2.4)
        self._copies[origin] = _Copy(rules, self._clock())
        return rules

    async def _ask(self, origin: str) -> RobotsRules:
        """Return the rules that follow from the answer, after redirects."""
        url = DEFAULT_POLICY.canonical(origin + PATH) or origin + PATH
        for _ in range(MAX_REDIRECTS + 1):
            self._stats.inc_value("robotstxt/request_count")
            request = Request(url, callback=NO_CALLBACK, dont_filter=True, meta=dict(_META))
            try:
                response = await self._download(request)
            except Exception as failure:  # whatever the handler raises, the origin is judged by it
                timed_out = isinstance(failure, DownloadTimeoutError)
                return self._policy.judge_response(
                    None, error=str(failure_of(failure).cause), timed_out=timed_out
                )
            self._stats.inc_value("robotstxt/response_count")
            self._stats.inc_value(f"robotstxt/response_status_count/{response.status}")
            location = response.headers.get("Location")
            if response.status not in REDIRECTS or not location:
                return self._policy.judge_response(response.status, response.body)
            target = DEFAULT_POLICY.canonical(location.decode("utf-8", "replace"), url)
            if not target:
                break
            url = target
        # RFC 9309 2.3.1.2: after that many redirects robots.txt counts as missing.
        return self._policy.judge_response(404)


def robot_name(agent: str) -> str:
    """Return the name by which robots.txt addresses a user agent: what stands before version and comment."""
    return " ".join(_VERSION.sub("", agent).split()) or agent
