"""robots.txt: requests wait for the rules of their host, and forbidden ones are dropped."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Protocol

from scrapy.exceptions import IgnoreRequest

from ultracrawl.model import Cause, CauseCode, StatusCode, UrlOutcome
from ultracrawl.rules.robots.policy import origin_of
from ultracrawl.rules.robots.rules import RobotsRules
from ultracrawl.run import CrawlContext, Visit, context_of, has_definition, parts_of, standalone, visit_of
from ultracrawl.run.discovery.robots_cache import RobotsCache
from ultracrawl.run.download_errors.kinds import Failure
from ultracrawl.run.download_errors.retry_policy import RetryPolicy
from ultracrawl.run.ending import Ending

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class RobotsSource(Protocol):
    """Provides the rules of robots.txt."""

    def known(self, url: str) -> RobotsRules | None:
        """Return the rules for a URL; None if they have to be fetched."""

    def fetch(self, url: str) -> Awaitable[RobotsRules]:
        """Fetch the rules for a URL."""


class RobotsGate(Protocol):
    """Selects the requests that robots.txt applies to, and records the forbidden ones."""

    def judged_url(self, request: Request) -> str:
        """Return the URL to check; empty for a request that robots.txt does not apply to."""

    def record_refusal(self, request: Request, rules: RobotsRules) -> str:
        """Record that a request is forbidden; returns the reason."""


class RobotsMiddleware:
    """Drops the requests that robots.txt forbids.

    All first requests to a host wait for its rules. The scheduler of a source only releases requests to origins whose
    rules are known, so in its crawl only requests from elsewhere wait. Spiders without a definition obey robots.txt as
    Scrapy's settings say.
    """

    def __init__(self, robots: RobotsSource, gate: RobotsGate) -> None:
        self._robots = robots
        self._gate = gate

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the middleware for a crawler."""
        if not has_definition(crawler):
            site_robots = standalone.SiteRobots.from_crawler(crawler)
            return cls(site_robots, site_robots)
        robots, errors = parts_of(crawler)[RobotsCache], parts_of(crawler)[RetryPolicy]
        return cls(robots, VisitGate(context_of(crawler), robots.network_error, errors.handle_unrequested))

    async def process_request(self, request: Request) -> None:
        """Pass a request that robots.txt allows. Raises `IgnoreRequest` for others."""
        url = self._gate.judged_url(request)
        if not url:
            return
        rules = self._robots.known(url)
        if rules is None:
            rules = await asyncio.shield(self._robots.fetch(url))
        if rules.blocks(url):
            raise IgnoreRequest(self._gate.record_refusal(request, rules))


class VisitGate:
    """Ends the visits that robots.txt forbids, with status 951 or as a network error."""

    def __init__(
        self,
        context: CrawlContext,
        silence: Callable[[str], Failure | None],
        end_unasked: Callable[[Visit, Failure, Cause], None],
    ) -> None:
        """`silence` returns the network error, or refused address, of the latest request for the robots.txt of a URL.

        `end_unasked` ends or retries a visit without a request: with that error, and the cause to record.
        """
        self._context = context
        self._silence = silence
        self._end_unasked = end_unasked
        self._obeys = context.rules.robots.obey

    def judged_url(self, request: Request) -> str:
        """Return the URL of a visit to a server, if robots.txt is obeyed."""
        applies = self._obeys and visit_of(request) is not None and origin_of(request.url)
        return request.url if applies else ""

    def record_refusal(self, request: Request, rules: RobotsRules) -> str:
        """End the visit."""
        visit = visit_of(request)
        assert visit is not None
        decision = rules.allowed(visit.url)
        silence = self._silence(request.url)
        cause = Cause(CauseCode.ROBOTS_UNKNOWN, decision.reason, silence.cause.code if silence else "")
        if rules.unavailable and silence is not None:
            # The request of the page would have failed alike, so the error rules of the definition apply.
            self._end_unasked(visit, silence, cause)
        elif rules.unavailable:
            self._finish(visit, UrlOutcome.NETWORK_ERROR, cause)
        else:
            cause = Cause(CauseCode.ROBOTS, decision.rule, decision.reason)
            self._context.counters.count_excluded_later(f"robots.txt {decision.rule}")
            logger.info("30031 excluded by robots.txt: %s", visit.url)
            self._finish(visit, UrlOutcome.ROBOTS, cause)
        return str(cause)

    def _finish(self, visit: Visit, outcome: UrlOutcome, cause: Cause) -> None:
        self._context.endings.end_visit(
            visit, Ending(outcome, StatusCode.NOT_CRAWLED, cause, requested=False)
        )
