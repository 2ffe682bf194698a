"""Which sitemaps are not read."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ultracrawl.model import StatusCode
from ultracrawl.rules.urls.canonical import site_of

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.visit import SitemapJob

logger = logging.getLogger(__name__)

DEEPEST = 3
"""Indexes that may stand above a sitemap, one in the other."""
OTHER_HOST = "sitemap of another host"
TOO_DEEP = f"sitemaps nested deeper than {DEEPEST}"


class SitemapRules:
    """Refuses sitemaps by where they stand and by the boundary of the source."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context

    def refusal(self, url: str, task: SitemapJob) -> str | None:
        """Return the rule that keeps a sitemap from being read: inclusions do not count, they are about pages."""
        if task.level > DEEPEST:
            return TOO_DEEP
        if task.level and task.sites is not None and site_of(url) not in task.sites:
            return OTHER_HOST
        return self._context.rules.boundary.exclusion(url)

    def note_refusal(self, href: str, rule: str, task: SitemapJob) -> None:
        """Have the report count a sitemap that is not read, unless nobody named it."""
        if not task.tentative:
            self._context.counters.count_excluded(rule)
            logger.info("sitemap not read: %.500s (%s)", href, rule)

    def stays_page(self, key: int) -> bool:
        """Whether a URL is known as a page of this source, so that it is not read as a sitemap."""
        record = self._context.store.records.get_record(key)
        return record is not None and record.status_code != StatusCode.WRONG_TYPE
