"""Commands that crawl in child processes: of several sources, `crawl --continuous` and `schedule launch`."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from ultracrawl.errors import UltracrawlError, UserError, WorkError
from ultracrawl.model import RunReport
from ultracrawl.model.dates import as_text
from ultracrawl.service.orders import CrawlEnd, CrawlOrder, Event, EventStream, Show, WallClock
from ultracrawl.service.schedules.optimisation import optimisation_plan
from ultracrawl.service.schedules.plans import Plan, plans_of, require_plans
from ultracrawl.service.schedules.runner import ScheduleRunner
from ultracrawl.service.schedules.runner_claim import RunnerClaim, open_runner_claim
from ultracrawl.service.supervisor.messages import ChildOrder
from ultracrawl.service.supervisor.planned_crawls import CrawlOptions, PlannedCrawls
from ultracrawl.service.supervisor.pool import CrawlPool
from ultracrawl.service.supervisor.processes import ProcessLauncher
from ultracrawl.service.supervisor.slots import SlotLimits
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores.port.schedule_store import ScheduleStore
from ultracrawl.stores.project_stores import open_schedules
from ultracrawl.system.gc_tuning import collect_as_a_service

logger = logging.getLogger(__name__)

SHOW_INTERVAL = 0.5
"""Seconds between two calls of `show`."""
ANNOUNCE_INTERVAL = 1.0
"""Seconds between two checks whether the announcement of the next run has changed."""
KILLING_INTERRUPT = 3
"""The Ctrl-C that kills the crawls; the second one ends them without waiting for requests in flight."""


def crawl_together(
    project: Project,
    sources: Sequence[DataSource],
    jobs: int | None,
    settings: Mapping[str, Any],
    *,
    force: bool = False,
    show: Show | None = None,
) -> list[RunReport]:
    """Crawl sources in child processes and return the reports of those that were started, in their order.

    At most `jobs` are crawled at a time, besides those that only wait. A source that takes links of earlier sources
    starts when these have ended. The first SIGINT ends all crawls cleanly, so that they can be resumed; the second ends
    them at once. If the process of a crawl dies, its report says so, and the others continue.
    """
    by_name = {source.name: source for source in sources}
    with open_runner_claim(project) as claim:
        make_pool = partial(_pool_of, project, by_name, jobs, settings, claim)
        return asyncio.run(_crawl_all(make_pool, sources, force, show))


def _pool_of(
    project: Project,
    sources: Mapping[str, DataSource],
    jobs: int | None,
    settings: Mapping[str, Any],
    claim: RunnerClaim,
) -> CrawlPool:
    return CrawlPool(
        ProcessLauncher(lambda order: ChildOrder(project, sources[order.source], order.force, settings)),
        WallClock(),
        EventStream(),
        limits=SlotLimits.of(project.processes, jobs),
        waiting_changed=claim.publish_waiting,
    )


async def _crawl_all(
    make_pool: Callable[[], CrawlPool], sources: Sequence[DataSource], force: bool, show: Show | None
) -> list[RunReport]:
    pool = make_pool()
    ends = list[asyncio.Task[CrawlEnd]]()
    with handle_signals(interrupts := Interrupts(pool)):
        for number, source in enumerate(sources):
            if interrupts.number:
                break
            senders = tuple(one.name for one in sources[:number] if source.name in one.send_links_to)
            crawl = await pool.launch(CrawlOrder(source.name, force=force, after=senders))
            ends.append(asyncio.ensure_future(crawl.finished()))
        while not all(end.done() for end in ends):
            await asyncio.wait(ends, timeout=SHOW_INTERVAL)
            if show is not None:
                going = {name: one.progress for name, one in pool.crawls.items() if one.current is not None}
                show(sum(end.done() for end in ends), going)
    return [report for end in ends if (report := _report(end.result())) is not None]


def _report(end: CrawlEnd) -> RunReport | None:
    """Return the report of a source; None if it was never started."""
    if end.report is not None and end.error:
        return replace(end.report, problems=[*end.report.problems, end.error])
    return end.report_or_death


# ---- plans


def crawl_continuously(
    project: Project,
    sources: Iterable[DataSource],
    options: CrawlOptions,
    *,
    on_report: Callable[[RunReport], None],
    write_line: Callable[[str], None] = lambda _: None,
    force: bool = False,
) -> None:
    """Crawl each source when it is due, until SIGINT; `on_report` gets the report of each run.

    A source is due by its schedule, or by its own interval: cycle k starts k intervals after the first, which may have
    been run by an earlier process; missed cycles are skipped (FAST 5.1 J60). With `refresh.when_idle` a cycle follows
    the previous one at once (J62). A crawl that is still running when its cycle is over is ended. `write_line` gets a
    line about the next run. The first SIGINT ends all crawls cleanly, so that they can be resumed; the second ends them
    at once. Raises `UserError` for a source with neither schedule nor interval. If one of several sources cannot start,
    its report has the reason and it is tried again; a single source raises its error. What is bound to a node is left
    to it, and claimed by no command; raises `UserError` if nothing else was chosen.
    """
    chosen = {source.name: source for source in sources}
    project = project.model_copy(update={"sources": {**project.sources, **chosen}})
    plans = [replace(plan, force=force or plan.force) for plan in plans_of(project, chosen)]
    require_plans(plans, chosen)
    if bound := [f"{plan.name} ({plan.node})" for plan in plans if plan.node]:
        write_line(f"left to the nodes that alone run them: {', '.join(bound)}")
        plans = [plan for plan in plans if not plan.node]
    if not plans:
        raise UserError(
            "nothing is left to crawl here; `ultracrawl crawl NAME` crawls a source here all the same"
        )
    optimisation = optimisation_plan(project)
    if optimisation is not None and chosen.keys() == project.sources.keys():
        plans.append(optimisation)
    _PlansCommand(project, plans, on_report, write_line).run(options)


def launch_schedule(
    project: Project, name: str, options: CrawlOptions, *, on_report: Callable[[RunReport], None]
) -> None:
    """Run a schedule once, now; `on_report` gets the report of each run.

    Signals are handled as by `crawl_continuously`. Raises `UserError`, `WorkError` if it cannot be launched.
    """
    plans = [
        replace(plan, enabled=False)  # its times are of no account here: what is done is not launched again
        for plan in plans_of(project)
        if plan.name == name and not plan.own
    ]
    _PlansCommand(project, plans, on_report, lambda _: None).run(options, once=name)


class _PlansCommand:
    """A command that runs plans until all are stopped, or the command is ended."""

    def __init__(
        self,
        project: Project,
        plans: Sequence[Plan],
        on_report: Callable[[RunReport], None],
        write_line: Callable[[str], None],
    ) -> None:
        self._project = project
        # What a person has stopped stays so in a service, not in a command that is given afterwards.
        self._plans = [replace(plan, restored=not plan.own) for plan in plans]
        self._on_report, self._write_line = on_report, write_line
        self._sources = [source for plan in plans for source in plan.sources]
        self._refused: UltracrawlError | None = None
        """Why the only source cannot start."""
        self._runner: ScheduleRunner

    def run(self, options: CrawlOptions, *, once: str = "") -> None:
        """Run the plans; with `once` launch that schedule, and return when its run has ended."""
        with self._open_store() as (store, claim):
            asyncio.run(self._run(store, claim, options, once))
        if self._refused is not None:
            raise self._refused

    @contextmanager
    def _open_store(self) -> Iterator[tuple[ScheduleStore, RunnerClaim]]:
        """Claim the plans, and open the schedule store. Raises `UserError` if another process has claimed some."""
        names = [plan.name for plan in self._plans if not plan.own]
        with (
            closing(open_schedules(self._project, renew=True)) as store,
            open_runner_claim(self._project) as claim,
        ):
            if conflict := claim.claim(names, self._sources):
                raise UserError(conflict)
            if store.renewed:
                logger.warning("%s", store.renewed)
            for source in self._sources:
                store.set_paused(source, paused=False)  # a pause ends with its process
            yield store, claim

    async def _run(self, store: ScheduleStore, claim: RunnerClaim, options: CrawlOptions, once: str) -> None:
        crawls = PlannedCrawls(lambda: self._project, self._plans, store, claim, options)
        crawls.events.add_listener(self._note_event)
        runner = self._runner = crawls.runner
        announcing = asyncio.ensure_future(self._announce_next_run())
        collect_as_a_service()
        with handle_signals(Interrupts(crawls.pool, runner.begin_end)):
            try:
                if once:
                    runner.find_schedule(once).launch_by_hand()
                await crawls.run(until=(lambda: not runner.busy) if once else (lambda: runner.all_stopped))
            finally:
                announcing.cancel()
            await runner.end_crawls()

    def _note_event(self, event: Event) -> None:
        if (end := event.end) is None:
            return
        report, is_single = end.report_or_death, len(self._sources) == 1
        if is_single and end.report and not (end.report.begun or self._project.profile_of(end.source)):
            kind = UserError if end.mistake else WorkError
            self._refused = kind("; ".join(end.report.problems))
            self._runner.begin_end()
        elif report is not None:
            self._on_report(report)

    async def _announce_next_run(self) -> None:
        announced = ""
        while True:
            await asyncio.sleep(ANNOUNCE_INTERVAL)
            if (line := next_run_line(self._runner)) and line != announced:
                self._write_line(line)
                announced = line


def next_run_line(runner: ScheduleRunner) -> str:
    """Return the sources and the time of the next run in one line; empty while a run is active."""
    due = runner.next_runs()
    if runner.busy or not due:
        return ""
    first = min(due.values())
    names = [name for name, at in due.items() if at == first]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"next: {', '.join(names[:3])}{more} at {as_text(first)}"


# ---- signals


class Interrupts:
    """The Ctrl-C of a command: the first ends all crawls cleanly, the second at once, the third kills them."""

    def __init__(self, pool: CrawlPool, first: Callable[[], object] | None = None) -> None:
        """Have the first Ctrl-C call `first` in place of ending the crawls of the pool."""
        self._pool, self._first = pool, first
        self.number = 0
        """How many there were."""
        self._orders: list[asyncio.Task[None]] = []

    def __call__(self) -> None:
        """Handle a Ctrl-C."""
        self.number += 1
        if self.number == 1 and self._first is not None:
            self._first()
            return
        for crawl in list(self._pool.crawls.values()):
            ending = crawl.stop_crawl() if self.number < KILLING_INTERRUPT else crawl.kill_crawl()
            self._orders.append(asyncio.ensure_future(ending))


@contextmanager
def handle_signals(interrupt: Callable[[], None]) -> Iterator[None]:
    """Call a function for each SIGINT, SIGTERM or SIGHUP inside the block."""
    loop = asyncio.get_running_loop()
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        numbers.append(signal.SIGHUP)  # `nohup` ignores it
    for number in numbers:
        loop.add_signal_handler(number, interrupt)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
