"""The replacement of a crawl for Scrapy commands that fetch single pages with the spider of a source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.errors import UserError
from ultracrawl.run.composition.assembly import open_stores
from ultracrawl.run.lifecycle import CrawlLifecycle
from ultracrawl.run.page_links import recorder_of
from ultracrawl.run.rewriters import SourceRewriter
from ultracrawl.run.run_counters import RunCounters
from ultracrawl.stores import RunMark

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


def is_inspection(crawler: Crawler) -> bool:
    """Whether a Scrapy command fetches single pages with the spider of a source, instead of crawling the source.

    `fetch`, `view`, `parse` and `check` replace `start()` by requests of their own; `shell` opens the spider without
    starting it.
    """
    spider = crawler.spidercls
    return not crawler.crawling or vars(spider).get("own_start", spider.start) is not spider.start


class PageInspection(CrawlLifecycle):
    """Provides rules, address guard, credentials and an in-memory store to components and handlers.

    No URL is known, no run begins, and no file of the project is opened.
    """

    _inspects = True

    def begin(self) -> bool:
        """Open what decides about a page. Raises `UserError` if rewriter or filters of the source cannot be used."""
        context, parts = self.context, self.parts
        name = context.source.name
        memory = context.project.state.model_copy(update={"engine": "memory"})
        project = context.project.model_copy(update={"state": memory})
        open_stores(parts, self._stack, project, renew=True)
        context.run.mark, context.run.counters = RunMark(0, context.clock()), RunCounters(name)
        context.ports.endings = recorder_of(context)
        if not parts[SourceRewriter].open():
            raise UserError("; ".join(context.run.problems))
        if parts.filtering is not None:
            parts.filtering.start()
        return True
