"""Ends a crawl that cannot begin, for instance because its source is being crawled or its state is damaged."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import CloseSpider

from ultracrawl.errors import UltracrawlError, UserError
from ultracrawl.settings.presets import WATCHED_SETTING
from ultracrawl.stores.project_stores import source_notes
from ultracrawl.stores.source_notes.failure import FailureNote, note_failure

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ultracrawl.run.context import CrawlContext

logger = logging.getLogger(__name__)

REFUSED = "cannot begin"
"""Close reason of the spider."""


def refuse(crawler: Crawler, context: CrawlContext, error: UltracrawlError) -> None:
    """End a crawl that cannot begin.

    Scrapy prints a traceback for a scheduler that raises, so the spider is closed instead. Our own commands read the
    error from the crawl afterwards. Under Scrapy's commands it is logged here, and the crawler is left without a
    spider, which gives exit code 1.
    """
    if crawler.settings.getbool(WATCHED_SETTING):
        crawler.signals.connect(_close, signals.spider_opened, weak=False)
        return
    logger.error("%s: not crawled: %s", context.source.name, error)
    close_as_failed(crawler)
    leave_note(context, str(error))


def refuse_late(crawler: Crawler, context: CrawlContext, error: UserError) -> None:
    """Report a crawl that is ending like one that could not begin: the user's mistake showed after the beginning."""
    if not crawler.settings.getbool(WATCHED_SETTING):
        logger.error("%s: not crawled: %s", context.source.name, error)
        _end_as_failed(crawler)


def close_as_failed(crawler: Crawler) -> None:
    """Close a spider as soon as it is open and leave the crawler without one, which Scrapy reports as a failure."""
    crawler.signals.connect(_close, signals.spider_opened, weak=False)
    _end_as_failed(crawler)


def leave_note(context: CrawlContext, problem: str) -> None:
    """Store for `ultracrawl status` what prevented or ended a crawl."""
    notes = source_notes(context.project, context.source.name)
    note_failure(notes, FailureNote(context.clock(), problem))


def _end_as_failed(crawler: Crawler) -> None:
    crawler.signals.connect(_spider_remover(crawler), signals.spider_closed, weak=False)


def _spider_remover(crawler: Crawler) -> Callable[[], None]:
    def remove_spider() -> None:
        crawler.spider = None

    return remove_spider


def _close() -> None:
    raise CloseSpider(REFUSED)
