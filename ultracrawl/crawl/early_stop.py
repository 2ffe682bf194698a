"""Ends downloads that are of no use any more: refused by their headers, or longer than what is read of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import StopDownload

from ultracrawl.crawl.transport.headers import values_in
from ultracrawl.crawl.visit import visit_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Headers

    from ultracrawl.crawl.session import CrawlSession

CHEAP = 16_384
"""A body that is announced to be this short is let come: that costs less than another connection."""

_COUNT = "ultracrawl_received"


class EarlyStop:
    """Stops downloads by Scrapy's signals; what came so far goes on as the answer, and is judged again as a whole.

    Bytes are counted only for a source with a `cut_off`. It works as long as somebody holds it.
    """

    def __init__(self, session: CrawlSession) -> None:
        self._acceptance = session.context.rules.acceptance
        self._feeds = session.feeds
        self._cut_off = self._acceptance.cut_off
        connect = session.crawler.signals.connect
        connect(self.headers_received, signals.headers_received)
        if self._cut_off is not None:
            connect(self.bytes_received, signals.bytes_received)

    def headers_received(self, request: Request, headers: Headers, body_length: object) -> None:
        """Stop what the headers refuse. Raises `StopDownload`.

        For a length that is not announced each handler has a value of its own; Twisted's is a text.
        """
        visit = visit_of(request)
        if visit is None or visit.sitemap is not None:
            return
        if self._feeds.may_be(visit, (headers.get("Content-Type") or b"").decode("latin-1")):
            return
        request.meta[_COUNT] = None if "Content-Encoding" in headers else 0
        length = body_length if isinstance(body_length, int) else None
        if length is not None and length <= CHEAP:
            return
        if self._acceptance.refuses_head(values_in(headers), length) is not None:
            raise StopDownload(fail=False)

    def bytes_received(self, request: Request, data: bytes) -> None:
        """Stop what is longer than what is read of it, unless it has to be decoded first. Raises `StopDownload`."""
        received = request.meta.get(_COUNT)
        if received is None or self._cut_off is None:
            return
        request.meta[_COUNT] = received + len(data)
        if received + len(data) > self._cut_off:
            raise StopDownload(fail=False)
