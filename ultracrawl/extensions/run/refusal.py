"""A crawl that cannot begin (its source is being crawled, its state is damaged): it asks for nothing and ends."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import CloseSpider

from ultracrawl.errors import UltracrawlError, WorkError

if TYPE_CHECKING:
    from ultracrawl.extensions.session import CrawlSession

logger = logging.getLogger(__name__)

REFUSED = "cannot begin"
"""The reason with which Scrapy closes the spider."""


def begin(session: CrawlSession) -> bool:
    """Open a session; if that is not possible, the crawl ends at once and `session.refused` says why.

    Scrapy takes a scheduler that raises for a fault of its own and tells it in tracebacks; so it is asked to close.
    """
    try:
        session.open()
    except UltracrawlError as error:
        session.refused = error
        logger.warning("%s cannot be crawled: %s", session.source.name, error)
        session.crawler.signals.connect(_close, signals.spider_opened, weak=False)
    return session.refused is None


def _close() -> None:
    raise CloseSpider(REFUSED)


def abandon(session: CrawlSession) -> None:
    """Let go of what was opened before something failed."""
    session.hosts.close()
    session.conversion.close()
    if session.filtering is not None:
        session.filtering.stop()
    try:
        if "feed" in vars(session):
            session.feed.close(timeout=10.0)
        if "state" in vars(session):
            session.state.close()
    except WorkError as error:
        logger.error("%s", error)
    finally:
        session.control.close()
