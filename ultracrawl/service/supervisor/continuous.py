"""`crawl --continuous` and `schedule launch` with child processes: run schedules and intervals."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from ultracrawl.model import RunReport
from ultracrawl.service.orders import CrawlEnd, EventStream, WallClock
from ultracrawl.service.schedules.plans import Plan, plans_of
from ultracrawl.service.schedules.runner_claim import RunnerClaim
from ultracrawl.service.schedules.runner_command import RunnerCommand, open_command_store, wanted_plans
from ultracrawl.service.scrapyd.launcher import ProfileLauncher, status_of_other_crawl
from ultracrawl.service.supervisor.messages import child_order
from ultracrawl.service.supervisor.parallel import KILLING_INTERRUPT, handle_signals
from ultracrawl.service.supervisor.pausing import pause_crawl
from ultracrawl.service.supervisor.pool import MAX_RESTARTS, CrawlPool
from ultracrawl.service.supervisor.processes import ProcessLauncher
from ultracrawl.service.supervisor.slots import SlotLimits
from ultracrawl.sources import DataSource, Project


def crawl_continuously(
    project: Project,
    sources: Iterable[DataSource],
    jobs: int,
    *,
    on_report: Callable[[RunReport], None],
    write_line: Callable[[str], None] = lambda _: None,
    force: bool = False,
    log_level: str = "ERROR",
) -> None:
    """Crawl each source when it is due, until SIGINT; `on_report` gets each report.

    At most `jobs` are crawled at a time, besides those that only wait. The first SIGINT ends all crawls cleanly, so
    that they can be resumed; the second ends them at once. Raises `UserError` for a source with neither a schedule nor
    an interval.
    """
    project, plans = wanted_plans(project, list(sources), force=force)
    asyncio.run(_run(project, plans, jobs, on_report, write_line, log_level))


def launch_together(
    project: Project, name: str, jobs: int | None, *, on_report: Callable[[RunReport], None]
) -> None:
    """Run a schedule once, now, with `jobs` slots (None: as defined); `on_report` gets the report of each run.

    Signals are handled as by `crawl_continuously`. Raises `UserError`, `WorkError` if it cannot be launched.
    """
    plans = [plan for plan in plans_of(project) if plan.name == name and not plan.own]
    asyncio.run(_run(project, plans, jobs, on_report, lambda _: None, "ERROR", once=name))


async def _run(
    project: Project,
    plans: Sequence[Plan],
    jobs: int | None,
    on_report: Callable[[RunReport], None],
    write_line: Callable[[str], None],
    log_level: str,
    *,
    once: str = "",
) -> None:
    """Run the plans; with `once` only that schedule, once."""

    def is_crawled(source: str) -> bool:
        return source in pool.crawls or status_of_other_crawl(project, source) is not None

    def pass_report(end: CrawlEnd) -> None:
        if (report := end.report_or_death) is not None:
            on_report(report)

    interrupts, endings = 0, list[asyncio.Future[None]]()

    def interrupt() -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts == 1:
            endings.extend(command.runner.begin_end())
        for crawl in list(pool.crawls.values()) if interrupts > 1 else ():
            ending = crawl.stop_crawl() if interrupts < KILLING_INTERRUPT else crawl.kill_crawl()
            endings.append(asyncio.ensure_future(ending))

    events = EventStream()
    with open_command_store(project, plans) as (store, claim), handle_signals(interrupt):
        pool = _make_pool(project, jobs, events, claim, log_level)
        command = RunnerCommand(
            project,
            plans,
            pool,
            events,
            store,
            write_line=write_line,
            crawl_ended=pass_report,
            is_crawled=is_crawled,
            pause_crawl=lambda source: pause_crawl(project, pool, source),
        )
        await command.run(once=once)
        await command.runner.end_crawls()


def _make_pool(
    project: Project, jobs: int | None, events: EventStream, claim: RunnerClaim, log_level: str
) -> CrawlPool:
    clock = WallClock()
    local = ProcessLauncher(lambda order: child_order(project, order, log_level))
    return CrawlPool(
        ProfileLauncher(local, lambda: project, clock),
        clock,
        events,
        limits=SlotLimits.of(project.processes, jobs),
        restarts=MAX_RESTARTS,
        complete_dead=local.complete_dead,
        waiting_changed=claim.publish_waiting,
    )
