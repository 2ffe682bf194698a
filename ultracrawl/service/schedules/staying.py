"""What commands have in common that stay and keep schedules: they take orders, and say what is next."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace

from ultracrawl.errors import UserError
from ultracrawl.model.dates import as_text
from ultracrawl.service.orders import CrawlEnd, EventStream, Launcher, WallClock
from ultracrawl.service.schedules.kept_signs import kept_sign
from ultracrawl.service.schedules.looking import has_pending, latest_log
from ultracrawl.service.schedules.optimising import optimisation_plan
from ultracrawl.service.schedules.plans import Plan, plans_of, require_plans
from ultracrawl.service.schedules.runner import ScheduleRunner
from ultracrawl.service.schedules.steering import hear_orders
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores.opening import open_schedules
from ultracrawl.stores.port.schedule_store import ScheduleStore

logger = logging.getLogger(__name__)
SAY_EVERY = 1.0
"""Seconds between two looks whether there is something else to say about what comes next."""


def wanted_plans(
    project: Project, sources: Sequence[DataSource], *, force: bool
) -> tuple[Project, list[Plan]]:
    """Return the project with these sources as they are, and their plans. Raises `UserError` for one without."""
    chosen = {source.name: source for source in sources}
    project = project.model_copy(update={"sources": {**project.sources, **chosen}})
    plans = [replace(plan, force=force or plan.force) for plan in plans_of(project, chosen)]
    require_plans(plans, chosen)
    optimisation = optimisation_plan(project)
    if optimisation is not None and chosen.keys() == project.sources.keys():
        plans.append(optimisation)
    return project, plans


@contextmanager
def store_of_command(project: Project, plans: Sequence[Plan]) -> Iterator[ScheduleStore]:
    """Give what is known of schedules to a command that keeps these plans. Raises `UserError` if another one does."""
    names = [plan.name for plan in plans if not plan.own]
    sources = [source for plan in plans for source in plan.sources]
    with closing(open_schedules(project, renew=True)) as store, kept_sign(project) as sign:
        if kept := sign.claim(names, sources):
            raise UserError(kept)
        if store.renewed:
            logger.warning("%s", store.renewed)
        for plan in plans:
            for source in plan.sources:
                store.set_paused(source, paused=False)  # a pause ends with its process
        yield store


class StayingCommand:
    """A command that keeps plans until everything was stopped, or it is to end."""

    def __init__(
        self,
        project: Project,
        plans: Sequence[Plan],
        launcher: Launcher,
        events: EventStream,
        store: ScheduleStore,
        *,
        say: Callable[[str], None] = lambda _: None,
        crawl_ended: Callable[[CrawlEnd], None] = lambda _: None,
        is_crawled: Callable[[str], bool],
    ) -> None:
        self._store = store
        self._say = say
        self.runner = ScheduleRunner(
            plans,
            launcher,
            store,
            WallClock(),
            events=events,
            forgets_sources=True,
            crawl_ended=crawl_ended,
            is_crawled=is_crawled,
            log_of=lambda source: latest_log(project, source),
            has_pending=lambda source: has_pending(project, source),
        )

    async def keep(self, *, once: str = "") -> None:
        """Keep the plans; with `once` launch that one, and return when it has ended."""
        runner = self.runner
        others = [
            asyncio.ensure_future(hear_orders(runner, self._store, WallClock())),
            asyncio.ensure_future(self._say_what_is_next()),
        ]
        try:
            if once:
                runner.find_schedule(once).launch_by_hand()
            await runner.keep(until=(lambda: not runner.busy) if once else (lambda: runner.all_stopped))
        finally:
            for one in others:
                one.cancel()

    async def _say_what_is_next(self) -> None:
        said = ""
        while True:
            await asyncio.sleep(SAY_EVERY)
            if (line := next_in_words(self.runner)) and line != said:
                self._say(line)
                said = line


def next_in_words(runner: ScheduleRunner) -> str:
    """Return what comes next and when, in one line; empty while something is crawled."""
    due = runner.next_runs()
    if runner.busy or not due:
        return ""
    first = min(due.values())
    names = [name for name, at in due.items() if at == first]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"next: {', '.join(names[:3])}{more} at {as_text(first)}"
