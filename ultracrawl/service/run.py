"""Crawls the sources of a project in this process, one after the other."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any

from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.settings import Settings
from scrapy.utils.project import get_project_settings

from ultracrawl.crawl import RunningCrawl, feature_of, running_crawl
from ultracrawl.errors import UltracrawlError, UserError, WorkError
from ultracrawl.model import RunReport
from ultracrawl.service.completion import complete, complete_refused
from ultracrawl.settings.presets import WATCHED_SETTING
from ultracrawl.sources import DataSource, Project
from ultracrawl.spiders.loader import make_spider_class
from ultracrawl.stores.failure_note import FailureNote, note_failure
from ultracrawl.stores.opening import state_file

logger = logging.getLogger(__name__)

Watcher = Callable[[RunningCrawl], None]
"""Called a few times a second while a source is crawled, and once at its end."""

Look = Callable[[Crawler, RunningCrawl], Awaitable[None]]

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
    waiting, reports = list(sources), list[RunReport]()
    alone = len(waiting) == 1
    show = watcher or (lambda _: None)

    async def look(_crawler: Crawler, crawl: RunningCrawl) -> None:
        show(crawl)

    async def live() -> None:
        while waiting:
            source = waiting.pop(0)
            try:
                crawl = await runner.crawl(source, asked=asked)
            except UltracrawlError as error:
                if alone:
                    raise
                reports.append(RunReport.not_begun(source.name, error))
                continue
            reports.append(crawl.context.report)
            show(crawl)
            if crawl.context.report.interrupted and not crawl.stopped:
                waiting.clear()
            elif crawl.restarts:
                waiting.insert(0, source)
            await complete(crawl)

    if waiting:
        runner = CrawlRunner(project, settings, look, force=force)
        runner.run(live())
    return reports


class CrawlRunner:
    """The Scrapy process that this is, in which sources are crawled, one after the other."""

    def __init__(
        self, project: Project, settings: dict[str, Any] | None, look: Look, *, force: bool = False
    ) -> None:
        """`look` is called a few times a second while a source is crawled."""
        self._project = project
        self._look = look
        self._process = crawler_process(force, settings or {})
        self._restarts: Counter[str] = Counter()
        """How often in a row functions of the filters of a source began its cycle anew."""

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run the reactor until the work is done, or SIGINT ends it. Raises what the work raised.

        The work may begin any number of crawls.
        """
        failures: list[BaseException] = []

        def keep_error(task: asyncio.Task[None]) -> None:
            error = None if task.cancelled() else task.exception()
            if error is not None:
                failures.append(error)
            self._process._stop_reactor()

        task = asyncio.get_event_loop().create_task(work)
        task.add_done_callback(keep_error)
        self._process.start(stop_after_crawl=False)
        task.cancel()
        if failures:
            raise failures[0]

    async def crawl(self, source: DataSource, *, force: bool = False, **of_spider: object) -> RunningCrawl:
        """Crawl a source; `of_spider` are attributes of its spider. With `force` it makes all its documents anew.

        Raises `UserError` or `WorkError` with a line that says why it could not begin, which is noted for `status`.
        """
        try:
            crawler = await self._crawl(source, force, of_spider)
        except Exception as error:  # the edge to the class and the settings of a source
            told = _refused(self._project, source, error)
            await complete_refused(self._project, source, told)
            raise told from error
        crawl = feature_of(crawler, RunningCrawl)
        self._restarts[source.name] = self._restarts[source.name] + 1 if crawl.restarts else 0
        return crawl

    async def _crawl(self, source: DataSource, force: bool, of_spider: dict[str, object]) -> Crawler:
        spider = make_spider_class(self._project, source)
        spider.restarts = self._restarts[source.name]
        for name, value in of_spider.items():
            setattr(spider, name, value)
        crawler = self._process.create_crawler(spider)
        if force:
            crawler.settings.set("ULTRACRAWL_FORCE", True, priority="cmdline")
        watch = asyncio.ensure_future(self._watch(crawler))
        try:
            await self._process.crawl(crawler)
        finally:
            watch.cancel()
        crawl = running_crawl(crawler)
        if crawl is not None and (refused := crawl.refused or crawl.context.run.user_error):
            raise refused
        return crawler

    async def _watch(self, crawler: Crawler) -> None:
        while True:
            await asyncio.sleep(WATCH_EVERY)
            crawl = running_crawl(crawler) if crawler.crawling else None
            if crawl is not None and crawl.opened:
                await self._look(crawler, crawl)


def _refused(project: Project, source: DataSource, error: Exception) -> UltracrawlError:
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


def crawler_process(force: bool, overrides: dict[str, Any]) -> AsyncCrawlerProcess:
    """Return a process that crawls sources; `overrides` yield to the settings of a definition.

    When its terminal goes away it ends as after SIGTERM, which is Scrapy's business; unless it was started to outlive
    that (`nohup`).
    """
    process = AsyncCrawlerProcess(scrapy_settings(force, overrides))
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, process._signal_shutdown)
    return process


def scrapy_settings(force: bool, overrides: dict[str, Any]) -> Settings:
    """Return the Scrapy settings of a process that crawls sources; `overrides` yield to those of a definition."""
    settings = get_project_settings()
    settings.setmodule("ultracrawl.settings", priority="default")
    # A Scrapy project around us may have add-ons of its own, or none.
    settings["ADDONS"].setdefault("ultracrawl.addon.UltracrawlAddon", 500)
    settings.set("ULTRACRAWL_FORCE", force, priority="cmdline")
    settings.set(WATCHED_SETTING, True, priority="cmdline")
    # The definition's own `settings` win over these.
    settings.setdict({"LOG_LEVEL": "WARNING", "STATS_DUMP": False, **overrides}, priority="project")
    if settings["LOG_LEVEL"] not in {"DEBUG", "INFO"}:
        settings.set(
            "LOG_VERSIONS", [], priority="project"
        )  # takes long to find out, and nobody would see it
    return settings
