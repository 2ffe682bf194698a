"""The crawls of a process by plans and orders: the pool decides who runs, the runner when a plan is due."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping

from ultracrawl.dataclass import dataclass, field
from ultracrawl.service.control import readable_status, steer
from ultracrawl.service.nodes.bound_launcher import BoundLauncher
from ultracrawl.service.orders import Clock, CompletingLauncher, EventStream, WallClock
from ultracrawl.service.schedules.plan_crawls import KnownSources
from ultracrawl.service.schedules.plans import Plan
from ultracrawl.service.schedules.runner import ScheduleRunner
from ultracrawl.service.schedules.runner_claim import RunnerClaim
from ultracrawl.service.schedules.schedule_status import has_pending, latest_log
from ultracrawl.service.schedules.steering import obey_orders
from ultracrawl.service.scrapyd.launcher import ProfileLauncher, status_of_other_crawl
from ultracrawl.service.supervisor.messages import child_order
from ultracrawl.service.supervisor.pool import MAX_RESTARTS, CrawlPool
from ultracrawl.service.supervisor.processes import ProcessLauncher
from ultracrawl.service.supervisor.slots import SlotLimits
from ultracrawl.sources import Project
from ultracrawl.stores.control_channel import Command
from ultracrawl.stores.port.schedule_store import ScheduleCommand, ScheduleStore


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """How a process crawls."""

    jobs: int | None = None
    """Crawls at a time; None: as defined."""
    log_level: str = "ERROR"
    launcher: CompletingLauncher | None = None
    """Starts crawls on this machine; None: in child processes."""
    clock: Clock = field(default_factory=WallClock)


class PlannedCrawls(KnownSources):
    """A pool of crawls and the runner that orders them when they are due; obeys the orders of other processes."""

    def __init__(
        self,
        project: Callable[[], Project],
        plans: Iterable[Plan],
        store: ScheduleStore,
        claim: RunnerClaim,
        options: CrawlOptions,
    ) -> None:
        self._project, self._store, self._options = project, store, options
        self.events = EventStream()
        """What happens to crawls; schedules, API, notices and metrics subscribe to it."""
        local = options.launcher or ProcessLauncher(
            lambda order: child_order(project(), order, options.log_level)
        )
        self.pool = CrawlPool(
            ProfileLauncher(BoundLauncher(local, project, claim.node), project, options.clock),
            options.clock,
            self.events,
            limits=SlotLimits.of(project().processes, options.jobs),
            restarts=MAX_RESTARTS,
            waiting_changed=claim.publish_waiting,
        )
        self.runner = ScheduleRunner(plans, self.pool, store, options.clock, events=self.events, sources=self)

    def is_crawled(self, source: str) -> bool:
        """Return whether a source is queued or crawled here, or crawled by another process of this machine."""
        return source in self.pool.crawls or status_of_other_crawl(self._project(), source) is not None

    def log_of(self, source: str) -> str:
        """Return the log file of the latest run of a source."""
        return latest_log(self._project(), source)

    def has_pending(self, source: str) -> bool:
        """Return whether documents of a source wait for approval."""
        return has_pending(self._project(), source)

    def pause_source(self, source: str) -> None:
        """Pause the crawl of a source, in whatever process; one that has not begun is not started until `resume`."""
        if readable_status(self._project(), source) is not None:
            steer(self._project(), source, Command.PAUSE, timeout=0)
            return
        self.pool.withdraw(source)
        self.runner.pause_source(source)

    async def run(
        self,
        until: Callable[[], bool] = lambda: False,
        own_commands: Mapping[ScheduleCommand, Callable[[str], None]] | None = None,
    ) -> None:
        """Run the plans, and obey the orders of other processes, until the runner ends or `until` returns True.

        `own_commands` carry out orders for sources instead of the runner.
        """
        commands = {ScheduleCommand.PAUSE: self.pause_source, **(own_commands or {})}
        orders = asyncio.ensure_future(obey_orders(self.runner, self._store, self._options.clock, commands))
        running = asyncio.ensure_future(self.runner.run(until))
        try:
            await asyncio.wait((running, orders), return_when=asyncio.FIRST_COMPLETED)
            for ended in (running, orders):
                if ended.done():
                    ended.result()  # raises what has ended it
        finally:
            orders.cancel()
            running.cancel()
