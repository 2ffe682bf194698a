"""Crawls the sources of a project in this process, one after the other."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from scrapy.crawler import Crawler

from ultracrawl.crawl import RunningCrawl, feature_of, running_crawl
from ultracrawl.model import RunReport
from ultracrawl.service.beginning import refusal_of, refused
from ultracrawl.service.completion import complete
from ultracrawl.service.process import crawler_process
from ultracrawl.sources import DataSource, Project
from ultracrawl.spiders.loader import spider_class

Watcher = Callable[[RunningCrawl], None]
"""Called a few times a second while a source is crawled, and once at its end."""

WATCH_EVERY = 0.2
"""Seconds between two calls of a watcher."""


def run_sources(
    project: Project,
    sources: Iterable[DataSource],
    *,
    force: bool = False,
    settings: dict[str, Any] | None = None,
    watcher: Watcher | None = None,
    asked: tuple[str, ...] = (),
) -> list[RunReport]:
    """Crawl the sources in their order and return a report of each that had its turn.

    SIGINT once ends the crawl after the requests in flight, with the state resumable; twice ends it at once. A crawl
    that is stopped from another process ends like the first, and the next source has its turn.
    Of several sources, one that cannot begin (a secret that cannot be read, a state that is in use) has a report
    that says why, and the others are crawled. A single one raises its `WorkError` or `UserError`.
    Each of the `asked` URLs that cannot be read is a problem of its run. Can be called once in a process, because
    Twisted's reactor cannot be started again.
    """
    return _Runner(project, force, settings or {}, watcher, asked).run(list(sources))


class _Runner:
    def __init__(
        self,
        project: Project,
        force: bool,
        settings: dict[str, Any],
        watcher: Watcher | None,
        asked: tuple[str, ...],
    ) -> None:
        self._project = project
        self._asked = asked
        self._watcher = watcher
        self._process = crawler_process(force, settings)
        self._waiting: list[DataSource] = []
        self._restarts: Counter[str] = Counter()
        """How often in a row functions of the filters of a source began its cycle anew."""
        self._alone = True
        self._reports: list[RunReport] = []
        self._errors: list[BaseException] = []

    def run(self, sources: list[DataSource]) -> list[RunReport]:
        self._waiting, self._alone = sources, len(sources) == 1
        self._next()
        if self._process.crawlers:
            self._process.start()
        if self._errors:
            raise self._errors[0]
        return self._reports

    def _next(self) -> None:
        while self._waiting:
            source = self._waiting.pop(0)
            try:
                self._begin(source)
            except Exception as error:  # the edge to the class and the settings of a source
                self._refused(source, error)
            else:
                return

    def _refused(self, source: DataSource, error: Exception) -> None:
        """Note that a source could not be crawled."""
        told = refused(self._project, source, error)
        if self._alone:
            self._errors.append(told)
        else:
            self._reports.append(RunReport.not_begun(source.name, told))

    def _begin(self, source: DataSource) -> None:
        spider = spider_class(self._project, source)
        spider.restarts, spider.asked = self._restarts[source.name], self._asked
        crawler = self._process.create_crawler(spider)
        task = self._process.crawl(crawler)
        watch = asyncio.get_event_loop().create_task(self._watch(crawler))
        task.add_done_callback(lambda done: self._ended(source, crawler, done, watch))

    def _ended(
        self, source: DataSource, crawler: Crawler, done: asyncio.Task[None], watch: asyncio.Task[None]
    ) -> None:
        watch.cancel()
        error = None if done.cancelled() else done.exception() or refusal_of(crawler)
        if isinstance(error, Exception):
            self._refused(source, error)
            self._next()
            return
        if error is not None:
            self._errors.append(error)
            self._waiting.clear()
            return
        crawl = feature_of(crawler, RunningCrawl)
        self._reports.append(crawl.context.report)
        if self._watcher:
            self._watcher(crawl)
        if crawl.context.report.interrupted and not crawl.stopped:
            self._waiting.clear()
        elif crawl.restarts:
            self._restarts[crawl.context.source.name] += 1
            self._waiting.insert(0, crawl.context.source)
        task = asyncio.get_event_loop().create_task(complete(crawl))
        self._process._active.add(task)  # else Scrapy, which sees no crawl any more, stops the loop
        task.add_done_callback(self._completed)

    def _completed(self, task: asyncio.Task[None]) -> None:
        self._process._active.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._errors.append(error)
            self._waiting.clear()
        self._next()

    async def _watch(self, crawler: Crawler) -> None:
        while self._watcher:
            await asyncio.sleep(WATCH_EVERY)
            crawl = running_crawl(crawler) if crawler.crawling else None
            if crawl is not None and crawl.opened:
                self._watcher(crawl)
