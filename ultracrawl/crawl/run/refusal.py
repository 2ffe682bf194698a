"""A crawl that cannot begin (its source is being crawled, its state is damaged): it asks for nothing and ends."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import CloseSpider

from ultracrawl.errors import UltracrawlError, WorkError
from ultracrawl.stores.failure_note import FailureNote, forget_failure, note_failure
from ultracrawl.stores.opening import state_file

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ultracrawl.crawl.session import CrawlSession

logger = logging.getLogger(__name__)

WATCHED = "ULTRACRAWL_WATCHED"
"""The setting of a process that looks at `session.refused` when a crawl has ended."""
REFUSED = "cannot begin"
"""The reason with which Scrapy closes the spider."""


def begin(session: CrawlSession) -> bool:
    """Open a session; if that is not possible, the crawl ends at once and `session.refused` says why.

    Scrapy tells of a scheduler that raises in tracebacks; so it is asked to close. Somebody looks at the session
    afterwards; under Scrapy's own commands it is told here, and the crawler is left without a spider, which gives
    them exit code 1.
    """
    crawler, file = session.crawler, state_file(session.context.project, session.context.source.name)
    try:
        session.open()
    except UltracrawlError as error:
        session.refused = error
        crawler.signals.connect(_close, signals.spider_opened, weak=False)
        if not crawler.settings.getbool(WATCHED):
            logger.error("%s: not crawled: %s", session.context.source.name, error)
            crawler.signals.connect(_without_spider(crawler), signals.spider_closed, weak=False)
            note(session, str(error))
    else:
        if file is not None and not session.context.run.replay:
            forget_failure(file)
    return session.refused is None


def note(session: CrawlSession, problem: str) -> None:
    """Leave a note for `status` of what kept a crawl from beginning, or ended it."""
    file = state_file(session.context.project, session.context.source.name)
    if file is not None:
        note_failure(file, FailureNote(session.context.clock(), problem))


def _without_spider(crawler: Crawler) -> Callable[[], None]:
    def closed() -> None:
        crawler.spider = None

    return closed


def _close() -> None:
    raise CloseSpider(REFUSED)


def abandon(session: CrawlSession) -> None:
    """Let go of what was opened before something failed."""
    session.hosts.close()
    session.conversion.close()
    if session.filtering is not None:
        session.filtering.stop()
    try:
        if "documents" in vars(session.context.ports):
            session.context.documents.close(timeout=10.0)
        if "store" in vars(session.context.ports):
            session.context.store.close()
    except WorkError as error:
        logger.error("%s", error)
    finally:
        session.control.close()
