"""Drops the requests of an ending crawl that get no answer, so that it does not wait for silent servers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ultracrawl.run.hooks import TICK_SECONDS, Feature
from ultracrawl.run.visit import Visit, visit_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

MAX_SILENCE = 5.0
"""Seconds after the order to end for which requests may be without any answer."""


class SilentRequests(Feature):
    """Cancels silent requests when the crawl ends. Their visits have no outcome, and their URLs stay queued."""

    def __init__(
        self, crawler: Crawler, abandon_robots: Callable[[], None], abandon_visit: Callable[[Visit], None]
    ) -> None:
        """`abandon_robots` cancels the requests for robots.txt; `abandon_visit` is called for each visit dropped."""
        self._crawler = crawler
        self._abandon_robots = abandon_robots
        self._abandon_visit = abandon_visit
        self._cancel: Callable[[Request], None] | None = None
        self._seconds = 0.0
        """Time since the crawl was told to end, in ticks: nothing is dropped because the process was suspended."""

    def connect_downloader(self, cancel: Callable[[Request], None]) -> None:
        """Set the function that cancels the request of a visit."""
        self._cancel = cancel

    def tick(self) -> None:
        """Look for silent requests once the crawl is told to end."""
        slot = self._crawler.engine._slot
        if slot is None or slot.closing is None:
            return
        self._seconds += TICK_SECONDS
        if self._seconds < MAX_SILENCE:
            return
        for request in list(slot.inprogress):
            visit = visit_of(request)
            if visit is None:
                self._abandon_robots()
            elif self._cancel is not None and not (visit.done or visit.answering or visit.fetch.status):
                self._abandon_visit(visit)
                self._cancel(request)
