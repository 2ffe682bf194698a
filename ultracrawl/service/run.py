"""The run function: crawls one source in this process, as every way to run does at last."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.settings import Settings
from scrapy.utils.project import get_project_settings

from ultracrawl.dataclass import dataclass, field
from ultracrawl.errors import StateError, UltracrawlError, UserError, WorkError
from ultracrawl.model import RunReport
from ultracrawl.run import RunningCrawl, parts_of, running_crawl
from ultracrawl.service.completion import complete, complete_failed_start
from ultracrawl.settings.presets import WATCHED_SETTING
from ultracrawl.sources import DataSource, Project
from ultracrawl.spiders.loader import make_spider_class
from ultracrawl.stores.control_channel import crawl_status
from ultracrawl.stores.port.notes import Notes
from ultracrawl.stores.project_stores import source_notes
from ultracrawl.stores.source_notes.failure import FailureNote, note_failure
from ultracrawl.system.process_name import is_here

if TYPE_CHECKING:
    from ultracrawl.run.filters.filtering import Filtering

logger = logging.getLogger(__name__)

Watcher = Callable[[RunningCrawl], None]
"""Called a few times a second while a source is crawled, and once at its end."""

WATCH_INTERVAL = 0.2
"""Seconds between two calls of a watcher."""


@dataclass(frozen=True, slots=True)
class Run:
    """What is crawled."""

    project: Project
    source: DataSource
    given_urls: tuple[str, ...] = ()
    """URLs of a person: each that cannot be read is a problem of the run."""
    filtering: Filtering | None = None
    """Filters of a robot, which outlive its runs."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """Arguments of its spider (`scrapy crawl -a`)."""


Follow = Callable[[RunningCrawl], Awaitable[Run | None]]
"""Called after a run; returns the run that follows, None if none does."""


def run_source(
    project: Project,
    source: DataSource,
    *,
    force: bool = False,
    settings: Mapping[str, Any] | None = None,
    watcher: Watcher | None = None,
    given_urls: tuple[str, ...] = (),
) -> list[RunReport]:
    """Crawl a source and return the reports: one, unless its filter functions restart the cycle.

    The first SIGINT ends the crawl after the requests in flight; the state is resumable. The second ends it at once. A
    crawl stopped from another process ends like after the first. Each of the `given_urls` that cannot be read is a
    problem of its run. Raises a one-line `UserError` or `WorkError` if it cannot start, which is stored for `status`.
    Can be called once per process, because Twisted's reactor cannot be started again.
    """
    process = crawler_process(settings or {}, force=force)
    return run_here(process, Run(project, source, given_urls), watcher)


def run_here(process: AsyncCrawlerProcess, run: Run, watcher: Watcher | None = None) -> list[RunReport]:
    """Crawl a source in a process of Scrapy, as `run_source` does in one of its own."""
    reports = list[RunReport]()
    run_reactor(process, crawl_source(process, run, watcher or (lambda _: None), reports))
    return reports


async def crawl_source(
    process: AsyncCrawlerProcess, run: Run, watcher: Watcher, reports: list[RunReport]
) -> None:
    """Crawl a source, again as long as its filter functions restart the cycle, and run its completion command.

    Adds the report of each run to `reports`. Raises what `run_source` raises.
    """

    async def follow(crawl: RunningCrawl) -> Run | None:
        report = crawl.context.report
        reports.append(report)
        watcher(crawl)
        if problem := await complete(crawl):
            report.remarks.append(problem)
        return run if crawl.restarts and not report.interrupted else None

    await crawl_repeatedly(process, run, watcher, follow)


async def crawl_repeatedly(
    process: AsyncCrawlerProcess, run: Run | None, watcher: Watcher, follow: Follow
) -> None:
    """Crawl, and again whatever follows. Raises what `run_source` raises."""
    restarts = 0
    while run is not None:
        try:
            crawl = await _crawl(process, run, restarts, watcher)
        except Exception as error:  # classes and settings of a source may raise anything
            converted = _note_failed_start(run.project, run.source, error)
            await complete_failed_start(run.project, run.source, converted)
            raise converted from error
        restarts = restarts + 1 if crawl.restarts else 0
        run = await follow(crawl)


async def _crawl(process: AsyncCrawlerProcess, run: Run, restarts: int, watcher: Watcher) -> RunningCrawl:
    spider = make_spider_class(run.project, run.source)
    spider.restarts, spider.given_urls = restarts, run.given_urls
    if run.filtering is not None:
        spider.filtering = run.filtering
    crawler = process.create_crawler(spider)
    watch = asyncio.ensure_future(_watch(crawler, watcher))
    try:
        await process.crawl(crawler, **run.arguments)
    finally:
        watch.cancel()
    crawl = running_crawl(crawler)
    if crawl is not None and (refused := crawl.refused or crawl.context.run.user_error):
        raise refused
    return parts_of(crawler)[RunningCrawl]


async def _watch(crawler: Crawler, watcher: Watcher) -> None:
    while True:
        await asyncio.sleep(WATCH_INTERVAL)
        crawl = running_crawl(crawler) if crawler.crawling else None
        if crawl is not None and crawl.opened:
            watcher(crawl)


def run_reactor(process: AsyncCrawlerProcess, work: Coroutine[Any, Any, None]) -> None:
    """Run the reactor until a coroutine ends, or SIGINT. Raises the exception of the coroutine."""
    failures: list[BaseException] = []

    def keep_error(task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            failures.append(error)
        process._stop_reactor()

    task = asyncio.get_event_loop().create_task(work)
    task.add_done_callback(keep_error)
    process.start(stop_after_crawl=False)
    task.cancel()
    if failures:
        raise failures[0]


def _is_crawled_by_another(notes: Notes | None) -> bool:
    with suppress(StateError):
        status = crawl_status(notes)
        return status is not None and (status.pid, is_here(status.machine)) != (os.getpid(), True)
    return False


def _note_failed_start(project: Project, source: DataSource, error: Exception) -> UltracrawlError:
    """Return the error of a crawl that could not start as a one-line error, and store it for `status`.

    A source that another process is crawling has not failed.
    """
    converted = error if isinstance(error, UltracrawlError) else _one_line_error(source, error)
    notes = source_notes(project, source.name)
    if not _is_crawled_by_another(notes):
        note_failure(notes, FailureNote(time.time(), str(converted)))
    return converted


def _one_line_error(source: DataSource, error: Exception) -> UltracrawlError:
    """Return a one-line error for an unexpected exception, and log its traceback."""
    logger.warning("The crawl of %s cannot start", source.name, exc_info=error)
    if source.spider_class or source.settings:
        own = " and ".join(
            name
            for name, is_set in (("`class`", source.spider_class), ("`settings`", source.settings))
            if is_set
        )
        problem = " ".join(str(error).split()) or type(error).__name__
        return UserError(f"source {source.name!r} cannot begin: {problem}; correct its {own}")
    problem = " ".join(f"{type(error).__name__}: {error}".split())
    return WorkError(f"source {source.name!r}: the crawl cannot begin: {problem}")


def crawler_process(overrides: Mapping[str, Any], *, force: bool = False) -> AsyncCrawlerProcess:
    """Return a Scrapy process; settings of a definition take precedence over `overrides`.

    SIGHUP, sent when the terminal closes, ends it like SIGTERM, unless it was started with `nohup`.
    """
    process = AsyncCrawlerProcess(scrapy_settings(overrides, force=force))
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, process._signal_shutdown)
    return process


def scrapy_settings(overrides: Mapping[str, Any], *, force: bool) -> Settings:
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
