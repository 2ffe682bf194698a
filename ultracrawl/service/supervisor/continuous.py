"""`crawl --continuous` with child processes: runs schedules and intervals until it is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from ultracrawl.model import RunReport
from ultracrawl.service.orders import CrawlEnd, EventStream, WallClock
from ultracrawl.service.schedules.plans import Plan
from ultracrawl.service.schedules.runner_command import RunnerCommand, open_command_store, wanted_plans
from ultracrawl.service.scrapyd.launcher import ProfileLauncher, sign_of_other_crawl
from ultracrawl.service.supervisor.messages import child_order
from ultracrawl.service.supervisor.parallel import KILLING_INTERRUPT, handle_signals
from ultracrawl.service.supervisor.pool import MAX_RESTARTS, CrawlPool
from ultracrawl.service.supervisor.processes import ProcessLauncher
from ultracrawl.sources import DataSource, Project


def crawl_continuously(
    project: Project,
    sources: Iterable[DataSource],
    jobs: int,
    *,
    told: Callable[[RunReport], None],
    say: Callable[[str], None] = lambda _: None,
    force: bool = False,
    log_level: str = "ERROR",
) -> None:
    """Crawl each source when it is due, at most `jobs` at a time, until SIGINT; `told` gets each report.

    The first SIGINT ends all crawls cleanly, so that they can be resumed; the second ends them at once.
    Raises `UserError` for a source with neither a schedule nor an interval.
    """
    project, plans = wanted_plans(project, list(sources), force=force)
    asyncio.run(_run(project, plans, jobs, told, say, log_level))


async def _run(
    project: Project,
    plans: Sequence[Plan],
    jobs: int,
    told: Callable[[RunReport], None],
    say: Callable[[str], None],
    log_level: str,
) -> None:
    def is_crawled(source: str) -> bool:
        return source in pool.crawls or sign_of_other_crawl(project, source) is not None

    def pass_report(end: CrawlEnd) -> None:
        if (report := end.report_or_death) is not None:
            told(report)

    interrupts, endings = 0, list[asyncio.Future[None]]()

    def interrupt() -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts == 1:
            endings.extend(command.runner.begin_end())
        for crawl in list(pool.crawls.values()) if interrupts > 1 else ():
            ending = crawl.stop_crawl() if interrupts < KILLING_INTERRUPT else crawl.kill_crawl()
            endings.append(asyncio.ensure_future(ending))

    events, clock = EventStream(), WallClock()
    local = ProcessLauncher(lambda order: child_order(project, order, log_level))
    launcher = ProfileLauncher(local, lambda: project, clock)
    pool = CrawlPool(
        launcher,
        clock,
        events,
        jobs=jobs,
        restarts=MAX_RESTARTS,
        turn=project.processes.longest_turn,
        complete_dead=local.complete_dead,
    )
    with open_command_store(project, plans) as store, handle_signals(interrupt):
        command = RunnerCommand(
            project, plans, pool, events, store, say=say, crawl_ended=pass_report, is_crawled=is_crawled
        )
        await command.run()
        await command.runner.end_crawls()
