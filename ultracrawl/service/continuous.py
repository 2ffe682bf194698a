"""Runs until it is stopped, and begins the cycles of sources when they are due."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from scrapy.crawler import Crawler

from ultracrawl.crawl import RunningCrawl, feature_of, running_crawl
from ultracrawl.errors import StateError, UserError
from ultracrawl.model import RunReport
from ultracrawl.rules.recrawl.cycle import CyclePlace
from ultracrawl.service.beginning import refusal_of, refused
from ultracrawl.service.completion import complete
from ultracrawl.service.process import crawler_process
from ultracrawl.service.reactor import run_reactor
from ultracrawl.service.run import WATCH_EVERY, Watcher
from ultracrawl.sources import DataSource, Project
from ultracrawl.spiders.loader import spider_class
from ultracrawl.stores.opening import open_state, state_exists

REST = 1.0
"""Seconds between a cycle that ended and the next one of a source that is refreshed when idle."""
REST_AFTER_FAILURE = 60.0
"""Seconds after which a source that could not begin is tried again."""
LONGEST_SLEEP = 30.0
"""Seconds after which the clock is looked at again: it may have been set, or the machine suspended."""
CYCLE_OVER = "cycle over"
"""The reason with which a crawl ends whose cycle is over; what it leaves in its queue is up to the mode."""


def run_continuously(
    project: Project,
    sources: Iterable[DataSource],
    *,
    told: Callable[[RunReport], None],
    force: bool = False,
    settings: dict[str, Any] | None = None,
    watcher: Watcher | None = None,
) -> None:
    """Crawl the sources whenever a cycle of one is due, until SIGINT; `told` gets the report of each run.

    Cycle k begins k intervals after the first, which may have been held by an earlier process; those that were
    missed are not made up for (FAST 5.1 J60). With `refresh.when_idle` a cycle follows the one before at once (J62).
    Sources take turns, the one that is due first goes first. A crawl that is still going on when its
    cycle is over is ended. Raises `UserError` for a source that says neither. Of several sources, one that cannot
    begin has a report that says why, and is tried again after a minute; a single one raises its error.
    """
    chosen = list(sources)
    for source in chosen:
        if source.refresh.interval is None and not source.refresh.when_idle:
            raise UserError(
                f"nothing says when the next cycle of {source.name!r} begins; "
                "write for example `refresh: {interval: 24 h}`, or `refresh: {when_idle: true}`"
            )
    _Continuous(project, chosen, told, force, settings or {}, watcher).run()


def first_due(project: Project, source: DataSource, now: float) -> float:
    """Return when the first cycle of a source is due, or what is left of one: from what earlier processes did."""
    refresh = source.refresh
    if refresh.when_idle or not state_exists(project, source.name):
        return now
    try:
        state = open_state(project, source.name, read_only=True)
    except StateError:
        return now  # its crawl says what is wrong with it
    latest = next(iter(state.runs(1)), None)
    state.close()
    if latest is None or not latest.finished:
        return now
    return refresh.rule.next_due(latest.place, now) or now


class _Continuous:
    def __init__(
        self,
        project: Project,
        sources: list[DataSource],
        told: Callable[[RunReport], None],
        force: bool,
        settings: dict[str, Any],
        watcher: Watcher | None,
    ) -> None:
        self._project = project
        self._sources = {source.name: source for source in sources}
        self._told = told
        self._watcher = watcher
        self._process = crawler_process(force, settings)
        self._restarts: Counter[str] = Counter()
        """How often in a row functions of the filters of a source began its cycle anew."""
        self._due = {source.name: first_due(project, source, time.time()) for source in sources}

    def run(self) -> None:
        run_reactor(self._process, self._live())

    async def _live(self) -> None:
        interrupted = False
        while not interrupted:
            name = min(self._due, key=lambda one: self._due[one])
            while (rest := self._due[name] - time.time()) > 0:
                await asyncio.sleep(min(rest, LONGEST_SLEEP))
            try:
                crawl = await self._crawl(self._sources[name])
            except Exception as error:  # the edge to the class and the settings of a source
                told = refused(self._project, self._sources[name], error)
                if len(self._sources) == 1:
                    raise told from error
                self._told(RunReport.not_begun(name, told))
                self._due[name] = time.time() + REST_AFTER_FAILURE
                continue
            self._told(crawl.context.report)
            await complete(crawl)
            interrupted = crawl.context.report.interrupted or crawl.ends_all
            self._restarts[name] = self._restarts[name] + 1 if crawl.restarts else 0
            self._due[name] = self._next_due(self._sources[name], crawl)

    async def _crawl(self, source: DataSource) -> RunningCrawl:
        spider = spider_class(self._project, source)
        spider.restarts = self._restarts[source.name]
        crawler = self._process.create_crawler(spider)
        watch = asyncio.ensure_future(self._watch(crawler, source))
        try:
            await self._process.crawl(crawler)
        finally:
            watch.cancel()
        if error := refusal_of(crawler):
            raise error
        crawl = feature_of(crawler, RunningCrawl)
        if self._watcher:
            self._watcher(crawl)
        return crawl

    async def _watch(self, crawler: Crawler, source: DataSource) -> None:
        """Show progress, and end the crawl when its cycle is over."""
        while True:
            await asyncio.sleep(WATCH_EVERY)
            crawl = running_crawl(crawler) if crawler.crawling else None
            if crawl is None or not crawl.opened:
                continue
            if self._watcher:
                self._watcher(crawl)
            if source.refresh.rule.is_over(_place(crawl), time.time()) and crawler.engine is not None:
                await crawler.engine.close_spider_async(reason=CYCLE_OVER)
                return

    @staticmethod
    def _next_due(source: DataSource, crawl: RunningCrawl) -> float:
        if crawl.restarts:
            return time.time()
        if source.refresh.when_idle:
            rest = REST_AFTER_FAILURE if crawl.context.report.failed else REST
            return time.time() + max(rest, source.politeness.delay)
        now = time.time()
        return source.refresh.rule.next_due(_place(crawl), now) or now


def _place(crawl: RunningCrawl) -> CyclePlace:
    return crawl.context.mark.place
