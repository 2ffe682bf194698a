"""Rewrites the URLs of a spider without a definition: first rules and steps of w3lib, then its rewriter."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Self

from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.utils.httpobj import urlparse_cached

from ultracrawl.errors import UserError, WorkError
from ultracrawl.rules.boundary.rewriting.rewriter import RewriteOutcome, apply_rewriter
from ultracrawl.rules.urls.canonical import DEFAULT_POLICY
from ultracrawl.run.rewriters import close_rewriter, make_rewriter, open_rewriter
from ultracrawl.run.standalone.definition import definition_of, open_with_spider, refuse
from ultracrawl.sources.loading.settings_loader import parse_rewrite_steps

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from ultracrawl.rules.boundary import UrlRewriter
    from ultracrawl.rules.boundary.rewriting.url_steps import UrlStep

logger = logging.getLogger(__name__)

RULES = "ULTRACRAWL_REWRITE_RULES"
REWRITER = "ULTRACRAWL_REWRITER"
DISPLAY_URL = "display_url"
"""Request meta key of the display URL, if a rewriter returned one."""
_DONE = "ultracrawl_rewritten"
"""Request meta key of the rewritten URL; a request with this URL is not rewritten again."""


class RequestRewriting:
    """Rewrites the URL of each web request once, except those for robots.txt."""

    def __init__(
        self,
        steps: Sequence[UrlStep],
        rewriter: UrlRewriter | None,
        fingerprint: Callable[[Request], bytes],
        stats: StatsCollector,
    ) -> None:
        """Initialise; `fingerprint` identifies requests as Scrapy does."""
        self._steps = tuple(steps)
        self._rewriter = rewriter
        self._fingerprint = fingerprint
        self._stats = stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the component of a crawler. Raises `NotConfigured` if neither rules nor a rewriter are set."""
        settings = crawler.settings
        path = settings.get(REWRITER)
        if not settings.get(RULES) and not path:
            raise NotConfigured(f"neither {RULES} nor {REWRITER} is set")
        definition_of(crawler)
        try:
            rewriter = make_rewriter(path, f"settings - {REWRITER} - `{path}`") if path else None
        except UserError as error:
            refuse(crawler, str(error))
            raise NotConfigured(f"{REWRITER} has a mistake") from error
        assert crawler.stats is not None
        assert crawler.request_fingerprinter is not None
        steps = parse_rewrite_steps({RULES: settings.get(RULES)})
        made = cls(steps, rewriter, crawler.request_fingerprinter.fingerprint, crawler.stats)
        if rewriter is not None:
            open_with_spider(crawler, partial(open_rewriter, rewriter))
            crawler.signals.connect(made.close, signals.spider_closed, weak=False)
        return made

    def close(self) -> None:
        """Close the rewriter."""
        try:
            if self._rewriter is not None:
                close_rewriter(self._rewriter)
        except WorkError as error:
            logger.error("%s", error)

    def rewrite(self, request: Request) -> Request | None:
        """Return a request to the rewritten URL, None if it is unchanged. Raises `IgnoreRequest` if it is dropped."""
        parts = urlparse_cached(request)
        if request.meta.get(_DONE) == request.url or parts.scheme not in {"http", "https"}:
            return None
        if parts.path == "/robots.txt":
            return None
        try:
            made = self._replaced(request)
        except ValueError as error:  # raised by w3lib, or by Scrapy for malformed URLs
            self._stats.inc_value("ultracrawl/rewriter_error")
            logger.warning("%s cannot be rewritten: %s", request.url, error)
            raise IgnoreRequest(f"rewriting: {error}") from error
        if made is request:
            return None
        if self._fingerprint(made) == self._fingerprint(request):
            made.dont_filter = True  # the dupe filter has seen the request that it replaces
        self._stats.inc_value("ultracrawl/rewritten")
        return made

    def _replaced(self, request: Request) -> Request:
        """Return a request to the rewritten URL, the same one if that is unchanged."""
        url = request.url
        for step in self._steps:
            url = step(url)
        url, shown = self._rewritten(url)
        made = request if url == request.url else request.replace(url=url)
        made.meta[_DONE] = made.url
        if shown:
            made.meta[DISPLAY_URL] = shown
        return made

    def _rewritten(self, url: str) -> tuple[str, str]:
        """Return the result of the rewriter, and the display URL if it differs."""
        canonical = DEFAULT_POLICY.canonical(url) if self._rewriter is not None else None
        if self._rewriter is None or canonical is None:
            return url, ""
        result = apply_rewriter(self._rewriter, canonical)
        if result.outcome is RewriteOutcome.KEPT:
            return url, ""
        if result.outcome is RewriteOutcome.REWRITTEN:
            return result.access_url, "" if result.display_url == result.access_url else result.display_url
        if result.outcome is RewriteOutcome.ERROR:
            logger.warning("the rewriter failed for %s: %s", url, result.reason)
        self._stats.inc_value(f"ultracrawl/rewriter_{result.outcome}")
        raise IgnoreRequest(f"url rewriter: {result.reason}")
