"""The redirect boundary of a spider without a definition: refuses redirects out of it; Scrapy follows the others."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Self

from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http.request import NO_CALLBACK

from ultracrawl.model.status import REDIRECTS
from ultracrawl.rules.boundary.redirects import OUTSIDE_MESSAGE, Redirect
from ultracrawl.run.standalone.definition import definition_of, refuse

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

    from ultracrawl.sources import CompiledSource

logger = logging.getLogger(__name__)

SETTING = "ULTRACRAWL_BOUNDARY"
_JUDGED = "ultracrawl_judged_redirects"
"""Number of redirects of a request that were judged; a request made with the meta of a response has the same number."""


class RedirectBoundary:
    """Refuses redirects by the policy of sources: 301, 308 and META refresh only inside, 302, 303 and 307 anywhere.

    Redirects that Scrapy itself refuses (too many, no location, to itself) are left to Scrapy.
    """

    def __init__(self, rules: CompiledSource, stats: StatsCollector, handled: frozenset[int]) -> None:
        """Initialise; `handled` are the statuses that the spider handles itself, so that nothing follows them."""
        self._rules = rules
        self._stats = stats
        self._handled = handled

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the component of a crawler. Raises `NotConfigured` if no boundary is set."""
        if crawler.settings.get(SETTING) is None:
            raise NotConfigured(f"{SETTING} is not set")
        rules = definition_of(crawler).rules
        if rules.boundary.needs_addresses:
            refuse(
                crawler, f"settings - {SETTING} - rules about addresses need a definition; name hosts instead"
            )
        assert crawler.stats is not None
        follows = crawler.settings.getbool("REDIRECT_ENABLED")
        handled = frozenset(getattr(crawler.spider, "handle_httpstatus_list", ())) if follows else REDIRECTS
        made = cls(rules, crawler.stats, handled)
        # Scrapy finds META refreshes later, in the decoded body; the request that it makes is judged when it is queued.
        crawler.signals.connect(made.judge_refresh, signals.request_scheduled)
        return made

    def judge_answer(self, request: Request, response: Response, location: str | None) -> None:
        """Judge a redirect by its status. Raises `IgnoreRequest` if it leads out of the boundary."""
        if not location or _is_for_robots(request) or self._is_handled(request, response.status):
            return
        self._judge(response.status, request.url, location)
        request.meta[_JUDGED] = request.meta.get("redirect_times", 0) + 1

    def judge_refresh(self, request: Request) -> None:
        """Judge a request that Scrapy made from a META refresh. Raises `IgnoreRequest` if it is out of bounds."""
        times, urls = request.meta.get("redirect_times", 0), request.meta.get("redirect_urls")
        if not urls or times == request.meta.get(_JUDGED, 0):
            return
        request.meta[_JUDGED] = times
        reason = request.meta.get("redirect_reasons", [None])[-1]
        if reason == "meta refresh":  # sentence: Scrapy's code for it
            self._judge(0, urls[-1], request.url)

    def _is_handled(self, request: Request, status: int) -> bool:
        meta = request.meta
        return bool(
            meta.get("dont_redirect")
            or meta.get("handle_httpstatus_all")
            or status in self._handled
            or status in meta.get("handle_httpstatus_list", ())
        )

    def _judge(self, status: int, url: str, location: str) -> None:
        canonical, rules = self._rules.url_policy.canonical, self._rules
        redirect = Redirect(status, canonical(url) or url, canonical(location, url) or "")
        if rules.redirects.decide(redirect, rules.boundary).message != OUTSIDE_MESSAGE:
            return
        self._stats.inc_value("ultracrawl/redirects_refused")
        logger.info("30040 redirection outside the boundary, URL ignored: %s", redirect)
        raise IgnoreRequest(f"redirect out of the boundary: {redirect}")


def _is_for_robots(request: Request) -> bool:
    """Return whether a request is for robots.txt, which may be redirected anywhere (RFC 9309 2.3.1.2)."""
    return request.callback is NO_CALLBACK and bool(request.meta.get("dont_obey_robotstxt"))
