"""robots.txt: no page is asked for before the rules of its host are known."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

from ultracrawl.crawl import CrawlSession, Visit, visit_of
from ultracrawl.model import StatusCode, UrlOutcome
from ultracrawl.rules.robots import RobotsRules

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class RobotsMiddleware:
    """Ends the visits that robots.txt forbids.

    The scheduler hands a request out only when the rules of its origin are known. A request that comes another way
    awaits them here, so that the first requests to a host wait for its rules however many run at once.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._session = CrawlSession.of(crawler)
        self._policy = self._session.context.rules.robots

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a crawler."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Let a request pass if robots.txt does; else end its visit with 951 or as a network error."""
        visit = visit_of(request)
        if visit is None or not self._policy.obey:
            return
        book = self._session.robots
        rules = book.known(request.url)
        if rules is None:
            rules = await asyncio.shield(book.fetch(request.url))
        if rules.blocks(request.url):
            self._refuse(visit, rules, request.url)

    def _refuse(self, visit: Visit, rules: RobotsRules, url: str) -> None:
        decision = rules.allowed(visit.url)
        reason = decision.reason
        visit.asked = False
        silence = self._session.robots.silence(url)
        if rules.unavailable and silence is not None:
            # The page would have met the same error: what the definition says of such errors holds for it.
            self._session.failing.unasked(visit, silence, reason)
        elif rules.unavailable:
            self._finish(visit, UrlOutcome.NETWORK_ERROR, reason)
        else:
            reason = f"30031 excluded by robots.txt: {decision.rule} ({decision.reason})"
            self._session.context.report.turn_away(f"robots.txt {decision.rule}")
            logger.info("30031 excluded by robots.txt: %s", visit.url)
            self._finish(visit, UrlOutcome.ROBOTS, reason)
        raise IgnoreRequest(reason)

    def _finish(self, visit: Visit, outcome: UrlOutcome, reason: str) -> None:
        self._session.context.endings.finish(visit, outcome, StatusCode.NOT_CRAWLED, reason)
