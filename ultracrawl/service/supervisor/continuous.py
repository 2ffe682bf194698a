"""Keeps schedules and intervals, with a process for each crawl, until it is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from ultracrawl.model import RunReport
from ultracrawl.service.orders import CrawlEnd, EventStream, WallClock
from ultracrawl.service.schedules.plans import Plan
from ultracrawl.service.schedules.staying import StayingCommand, store_of_command, wanted_plans
from ultracrawl.service.scrapyd.launcher import ProfileLauncher, sign_of_other_crawl
from ultracrawl.service.supervisor.messages import child_order
from ultracrawl.service.supervisor.pool import RESTARTS, CrawlPool
from ultracrawl.service.supervisor.processes import ProcessLauncher
from ultracrawl.service.supervisor.together import MOST_PATIENT, heard_signals
from ultracrawl.sources import DataSource, Project


def keep_together(
    project: Project,
    sources: Iterable[DataSource],
    jobs: int,
    *,
    told: Callable[[RunReport], None],
    say: Callable[[str], None] = lambda _: None,
    force: bool = False,
    log_level: str = "ERROR",
) -> None:
    """Crawl the sources whenever they are due, at most `jobs` at a time, until SIGINT; `told` gets each report.

    SIGINT once has all crawls end cleanly, so that they can be resumed; twice ends them at once.
    Raises `UserError` for a source that neither a schedule nor an interval says when to crawl.
    """
    project, plans = wanted_plans(project, list(sources), force=force)
    asyncio.run(_keep(project, plans, jobs, told, say, log_level))


async def _keep(
    project: Project,
    plans: Sequence[Plan],
    jobs: int,
    told: Callable[[RunReport], None],
    say: Callable[[str], None],
    log_level: str,
) -> None:
    def is_crawled(source: str) -> bool:
        return source in pool.crawls or sign_of_other_crawl(project, source) is not None

    def tell_end(end: CrawlEnd) -> None:
        if (report := end.report_or_death) is not None:
            told(report)

    interrupts, endings = 0, list[asyncio.Future[None]]()

    def interrupt() -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts == 1:
            endings.extend(command.runner.begin_end())
        for crawl in list(pool.crawls.values()) if interrupts > 1 else ():
            again = crawl.stop_crawl() if interrupts < MOST_PATIENT else crawl.kill_crawl()
            endings.append(asyncio.ensure_future(again))

    events, clock = EventStream(), WallClock()
    here = ProcessLauncher(lambda order: child_order(project, order, log_level))
    launcher = ProfileLauncher(here, lambda: project, clock)
    pool = CrawlPool(
        launcher,
        clock,
        events,
        jobs=jobs,
        restarts=RESTARTS,
        turn=project.processes.longest_turn,
        complete_dead=here.complete_dead,
    )
    with store_of_command(project, plans) as store, heard_signals(interrupt):
        command = StayingCommand(
            project, plans, pool, events, store, say=say, crawl_ended=tell_end, is_crawled=is_crawled
        )
        await command.keep()
        await command.runner.end_crawls()
