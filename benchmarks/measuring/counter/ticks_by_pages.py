"""An extension of Scrapy for counted crawls: periodic tasks come with pages, and the end is seldom looked for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured

try:
    from ultracrawl.run import lifecycle
    from ultracrawl.run.hooks import Feature
    from ultracrawl.run.writing import finishing
except ImportError:
    lifecycle = None

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

PAGES = 15
"""Pages from tick to tick: as many as a crawl on a quiet machine has in a tenth of a second."""


class TicksByPages:
    """Has a crawl tick with each fifteenth page that ends: what it does then hangs on no clock."""

    def __init__(self, crawler: Crawler) -> None:
        if lifecycle is None:
            raise NotConfigured("it is of another version of the package, and ticks with time")
        self._crawler = crawler
        self._ended = 0
        _replace(lifecycle, "TICK_SECONDS", 3600.0)
        for name in ("_FIRST_POLL", "_POLL_SECONDS"):
            _replace(finishing, name, 0.5)
        crawler.signals.connect(self.opened, signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> TicksByPages:
        """Build the extension."""
        return cls(crawler)

    def opened(self) -> None:
        """Look at all visits from now on."""
        lifecycle.context_of(self._crawler).hooks.call(Feature.visit_ended, self.ended)

    def ended(self, _visit: Any) -> None:
        """Tick when enough pages have ended since the last time."""
        self._ended += 1
        if self._ended % PAGES == 0:
            extension = self._crawler.get_extension(lifecycle.CrawlLifecycle)
            asyncio.get_running_loop().call_soon(extension._tick)


def _replace(module: Any, name: str, seconds: float) -> None:
    getattr(module, name)  # it is still there
    setattr(module, name, seconds)
