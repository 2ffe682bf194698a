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

from ultracrawl.errors import UltracrawlError, UserError, WorkError
from ultracrawl.model import RunReport
from ultracrawl.run import RunningCrawl, parts_of, running_crawl
from ultracrawl.service.completion import complete, complete_failed_start
from ultracrawl.settings.presets import WATCHED_SETTING
from ultracrawl.sources import DataSource, Project
from ultracrawl.spiders.loader import make_spider_class
from ultracrawl.stores.failure_note import FailureNote, note_failure
from ultracrawl.stores.project_stores import state_file

logger = logging.getLogger(__name__)

Watcher = Callable[[RunningCrawl], None]
"""Called a few times a second while a source is crawled, and once at its end."""

CrawlerWatcher = Callable[[Crawler, RunningCrawl], Awaitable[None]]

WATCH_INTERVAL = 0.2
"""Seconds between two calls of a watcher."""


def run_sources(
    project: Project,
    sources: Iterable[DataSource],
    *,
    force: bool = False,
    settings: dict[str, Any] | None = None,
    watcher: Watcher | None = None,
    given_urls: tuple[str, ...] = (),
) -> list[RunReport]:
    """Crawl the sources in order and return the reports of those that were started.

    The first SIGINT ends the crawl after the requests in flight, and all following sources; the state is resumable. The
    second ends it at once. A crawl stopped from another process ends like after the first, but the next source follows.
    If one of several sources cannot start (unreadable secret, state in use), its report has the reason and the others
    are crawled; a single source raises its `WorkError` or `UserError`.
    Each of the `given_urls` that cannot be read is a problem of its run. Can be called once per process, because
    Twisted's reactor cannot be started again.
    """
    pending, reports = list(sources), list[RunReport]()
    is_single = len(pending) == 1
    show = watcher or (lambda _: None)

    async def watch(_crawler: Crawler, crawl: RunningCrawl) -> None:
        show(crawl)

    async def crawl_all() -> None:
        while pending:
            source = pending.pop(0)
            try:
                crawl = await runner.crawl(source, given_urls=given_urls)
            except UltracrawlError as error:
                if is_single:
                    raise
                reports.append(RunReport.not_begun(source.name, error))
                continue
            reports.append(crawl.context.report)
            show(crawl)
            if crawl.context.report.interrupted and not crawl.stopped:
                pending.clear()
            elif crawl.restarts:
                pending.insert(0, source)
            await complete(crawl)

    if pending:
        runner = CrawlRunner(project, settings, watch, force=force)
        runner.run(crawl_all())
    return reports


class CrawlRunner:
    """Crawls sources with a Scrapy `CrawlerProcess` in this process."""

    def __init__(
        self,
        project: Project,
        settings: dict[str, Any] | None,
        watcher: CrawlerWatcher,
        *,
        force: bool = False,
    ) -> None:
        """`watcher` is called a few times a second while a source is crawled."""
        self.project = project
        """The project of the sources, which a caller may read again between two crawls."""
        self._watcher = watcher
        self._process = crawler_process(force, settings or {})
        self._restarts: Counter[str] = Counter()
        """Source -> number of consecutive cycles that its filter functions have restarted."""

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run the reactor until a coroutine ends, or SIGINT. Raises the exception of the coroutine.

        The coroutine may call `crawl` any number of times.
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

    async def crawl(
        self, source: DataSource, *, force: bool = False, **spider_attributes: object
    ) -> RunningCrawl:
        """Crawl a source; with `force` all its documents are made again.

        Raises a one-line `UserError` or `WorkError` if the crawl could not start, which is stored for `status`.
        """
        try:
            crawler = await self._crawl(source, force, spider_attributes)
        except Exception as error:  # classes and settings of a source may raise anything
            converted = _note_failed_start(self.project, source, error)
            await complete_failed_start(self.project, source, converted)
            raise converted from error
        crawl = parts_of(crawler)[RunningCrawl]
        self._restarts[source.name] = self._restarts[source.name] + 1 if crawl.restarts else 0
        return crawl

    async def _crawl(self, source: DataSource, force: bool, spider_attributes: dict[str, object]) -> Crawler:
        spider = make_spider_class(self.project, source)
        spider.restarts = self._restarts[source.name]
        for name, value in spider_attributes.items():
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
            await asyncio.sleep(WATCH_INTERVAL)
            crawl = running_crawl(crawler) if crawler.crawling else None
            if crawl is not None and crawl.opened:
                await self._watcher(crawler, crawl)


def _note_failed_start(project: Project, source: DataSource, error: Exception) -> UltracrawlError:
    """Return the error of a crawl that could not start as a one-line error, and store it for `status`."""
    converted = error if isinstance(error, UltracrawlError) else _one_line_error(source, error)
    file = state_file(project, source.name)
    if file is not None:
        note_failure(file, FailureNote(time.time(), str(converted)))
    return converted


def _one_line_error(source: DataSource, error: Exception) -> UltracrawlError:
    """Return a one-line error for an unexpected exception, and log its traceback."""
    logger.warning("The crawl of %s cannot start", source.name, exc_info=error)
    problem = " ".join(f"{type(error).__name__}: {error}".split())
    if source.spider_class or source.settings:
        return UserError(f"source {source.name!r}: {problem}; look at its `class` and `settings`")
    return WorkError(f"source {source.name!r}: the crawl cannot begin: {problem}")


def crawler_process(force: bool, overrides: dict[str, Any]) -> AsyncCrawlerProcess:
    """Return a Scrapy process; settings of a definition take precedence over `overrides`.

    SIGHUP, sent when the terminal closes, ends it like SIGTERM, unless it was started with `nohup`.
    """
    process = AsyncCrawlerProcess(scrapy_settings(force, overrides))
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, process._signal_shutdown)
    return process


def scrapy_settings(force: bool, overrides: dict[str, Any]) -> Settings:
    """Return the Scrapy settings of such a process; settings of a definition take precedence over `overrides`."""
    settings = get_project_settings()
    settings.setmodule("ultracrawl.settings", priority="default")
    # A Scrapy project around us may have add-ons of its own, or none.
    settings["ADDONS"].setdefault("ultracrawl.addon.UltracrawlAddon", 500)
    settings.set("ULTRACRAWL_FORCE", force, priority="cmdline")
    settings.set(WATCHED_SETTING, True, priority="cmdline")
    # The definition's own `settings` win over these.
    settings.setdict({"LOG_LEVEL": "WARNING", "STATS_DUMP": False, **overrides}, priority="project")
    if settings["LOG_LEVEL"] not in {"DEBUG", "INFO"}:
        # Finding the versions takes long, and they are logged at level INFO.
        settings.set("LOG_VERSIONS", [], priority="project")
    return settings
