"""Rules that exclude sitemaps."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ultracrawl.model import StatusCode
from ultracrawl.rules.urls.canonical import site_of

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.visit import SitemapJob

logger = logging.getLogger(__name__)

MAX_LEVEL = 3
"""Limit of nested sitemap indexes above a sitemap."""
OTHER_HOST = "sitemap of another host"
TOO_DEEP = f"sitemaps nested deeper than {MAX_LEVEL}"


class SitemapRules:
    """Excludes sitemaps by nesting, host, and the boundary of the source."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context

    def refusal(self, url: str, job: SitemapJob) -> str | None:
        """Return the rule that excludes a sitemap, or None.

        Of the boundary only exclusions apply: inclusions are about pages.
        """
        if job.level > MAX_LEVEL:
            return TOO_DEEP
        if job.level and job.sites is not None and site_of(url) not in job.sites:
            return OTHER_HOST
        return self._context.rules.boundary.exclusion(url)

    def note_refusal(self, href: str, rule: str, job: SitemapJob) -> None:
        """Count and log a sitemap that is not read, unless its URL was a guess."""
        if not job.tentative:
            self._context.counters.count_excluded(rule)
            logger.info("sitemap not read: %.500s (%s)", href, rule)

    def stays_page(self, key: int) -> bool:
        """Return whether a URL is known as a page of this source, so that it is not read as a sitemap."""
        record = self._context.store.records.get_record(key)
        return record is not None and record.status_code != StatusCode.WRONG_TYPE
