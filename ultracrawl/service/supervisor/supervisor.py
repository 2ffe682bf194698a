"""The supervisor of a service: crawls sources by schedules, intervals, folder changes and orders of people."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Collection, Sequence
from contextlib import suppress
from typing import Protocol

from ultracrawl.errors import UltracrawlError, UserError, WorkError
from ultracrawl.model import Finding, ScheduleStatus
from ultracrawl.model.finding import fatal_of
from ultracrawl.service.control import readable_status, steer
from ultracrawl.service.orders import (
    Clock,
    CompletingLauncher,
    CrawlOrder,
    Event,
    EventKind,
    EventStream,
    ScheduleState,
    SourceState,
)
from ultracrawl.service.schedules.optimisation import all_plans
from ultracrawl.service.schedules.plan_state import next_launch, schedule_state
from ultracrawl.service.schedules.plans import Plan
from ultracrawl.service.schedules.runner_claim import RunnerClaim
from ultracrawl.service.schedules.steering import obey, order_schedule, steer_source
from ultracrawl.service.supervisor.definitions import Definitions
from ultracrawl.service.supervisor.folder_watch import FolderWatch
from ultracrawl.service.supervisor.planned_crawls import CrawlOptions, PlannedCrawls
from ultracrawl.service.supervisor.pool import PooledCrawl
from ultracrawl.service.supervisor.slots import SlotLimits
from ultracrawl.service.supervisor.states import SourceStates
from ultracrawl.sources import Catalog, Project
from ultracrawl.stores.control_channel import Command
from ultracrawl.stores.ordered_crawls import OrderedCrawls
from ultracrawl.stores.port.schedule_store import KeptSchedule, ScheduleCommand, ScheduleOrder, ScheduleStore
from ultracrawl.stores.project_stores import service_notes
from ultracrawl.stores.runner_registry import active_runners

logger = logging.getLogger(__name__)

CHECK_INTERVAL = 1.0
"""Seconds between two checks of definitions and folders."""


class _Start(Protocol):
    def __call__(self, name: str, *, force: bool) -> Awaitable[None]: ...


async def _resume_ordered(ordered: OrderedCrawls, start: _Start) -> None:
    """Start the ordered crawls that an earlier service has not ended."""
    for source, force in ordered.forced.items():
        try:
            await start(source, force=force)
        except UltracrawlError as error:
            ordered.discard(source)
            logger.warning("the crawl of %s that was ordered is not resumed: %s", source, error)


class Supervisor:
    """Runs schedules and intervals with crawls in child processes, and takes orders (implements `Supervision`).

    `reload_definitions` replaces the definitions as a whole or not at all; a running crawl keeps the definition with
    which it was started.
    """

    def __init__(
        self,
        definitions: Definitions,
        store: ScheduleStore,
        clock: Clock,
        *,
        jobs: int | None = None,
        launcher: CompletingLauncher | None = None,
        runner_claim: RunnerClaim | None = None,
    ) -> None:
        """Claim the schedules and sources. Raises `WorkError` if another process has claimed some of them.

        With a `share` of the claim (on a node) it runs only the plans that this holds.
        """
        self._definitions, self._store = definitions, store
        self._clock, self._jobs = clock, jobs
        self._runner_claim = runner_claim or RunnerClaim()
        self._states = SourceStates()
        self._by_hand: dict[str, PooledCrawl] = {}
        """The last crawl of each source that a person or a folder change has ordered."""
        self._ordered = OrderedCrawls(service_notes(self.project), self._runner_claim.number)
        self._draining = False
        options = CrawlOptions(jobs, launcher=launcher, clock=clock)
        self._crawls = PlannedCrawls(lambda: self.project, self._plans(), store, self._runner_claim, options)
        self._stream, self._pool, self._runner = self._crawls.events, self._crawls.pool, self._crawls.runner
        self._stream.add_listener(self._note_event)
        self._watch = FolderWatch(clock, self.start_source, self._is_held)
        if conflict := self._runner_claim.claim(self._runner.schedules, self._runner.sources):
            raise WorkError(conflict)

    def _plans(self) -> list[Plan]:
        plans = all_plans(self.project)
        share = self._runner_claim.share
        return plans if share is None else share.held(plans)

    def _elsewhere(self) -> list[tuple[Plan, KeptSchedule]]:
        """Return the plans that another node runs or will run, with their states."""
        share = self._runner_claim.share
        if share is None:
            return []
        plans = all_plans(self.project)
        here = {plan.key for plan in share.held(plans)}
        return [(plan, share.row_of(plan)) for plan in plans if plan.key not in here]

    def _is_held(self, source: str) -> bool:
        """Whether a change of its folder does not start a source: a person has paused or stopped it, or it drains."""
        share = self._runner_claim.share
        if share is not None and not share.may_take(source):
            return True
        stopped = (row for plan, row in self._elsewhere() if plan.own and plan.name == source)
        return self._runner.is_held(source) or any(row.status is ScheduleStatus.STOPPED for row in stopped)

    def _is_watched(self, source: str) -> bool:
        """Return whether the folders of a source are watched here: by its node, or if it has none by one of all."""
        bound, share = self.project.node_of(source), self._runner_claim.share
        return bound == self._runner_claim.node if bound else share is None or share.watches(source)

    @property
    def project(self) -> Project:
        """The project by the present definitions."""
        return self._definitions.project

    def _living(self) -> list[str]:
        """Return the numbers of all services that live. Raises `StateError`."""
        return [runner.number for runner in active_runners(service_notes(self.project))]

    def _note_event(self, event: Event) -> None:
        if (end := event.end) is None:
            return
        self._states.note_end(end, self._clock.now())
        self._by_hand.pop(end.source, None)
        if not self._draining:  # what the end of the service interrupts is resumed by the next one
            self._ordered.discard(end.source)

    async def run(self) -> None:
        """Run schedules and intervals, and watch definitions and folders, until `drain` is called."""
        self.replace_watches()
        if not self._runner_claim.by_time_only:
            self._ordered.take_over(self._living)
            await _resume_ordered(self._ordered, self.start_source)
            if changed := self._definitions.changed_by_urls():
                self._runner.launch_source(changed)
        async with asyncio.TaskGroup() as group:  # a failure of any task ends the service
            checks = group.create_task(self._check_repeatedly())
            await self._crawls.run(own_commands={ScheduleCommand.STOP: self._stop_crawl})
            checks.cancel()

    async def _check_repeatedly(self) -> None:
        while True:
            await self._clock.sleep(CHECK_INTERVAL)
            try:
                await self._check_once()
            except Exception as error:  # no error in a file may end the service
                logger.warning("Checking the definitions failed: %s: %s", type(error).__name__, error)

    async def _check_once(self) -> None:
        if self._definitions.have_changed():
            await self.reload_definitions()
        await self._watch.crawl_changed()

    async def drain(self) -> None:
        """Start nothing more, end all crawls cleanly, and wait for them."""
        self._draining = True
        self._watch.end_watches()
        await self._runner.end_crawls()
        await self._pool.drain()

    async def kill_crawls(self) -> None:
        """Kill all crawls; they are resumed after the next start."""
        await self._pool.kill_crawls()

    async def reload_definitions(self) -> Sequence[Finding]:
        """Read the definitions again; if a finding is fatal, the old definitions stay."""
        findings = await asyncio.to_thread(self._definitions.reload)
        if mistakes := fatal_of(findings):
            more = f" (and {len(mistakes) - 1} more)" if mistakes[1:] else ""
            self._publish(EventKind.RELOAD_REFUSED, f"the definitions were not reloaded: {mistakes[0]}{more}")
        else:
            self._pool.set_limits(SlotLimits.of(self.project.processes, self._jobs))
            self._runner.replace_plans(self._plans())
            self.replace_watches()
            self._publish(EventKind.RELOADED, f"the definitions were reloaded: {self.project}")
            if conflict := self._runner_claim.claim(self._runner.schedules, self._runner.sources):
                logger.warning("%s", conflict)
        return findings

    # ---- what a node needs

    @property
    def free_slots(self) -> int:
        """Number of crawls that could begin now; negative if more wait."""
        return self._pool.limits.slots - len(self._pool.crawls)

    @property
    def crawled(self) -> Collection[str]:
        """The sources whose crawls run or wait here, those too that are just ending."""
        return self._pool.crawls

    def replace_plans(self) -> str:
        """Run the plans of its share; returns a message, and changes nothing, if another process runs one."""
        plans = self._plans()
        sources = [source for plan in plans for source in plan.sources]
        if conflict := self._runner_claim.claim([plan.name for plan in plans if not plan.own], sources):
            return conflict
        self._runner.read_paused()
        self._runner.replace_plans(plans)
        return ""

    def replace_watches(self) -> None:
        """Watch the folders that are to be watched here."""
        self._watch.replace_sources(self.project, self._is_watched)

    def is_idle(self, key: str) -> bool:
        """Return whether a plan neither runs nor is due."""
        return self._runner.is_idle(key)

    def end_source(self, source: str) -> None:
        """End the crawl of a source, if there is one."""
        if (crawl := self._pool.crawls.get(source)) is not None:
            crawl.stop_soon()

    def _publish(self, kind: EventKind, text: str) -> None:
        self._stream.publish_event(Event(kind, self._clock.now(), text=text))

    def events(self) -> EventStream:
        """Return the events, to listen or subscribe to."""
        return self._stream

    def sources(self) -> list[SourceState]:
        """Return the states of all sources, in the order of the definition."""
        due = self._runner.next_runs()
        for plan, row in self._elsewhere():
            at = next_launch(plan, row, self._clock.now())
            due |= {} if at is None else {source: at for source in plan.sources if source not in row.left}
        return self._states.sources(self.project, self._pool.crawls, due, self._runner.paused_sources())

    def schedules(self) -> list[ScheduleState]:
        """Return the states of all schedules, in the order of the definition."""
        now = self._clock.now()
        elsewhere = [
            schedule_state(plan, row, next_launch(plan, row, now), [row.log])
            for plan, row in self._elsewhere()
            if not plan.own
        ]
        states = {state.name: state for state in (*elsewhere, *self._runner.states())}
        return [states.pop(name) for name in self.project.schedules if name in states] + [*states.values()]

    # ---- orders

    async def start_source(self, name: str, *, force: bool = False) -> None:
        """Crawl a source now. Raises `WorkError` if it is being crawled."""
        Catalog(self.project).find(name)
        if self._draining:
            raise WorkError("the service is ending")
        if self._crawls.is_crawled(name):
            raise WorkError(f"the source {name!r} is being crawled already")
        self._ordered.add(name, force=force)
        profile, node = self.project.profile_of(name), self.project.node_of(name)
        self._by_hand[name] = await self._pool.launch(
            CrawlOrder(name, force=force, profile=profile, node=node)
        )

    async def stop_source(self, name: str) -> None:
        """End the crawl of a source cleanly; the next one resumes it."""
        Catalog(self.project).select_known([name])
        if name in self._pool.crawls:
            self._stop_crawl(name)
        elif readable_status(self.project, name) is None:
            raise WorkError(f"the source {name!r} is not being crawled")
        else:
            steer(self.project, name, Command.STOP, timeout=0)

    def _stop_crawl(self, name: str) -> None:
        crawl = self._pool.crawls.get(name)
        if crawl is not None and crawl is self._by_hand.get(name):
            crawl.stop_soon()
        else:
            self._runner.stop_source(name)

    async def pause_source(self, name: str) -> None:
        """Pause the crawl of a source; an idle source is not crawled until it is resumed."""
        Catalog(self.project).select_known([name])
        self._crawls.pause_source(name)

    async def resume_source(self, name: str) -> None:
        """Resume a paused source."""
        Catalog(self.project).select_known([name])
        self._runner.resume_source(name)
        if any(name in plan.sources for plan, _ in self._elsewhere()):
            await asyncio.to_thread(steer_source, self.project, name, Command.RESUME, timeout=0)
            return
        with suppress(UserError):  # it is not being crawled
            steer(self.project, name, Command.RESUME, timeout=0)

    async def launch_schedule(self, name: str) -> None:
        """Launch a schedule now."""
        if self._draining:
            raise WorkError("the service is ending")
        await self._order(name, ScheduleCommand.LAUNCH)

    async def enable_schedule(self, name: str) -> None:
        """Launch a schedule at its times."""
        await self._order(name, ScheduleCommand.ENABLE)

    async def disable_schedule(self, name: str) -> None:
        """Stop launching a schedule at its times."""
        await self._order(name, ScheduleCommand.DISABLE)

    async def stop_schedule(self, name: str) -> None:
        """End the crawls of a schedule cleanly."""
        await self._order(name, ScheduleCommand.STOP)

    async def resume_schedule(self, name: str) -> None:
        """Resume a stopped schedule."""
        await self._order(name, ScheduleCommand.RESUME)

    async def _order(self, name: str, command: ScheduleCommand) -> None:
        """Carry out an order for a schedule, or leave it for the node that runs the schedule or will run it."""
        if any(plan.name == name and not plan.own for plan, _ in self._elsewhere()):
            await asyncio.to_thread(order_schedule, self.project, name, command, timeout=0)
        else:
            obey(self._runner, ScheduleOrder(name, command))
