"""The replacement of a crawl for Scrapy commands that fetch single pages with the spider of a source."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ultracrawl.errors import UserError
from ultracrawl.run.hooks import Feature
from ultracrawl.run.lifecycle import CrawlLifecycle
from ultracrawl.run.recorder import Recorder
from ultracrawl.run.relations.related import RelatedDocuments
from ultracrawl.run.run_counters import RunCounters
from ultracrawl.stores import RunMark
from ultracrawl.stores.project_stores import open_sites, open_state

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ultracrawl.run.visit import Visit
    from ultracrawl.sources import DataSource, Project

logger = logging.getLogger(__name__)


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

    def __init__(self, crawler: Crawler, project: Project, source: DataSource) -> None:
        super().__init__(crawler, project, source)
        self.context.run.inspection = True

    def begin(self) -> bool:
        """Open what decides about a page. Raises `UserError` if rewriter or filters of the source cannot be used."""
        context, features = self.context, self.features
        name = context.source.name
        memory = context.project.state.model_copy(update={"engine": "memory"})
        project = context.project.model_copy(update={"state": memory})
        context.ports.store, context.ports.sites = open_state(project, name), open_sites(project)
        context.run.mark, context.run.counters = RunMark(0, context.clock()), RunCounters(name)
        context.ports.endings = Recorder(context.store, context.counters, context.clock, context.hooks)
        context.hooks.call(Feature.visit_ended, _log_ending)
        features.relations = RelatedDocuments(context)
        if not features.rewriting.open():
            raise UserError("; ".join(context.run.problems))
        if features.filtering is not None:
            features.filtering.start()
        return True

    async def end_run(self, reason: str) -> None:
        """Release everything."""
        self.features.rewriting.close()
        await self._close_browser()
        self._abandon()


def _log_ending(visit: Visit) -> None:
    ending = visit.ending
    if ending is not None:
        logger.info("No document from %s: %s", visit.url, ending.cause or ending.outcome)
