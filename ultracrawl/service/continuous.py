"""Runs until it is stopped, and begins the cycles of sources when they are due."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Any

from scrapy.crawler import Crawler

from ultracrawl.crawl import RunningCrawl
from ultracrawl.errors import StateError, UltracrawlError, UserError
from ultracrawl.model import RunReport
from ultracrawl.service.completion import complete
from ultracrawl.service.run import REST, REST_AFTER_FAILURE, CrawlRunner, Watcher
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores.opening import state_to_read

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
    chosen = [_with_cycles(source) for source in sources]
    due = {source.name: first_due(project, source, time.time()) for source in chosen}
    sources_by_name = {source.name: source for source in chosen}
    show = watcher or (lambda _: None)

    async def look(crawler: Crawler, crawl: RunningCrawl) -> None:
        show(crawl)
        is_over = crawl.context.source.refresh.rule.is_over(crawl.context.mark.place, time.time())
        if is_over and crawler.engine is not None:
            await crawler.engine.close_spider_async(reason=CYCLE_OVER)

    async def live() -> None:
        interrupted = False
        while not interrupted:
            name = min(due, key=lambda one: due[one])
            while (rest := due[name] - time.time()) > 0:
                await asyncio.sleep(min(rest, LONGEST_SLEEP))
            try:
                crawl = await runner.crawl(sources_by_name[name])
            except UltracrawlError as error:
                if len(due) == 1:
                    raise
                told(RunReport.not_begun(name, error))
                due[name] = time.time() + REST_AFTER_FAILURE
                continue
            show(crawl)
            told(crawl.context.report)
            await complete(crawl)
            interrupted = crawl.context.report.interrupted or crawl.ends_all
            due[name] = _next_due(crawl)

    runner = CrawlRunner(project, settings, look, force=force)
    runner.run(live())


def _with_cycles(source: DataSource) -> DataSource:
    """Return a source that says when its next cycle begins. Raises `UserError` for another one."""
    if source.refresh.interval is None and not source.refresh.when_idle:
        raise UserError(
            f"nothing says when the next cycle of {source.name!r} begins; "
            "write for example `refresh: {interval: 24 h}`, or `refresh: {when_idle: true}`"
        )
    return source


def first_due(project: Project, source: DataSource, now: float) -> float:
    """Return when the first cycle of a source is due, or what is left of one: from what earlier processes did."""
    refresh = source.refresh
    if refresh.when_idle:
        return now
    try:
        with state_to_read(project, source.name) as state:
            latest = next(iter(state.runs(1)), None) if state else None
    except StateError:
        return now  # its crawl says what is wrong with it
    if latest is None or not latest.finished:
        return now
    return refresh.rule.next_due(latest.place, now) or now


def _next_due(crawl: RunningCrawl) -> float:
    """Return when the cycle after one that ended is due."""
    now, source = time.time(), crawl.context.source
    if crawl.restarts:
        return now
    if source.refresh.when_idle:
        rest = REST_AFTER_FAILURE if crawl.context.report.failed else REST
        return now + max(rest, source.politeness.delay)
    return source.refresh.rule.next_due(crawl.context.mark.place, now) or now
