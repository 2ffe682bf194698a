"""URL rewriting for spiders without a definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from ultracrawl.run import has_definition, standalone

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class RewriterMiddleware:
    """Rewrites the URLs of requests by rules and a rewriter.

    A rewritten request passes scheduler and dupe filter again, with its callback and everything else, so that two
    links that become one URL are one request.
    """

    def __init__(self, rewrite: Callable[[Request], Request | None]) -> None:
        """`rewrite` returns the replacement of a request, None for an unchanged one; it may raise `IgnoreRequest`."""
        self._rewrite = rewrite

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the middleware for a crawler. Raises `NotConfigured` in the crawl of a source."""
        if has_definition(crawler):
            raise NotConfigured("the links of a source are rewritten when they are found")
        return cls(standalone.RequestRewriting.from_crawler(crawler).rewrite)

    def process_request(self, request: Request) -> Request | None:
        """Return the rewritten request, None if it is unchanged. Raises `IgnoreRequest` if it is dropped."""
        return self._rewrite(request)
