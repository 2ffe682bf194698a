"""URL rewriting as a downloader middleware, for spiders without a definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from ultracrawl.crawl import has_definition

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class RewriterMiddleware:
    """Sends requests to the URLs that rules and a rewriter make of theirs.

    A rewritten request goes through scheduler and dupe filter again, with its callback and everything else, so that two
    links that become one URL are one request.
    """

    def __init__(self, rewrite: Callable[[Request], Request | None]) -> None:
        """`rewrite` returns what takes the place of a request, None if it may go on; it may raise `IgnoreRequest`."""
        self._rewrite = rewrite

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a crawler. Raises `NotConfigured` for that of a source."""
        if has_definition(crawler):
            raise NotConfigured("the links of a source are rewritten when they are found")
        from ultracrawl.crawl.standalone.request_rewriting import RequestRewriting  # noqa: PLC0415 - sources need none of it

        return cls(RequestRewriting.from_crawler(crawler).rewrite)

    def process_request(self, request: Request) -> Request | None:
        """Return the rewritten request, if it is another one. Raises `IgnoreRequest` for one that is dropped."""
        return self._rewrite(request)
