"""A crawl that cannot begin (its source is being crawled, its state is damaged): it asks for nothing and ends."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import CloseSpider

from ultracrawl.errors import UltracrawlError, UserError
from ultracrawl.settings.presets import WATCHED
from ultracrawl.stores.failure_note import FailureNote, note_failure
from ultracrawl.stores.opening import state_file

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ultracrawl.crawl.context import CrawlContext

logger = logging.getLogger(__name__)

REFUSED = "cannot begin"
"""The reason with which Scrapy closes the spider."""


def refuse(crawler: Crawler, context: CrawlContext, error: UltracrawlError) -> None:
    """End a crawl at once that cannot begin.

    Scrapy prints a traceback for a scheduler that raises, so the engine is asked to close. Our own commands read the
    problem from the crawl afterwards; under Scrapy's own commands it is logged here, and the crawler is left without
    a spider, which gives them exit code 1.
    """
    if crawler.settings.getbool(WATCHED):
        crawler.signals.connect(_close, signals.spider_opened, weak=False)
        return
    logger.error("%s: not crawled: %s", context.source.name, error)
    close_as_failed(crawler)
    leave_note(context, str(error))


def refuse_late(crawler: Crawler, context: CrawlContext, mistake: UserError) -> None:
    """Have a crawl that is ending look like one that could not begin: its source is not as its definition says."""
    if not crawler.settings.getbool(WATCHED):
        logger.error("%s: not crawled: %s", context.source.name, mistake)
        _end_as_failed(crawler)


def close_as_failed(crawler: Crawler) -> None:
    """Have a spider closed as soon as it is open, and the crawler be without one, which Scrapy takes for a failure."""
    crawler.signals.connect(_close, signals.spider_opened, weak=False)
    _end_as_failed(crawler)


def leave_note(context: CrawlContext, problem: str) -> None:
    """Leave a note for `status` of what kept a crawl from beginning, or ended it."""
    file = state_file(context.project, context.source.name)
    if file is not None:
        note_failure(file, FailureNote(context.clock(), problem))


def _end_as_failed(crawler: Crawler) -> None:
    crawler.signals.connect(_without_spider(crawler), signals.spider_closed, weak=False)


def _without_spider(crawler: Crawler) -> Callable[[], None]:
    def closed() -> None:
        crawler.spider = None

    return closed


def _close() -> None:
    raise CloseSpider(REFUSED)
