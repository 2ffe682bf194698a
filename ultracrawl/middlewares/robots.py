"""robots.txt: no page is asked for before the rules of its host are known."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from scrapy import Request
from scrapy.exceptions import DownloadTimeoutError, IgnoreRequest

from ultracrawl.extensions import CrawlSession, Visit, visit_of
from ultracrawl.extensions.failures import failure_of
from ultracrawl.model import StatusCode, UrlOutcome
from ultracrawl.robots import RobotsRules, origin_of
from ultracrawl.robots.policy import MAX_REDIRECTS

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)


class RobotsMiddleware:
    """Fetches robots.txt once a host and run, and ends the visits that it forbids.

    One task an origin fetches; every request to that origin awaits the same task, so that the first requests
    to a host wait for its rules however many run at once.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._session = CrawlSession.of(crawler)
        self._policy = self._session.rules.robots
        self._origins: dict[str, asyncio.Task[RobotsRules]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a crawler."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Let a request pass if robots.txt does; else end its visit with 951 or as a network error."""
        visit = visit_of(request)
        if visit is None or not self._policy.obey:
            return
        origin = origin_of(request.url)
        task = self._origins.get(origin)
        if task is None:
            task = self._origins[origin] = asyncio.ensure_future(self._fetch(origin))
        rules = task.result() if task.done() else await asyncio.shield(task)
        if rules.blocks(request.url):
            self._refuse(visit, rules)

    def _refuse(self, visit: Visit, rules: RobotsRules) -> None:
        decision = rules.allowed(visit.url)
        if rules.unavailable:
            outcome = UrlOutcome.NETWORK_ERROR
        else:
            outcome = UrlOutcome.ROBOTS
            self._session.report.rejected_by[f"robots.txt {decision.rule}"] += 1
            logger.info("30031 excluded by robots.txt: %s", visit.url)
        self._session.recorder.finish(visit, outcome, StatusCode.NOT_CRAWLED, decision.reason)
        raise IgnoreRequest(decision.reason)

    async def _fetch(self, origin: str) -> RobotsRules:
        url = f"{origin}/robots.txt"
        for _ in range(MAX_REDIRECTS + 1):
            try:
                response = await self._download(url)
            except Exception as failure:  # whatever the download handler raises, the host is judged by it
                timed_out = isinstance(failure, DownloadTimeoutError)
                return self._policy.judge_response(
                    None, error=failure_of(failure).reason, timed_out=timed_out
                )
            location = response.headers.get("Location")
            if response.status not in (301, 302, 303, 307, 308) or not location:
                return self._policy.judge_response(response.status, response.body)
            url = urljoin(url, location.decode("latin-1"))
            if not url.startswith(("http://", "https://")):
                break
        # RFC 9309 2.3.1.2: after that many redirects robots.txt counts as missing.
        return self._policy.judge_response(404)

    async def _download(self, url: str) -> Response:
        headers = dict(self._session.rules.headers)
        meta = {"download_slot": "robots.txt", "download_timeout": self._policy.timeout}
        request = Request(url, headers=headers, dont_filter=True, meta=meta)
        return await self._crawler.engine.download_async(request)
