"""Shared code of long-running commands with a schedule runner: they obey orders, and announce the next run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace

from ultracrawl.errors import UserError
from ultracrawl.model.dates import as_text
from ultracrawl.service.orders import CrawlEnd, EventStream, Launcher, WallClock
from ultracrawl.service.schedules.optimisation import optimisation_plan
from ultracrawl.service.schedules.plans import Plan, plans_of, require_plans
from ultracrawl.service.schedules.runner import ScheduleRunner
from ultracrawl.service.schedules.runner_claim import RunnerClaim, open_runner_claim
from ultracrawl.service.schedules.schedule_status import has_pending, latest_log
from ultracrawl.service.schedules.steering import obey_orders
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores.port.schedule_store import ScheduleCommand, ScheduleStore
from ultracrawl.stores.project_stores import open_schedules

logger = logging.getLogger(__name__)
ANNOUNCE_INTERVAL = 1.0
"""Seconds between two checks whether the announcement of the next run has changed."""


def wanted_plans(
    project: Project, sources: Sequence[DataSource], *, force: bool
) -> tuple[Project, list[Plan]]:
    """Return the project with these sources, and their plans. Raises `UserError` for a source without a plan."""
    chosen = {source.name: source for source in sources}
    project = project.model_copy(update={"sources": {**project.sources, **chosen}})
    plans = [replace(plan, force=force or plan.force) for plan in plans_of(project, chosen)]
    require_plans(plans, chosen)
    optimisation = optimisation_plan(project)
    if optimisation is not None and chosen.keys() == project.sources.keys():
        plans.append(optimisation)
    return project, plans


@contextmanager
def open_command_store(
    project: Project, plans: Sequence[Plan]
) -> Iterator[tuple[ScheduleStore, RunnerClaim]]:
    """Claim the plans, and open the schedule store; yields store and claim.

    Raises `UserError` if another process has claimed some.
    """
    names = [plan.name for plan in plans if not plan.own]
    sources = [source for plan in plans for source in plan.sources]
    with closing(open_schedules(project, renew=True)) as store, open_runner_claim(project) as runner_claim:
        if conflict := runner_claim.claim(names, sources):
            raise UserError(conflict)
        if store.renewed:
            logger.warning("%s", store.renewed)
        for plan in plans:
            for source in plan.sources:
                store.set_paused(source, paused=False)  # a pause ends with its process
        yield store, runner_claim


class RunnerCommand:
    """A command that runs plans until all are stopped, or the command is ended."""

    def __init__(
        self,
        project: Project,
        plans: Sequence[Plan],
        launcher: Launcher,
        events: EventStream,
        store: ScheduleStore,
        *,
        write_line: Callable[[str], None] = lambda _: None,
        crawl_ended: Callable[[CrawlEnd], None] = lambda _: None,
        is_crawled: Callable[[str], bool],
        pause_crawl: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """`pause_crawl` pauses the crawl of a source; False if it has not begun: then its order is withdrawn."""
        self._pause_crawl = pause_crawl
        self._store = store
        self._write_line = write_line
        self.runner = ScheduleRunner(
            plans,
            launcher,
            store,
            WallClock(),
            events=events,
            ignores_stored_sources=True,
            crawl_ended=crawl_ended,
            is_crawled=is_crawled,
            log_of=lambda source: latest_log(project, source),
            has_pending=lambda source: has_pending(project, source),
        )

    def _pause_source(self, source: str) -> None:
        if not self._pause_crawl(source):
            self.runner.pause_source(source)

    async def run(self, *, once: str = "") -> None:
        """Run the plans; with `once` launch that schedule, and return when its run has ended."""
        runner, commands = self.runner, {ScheduleCommand.PAUSE: self._pause_source}
        background = [
            asyncio.ensure_future(obey_orders(runner, self._store, WallClock(), commands)),
            asyncio.ensure_future(self._announce_next_run()),
        ]
        try:
            if once:
                runner.find_schedule(once).launch_by_hand()
            await runner.run(until=(lambda: not runner.busy) if once else (lambda: runner.all_stopped))
        finally:
            for task in background:
                task.cancel()

    async def _announce_next_run(self) -> None:
        announced = ""
        while True:
            await asyncio.sleep(ANNOUNCE_INTERVAL)
            if (line := next_run_line(self.runner)) and line != announced:
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
