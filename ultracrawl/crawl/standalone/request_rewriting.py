"""What becomes of the URLs of a spider without a definition: rules and steps of w3lib first, then its rewriter."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.utils.httpobj import urlparse_cached

from ultracrawl.crawl.standalone.definition import definition_of, open_with_spider, refuse
from ultracrawl.crawl.user_code.rewriters import close_rewriter, make_rewriter, open_rewriter
from ultracrawl.errors import UserError, WorkError
from ultracrawl.rules.boundary.rewriting.rewriter import RewriteOutcome, apply_rewriter
from ultracrawl.rules.urls.canonical import DEFAULT_POLICY
from ultracrawl.sources.loading.settings_loader import parse_rewrite_steps

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from ultracrawl.rules.boundary import UrlRewriter
    from ultracrawl.rules.boundary.rewriting.url_steps import UrlStep

logger = logging.getLogger(__name__)

RULES = "ULTRACRAWL_REWRITE_RULES"
REWRITER = "ULTRACRAWL_REWRITER"
DISPLAY_URL = "display_url"
"""Where in the meta of a request stands the URL to be shown, if a rewriter named one."""
_DONE = "ultracrawl_rewritten"
"""The URL that came out of rewriting; a request that has it there and as its own goes on as it is."""


class RequestRewriting:
    """Rewrites the URL of each request of the web once; robots.txt is asked for where it lies."""

    def __init__(
        self,
        steps: Sequence[UrlStep],
        rewriter: UrlRewriter | None,
        fingerprint: Callable[[Request], bytes],
        stats: StatsCollector,
    ) -> None:
        """`fingerprint` tells requests apart, as Scrapy does."""
        self._steps = tuple(steps)
        self._rewriter = rewriter
        self._fingerprint = fingerprint
        self._stats = stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it for a crawler. Raises `NotConfigured` if neither rules nor a rewriter are set."""
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
        """Let the rewriter release what it holds."""
        try:
            if self._rewriter is not None:
                close_rewriter(self._rewriter)
        except WorkError as error:
            logger.error("%s", error)

    def rewrite(self, request: Request) -> Request | None:
        """Return the request to the rewritten URL, None if it stays. Raises `IgnoreRequest` if it is dropped."""
        parts = urlparse_cached(request)
        if request.meta.get(_DONE) == request.url or parts.scheme not in {"http", "https"}:
            return None
        if parts.path == "/robots.txt":
            return None
        try:
            made = self._replaced(request)
        except ValueError as error:  # of w3lib, or of Scrapy about what is no URL
            self._stats.inc_value("ultracrawl/rewriter_error")
            logger.warning("%s cannot be rewritten: %s", request.url, error)
            raise IgnoreRequest(f"rewriting: {error}") from error
        if made is request:
            return None
        if self._fingerprint(made) == self._fingerprint(request):
            made.dont_filter = True  # the dupe filter knows it: by the request that it replaces
        self._stats.inc_value("ultracrawl/rewritten")
        return made

    def _replaced(self, request: Request) -> Request:
        """Return a request to the URL that is to be asked for, the same one if it stays."""
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
        """Return what the rewriter makes of a URL, and the URL to be shown if it is another one."""
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
