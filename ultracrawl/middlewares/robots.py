"""robots.txt: no page is asked for before the rules of its host are known."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Protocol

from scrapy.exceptions import IgnoreRequest

from ultracrawl.crawl import CrawlContext, Visit, context_of, feature_of, visit_of
from ultracrawl.crawl.discovery.robots_cache import RobotsCache
from ultracrawl.crawl.download_errors.kinds import Failure
from ultracrawl.crawl.download_errors.retry_policy import RetryPolicy
from ultracrawl.crawl.ending import Ending
from ultracrawl.model import Cause, CauseCode, StatusCode, UrlOutcome
from ultracrawl.rules.robots.rules import RobotsRules

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class RobotsSource(Protocol):
    """Where the rules of robots.txt come from."""

    def known(self, url: str) -> RobotsRules | None:
        """Return the rules for a URL if they are known."""

    def fetch(self, url: str) -> Awaitable[RobotsRules]:
        """Fetch the rules for a URL."""

    def silence(self, url: str) -> Failure | None:
        """Return the network error with which the server met the latest request for its rules, if it did."""


class RobotsMiddleware:
    """Ends the visits that robots.txt forbids.

    The scheduler hands a request out only when the rules of its origin are known. A request that comes another way
    awaits them here, so that the first requests to a host wait for its rules however many run at once.
    """

    def __init__(
        self,
        context: CrawlContext,
        robots: RobotsSource,
        end_unasked: Callable[[Visit, Failure, Cause], None],
    ) -> None:
        """`end_unasked` acts on a visit whose server is silent: with its error, and the cause to be recorded."""
        self._context = context
        self._robots = robots
        self._end_unasked = end_unasked
        self._policy = context.rules.robots

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a crawler."""
        robots, errors = feature_of(crawler, RobotsCache), feature_of(crawler, RetryPolicy)
        return cls(context_of(crawler), robots, errors.handle_unasked)

    async def process_request(self, request: Request) -> None:
        """Let a request pass if robots.txt does; else end its visit with 951 or as a network error."""
        visit = visit_of(request)
        if visit is None or not self._policy.obey:
            return
        rules = self._robots.known(request.url)
        if rules is None:
            rules = await asyncio.shield(self._robots.fetch(request.url))
        if rules.blocks(request.url):
            self._refuse(visit, rules, request.url)

    def _refuse(self, visit: Visit, rules: RobotsRules, url: str) -> None:
        decision = rules.allowed(visit.url)
        cause = Cause(CauseCode.ROBOTS_UNKNOWN, decision.reason)
        silence = self._robots.silence(url)
        if rules.unavailable and silence is not None:
            # The page would have met the same error: what the definition says of such errors holds for it.
            self._end_unasked(visit, silence, cause)
        elif rules.unavailable:
            self._finish(visit, UrlOutcome.NETWORK_ERROR, cause)
        else:
            cause = Cause(CauseCode.ROBOTS, decision.rule, decision.reason)
            self._context.counters.count_excluded_later(f"robots.txt {decision.rule}")
            logger.info("30031 excluded by robots.txt: %s", visit.url)
            self._finish(visit, UrlOutcome.ROBOTS, cause)
        raise IgnoreRequest(str(cause))

    def _finish(self, visit: Visit, outcome: UrlOutcome, cause: Cause) -> None:
        self._context.endings.end_visit(visit, Ending(outcome, StatusCode.NOT_CRAWLED, cause, asked=False))
