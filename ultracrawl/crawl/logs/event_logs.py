"""The logs of single events of a crawl that a source may keep, each in a file of its own (FAST 5.6)."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TYPE_CHECKING

from ultracrawl.crawl.logs.columns import ColumnLog, log_path
from ultracrawl.crawl.logs.feed_log import FeedLog
from ultracrawl.crawl.logs.header_log import HeaderLog
from ultracrawl.crawl.logs.score_log import ScoreLog
from ultracrawl.crawl.logs.site_log import SiteLog
from ultracrawl.crawl.logs.visit_logs import FetchLog, ItemLog
from ultracrawl.errors import WorkError

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.visit import Visit
    from ultracrawl.rules.frontier.site_registry import Watch


class EventLogs:
    """Makes the logs that a source keeps; one that it does not keep is None, and costs nothing."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._logs: list[ColumnLog] = []
        kept = context.source.log
        own = (name for entry in context.source.site_headers.values() for name in entry.headers)
        self.fetch = FetchLog(self._log("fetch")) if kept.fetch else None
        """The log of downloads."""
        self.items = self._items(kept.postprocess)
        """The log of decisions about items."""
        self.headers = HeaderLog(self._log("header"), own) if kept.header else None
        """The log of request and response headers."""
        self.scores = ScoreLog(self._log("scheduler")) if kept.scheduler else None
        """The log of what adaptive refreshing chose."""
        self.feed = FeedLog(self._log("dsfeed"), context.source.name) if kept.dsfeed else None
        """The log of what went to the index."""
        self._sites: SiteLog | None = None

    def _items(self, form: str) -> ItemLog | None:
        if form == "none":
            return None
        return ItemLog(self._log("postprocess"), xml=form == "xml")

    def _log(self, name: str) -> ColumnLog:
        project = self._context.project
        path = log_path(project, self._context.source.name, name)
        self._logs.append(ColumnLog(path, project.logs.size, self._context.clock))
        return self._logs[-1]

    def open(self) -> None:
        """Listen to the ends of visits, and to those that are tried again."""
        for log in (self.fetch, self.items):
            if log is not None:
                self._listen(log.note_visit)
        if self.fetch is not None:
            self._context.hooks.visit_retried.append(self.fetch.again)

    def _listen(self, ended: Callable[[Visit], None]) -> None:
        self._context.hooks.visit_ended.append(ended)

    def watch(self, given_up: Container[str]) -> Watch | None:
        """Return what is to be told of the sites that get a place or lose it; None if there is no log of them."""
        context = self._context
        if not context.source.log.site or context.run.replay:
            return None
        run = context.mark.number

        def known(site: str) -> bool:
            return run > 1 and context.store.sites.get_site(site) is not None

        self._sites = SiteLog(self._log("site"), known, given_up)
        self._listen(self._sites.note_visit)
        return self._sites.moved

    def note_run_end(self) -> None:
        """Note what is known at the end of a run."""
        if self._sites is not None:
            self._sites.note_run_end()

    def flush(self) -> None:
        """Write what was noted; a log that cannot be written is given up, and the report tells of it."""
        for log in self._logs:
            try:
                log.flush()
            except WorkError as error:
                log.given_up = True
                self._context.run.note_problem(error)
