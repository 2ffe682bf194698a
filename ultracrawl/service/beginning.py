"""Turns what kept a crawl from beginning into one line, and leaves a note of it for `status`."""

from __future__ import annotations

import logging
import time

from scrapy.crawler import Crawler

from ultracrawl.crawl import running_crawl
from ultracrawl.errors import UltracrawlError, UserError, WorkError
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores.failure_note import FailureNote, note_failure
from ultracrawl.stores.opening import state_file

logger = logging.getLogger(__name__)


def refusal_of(crawler: Crawler) -> UltracrawlError | None:
    """Return why a crawl that ended could not begin, None if it could."""
    crawl = running_crawl(crawler)
    return crawl.refused if crawl is not None else None


def refused(project: Project, source: DataSource, error: Exception) -> UltracrawlError:
    """Return an error that kept a crawl from beginning as one line, which is noted for `status`."""
    told = error if isinstance(error, UltracrawlError) else _in_a_line(source, error)
    file = state_file(project, source.name)
    if file is not None:
        note_failure(file, FailureNote(time.time(), str(told)))
    return told


def _in_a_line(source: DataSource, error: Exception) -> UltracrawlError:
    """Return an error of somebody's code, or of ours; its traceback is for logs that tell more."""
    logger.warning("The crawl of %s cannot begin", source.name, exc_info=error)
    what = " ".join(f"{type(error).__name__}: {error}".split())
    if source.spider_class or source.settings:
        return UserError(f"source {source.name!r}: {what}; look at its `class` and `settings`")
    return WorkError(f"source {source.name!r}: the crawl cannot begin: {what}")
