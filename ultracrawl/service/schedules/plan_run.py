"""A plan with the crawls of its active run: launches and stops what is due."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from ultracrawl.model import ScheduleStatus
from ultracrawl.rules.schedules.status import BUSY, ScheduleEvent, next_status
from ultracrawl.service.orders import ScheduleState
from ultracrawl.service.schedules.plan_crawls import NEVER, PlanCrawls, RunnerPorts
from ultracrawl.service.schedules.plan_state import next_launch, restored_state, schedule_state, still_due
from ultracrawl.service.schedules.plans import MISSED_AFTER, Plan
from ultracrawl.stores.port.schedule_store import KeptSchedule, ScheduleRun


class PlanRun:
    """A plan with its stored state and the crawls of its active run: it launches and stops what is due."""

    def __init__(self, plan: Plan, ports: RunnerPorts, stored: KeptSchedule | None) -> None:
        self.plan = plan
        self._ports = ports
        self._crawls = PlanCrawls(ports, self._note_begun, self._note_end)
        self._due: dict[str, float] = {}
        """Source of the active run -> since when it has been due."""
        self._ends = False
        """Whether a person stopped the active run, so that nothing more is launched."""
        self._is_removed = False
        """Whether it is no more in the definition, and only its active run goes on."""
        self.row = restored_state(plan, ports.clock.now(), stored)
        if not plan.own:
            self._change()  # stores the due time, so that the next runner notices if it was missed

    @property
    def busy(self) -> bool:
        """Whether its run is active."""
        return self.row.status in BUSY

    @property
    def stopped_by_hand(self) -> bool:
        """Whether it is a source at its own interval that a person has stopped."""
        return self.plan.own and self.row.status is ScheduleStatus.STOPPED

    @property
    def next_run(self) -> float | None:
        """When it is launched next; None if all its sources are being crawled, or if it is not launched by time."""
        return self._next_run(self._ports.clock.now())

    def _next_run(self, now: float) -> float | None:
        return None if self._ends or self._is_removed else next_launch(self.plan, self.row, now)

    def next_runs(self) -> dict[str, float]:
        """Return when each source that waits for a time is due."""
        at, crawled = self.next_run, self.row.left if self.busy else ()
        return {} if at is None else {source: at for source in self.plan.sources if source not in crawled}

    @property
    def due_since(self) -> float:
        """Its place among the plans: since when what it launches next has been due."""
        return self.row.begun if self.row.left and not self.busy else self.row.due or NEVER

    def is_crawling(self, source: str) -> bool:
        """Return whether it has ordered a crawl of a source that has not ended."""
        return source in self._crawls.active

    def state(self) -> ScheduleState:
        """Return the public state."""
        logs = map(self._ports.sources.log_of, self._crawls.active) if self.busy else [self.row.log]
        return schedule_state(self.plan, self.row, self.next_run, logs)

    # ---- the run

    def check(self, now: float) -> float:
        """Launch and stop what is due; returns the time of the next check."""
        self._skip_times(now)
        self._put_off(now)
        at, window = self._next_run(now), self.plan.window
        if at is not None and at <= now and window.is_open(now):
            is_due = self.row.due is not None and self.row.due <= now
            self._launch(now, self.plan.sources if is_due else (), self.due_since)
            at = self._next_run(now)
        launch = NEVER if at is None else window.opens(max(at, now))
        if not self.busy:
            return launch
        ordered = self._crawls.order_crawls(self.plan, self.row.left, self._due, now)
        return min(launch, ordered, self._crawls.stop_overdue(now))

    def _skip_times(self, now: float) -> None:
        """Replace a due time that was missed and is not made up for, or that comes while all sources are crawled."""
        due, at = self.row.due, self._next_run(now)
        if due is None or due > now or (self.plan.own and self.row.left):
            return
        if at is None and self.busy and not self.plan.stops_at(due):
            self._change(due=self._next_due())
        elif at is not None and due < now - MISSED_AFTER and (still := still_due(self.plan, now, due)) != due:
            self._change(due=still)

    def _put_off(self, now: float) -> None:
        """Replace the due time of a source that another process has crawled meanwhile, or whose runs are not known."""
        due = self.row.due
        if not self.plan.own or self.row.left or due is None or due > now or self._next_run(now) is None:
            return
        if self.plan.window.is_open(now) and (known := self.plan.timing.first_due(now, due)) > now:
            self._change(due=known)

    def clock_set_back(self, now: float) -> None:
        """Recompute a due time that was computed with a wrong clock."""
        if self.row.due is not None:
            self._change(due=min(self.row.due, self.plan.timing.first_due(now, None)))

    def _launch(self, now: float, sources: Collection[str], due: float) -> None:
        """Begin a run of these sources, beside those of the run before that are left: these go on."""
        left, (run, ended) = self.row.left, self._done(now) if self.busy else (None, {})
        self._due = {source: self._due.get(source, self.row.begun) for source in left} | {
            source: due for source in sources if source not in left
        }
        self._crawls.begin_run()
        event = None if self.busy else ScheduleEvent.LAUNCHED
        following = self.row.due if self.plan.own else self._next_due()
        self._change(event, run=run, begun=now, due=following, left=tuple(self._due), **ended)

    def note_begun(self, source: str, *, begun: bool) -> None:
        """Record that a crawl of the run has started or goes on, or that it waits for a slot."""
        (self._crawls.note_begun if begun else self._crawls.note_waits)(source)

    def _note_begun(self) -> None:
        if self.row.status is ScheduleStatus.LAUNCHING:
            self._change(ScheduleEvent.BEGAN)

    def _note_end(self, source: str) -> None:
        now, crawls = self._ports.clock.now(), self._crawls
        left = tuple(name for name in self.row.left if name not in crawls.results)
        if not left:
            self._finish(now)
        elif not crawls.active and (source in left or not self.plan.window.is_open(now)):
            run, ended = self._done(now)
            self._crawls.begin_run()
            self._change(ScheduleEvent.PUT_OFF, run=run, left=left, **{"ended": now, **ended})
        else:
            self._change(left=left)
        self._ports.wake()

    def _ended_run(self, now: float) -> tuple[ScheduleEvent, ScheduleRun]:
        """Return the run of the sources that are done, and the event that it is for the schedule."""
        failed, results = self._crawls.failed_sources, self._crawls.results
        event = ScheduleEvent.STOPPED if self._ends else self._crawls.event()
        is_single = len(self.plan.sources) == 1
        error = "; ".join(reason if is_single else f"{name}: {reason}" for name, reason in failed.items())
        log = "\n".join(filter(None, map(self._ports.sources.log_of, results)))
        status = next_status(self.row.status, event)
        assert status is not None
        return event, ScheduleRun(self.row.begun, now, status, error, log, dict(results))

    def _done(self, now: float) -> tuple[ScheduleRun | None, dict[str, Any]]:
        """Return the run of the sources that are done before the others, and what it changes; None if none is."""
        if not self._crawls.results:
            return None, {}
        run = self._ended_run(now)[1]
        return run, {"ended": now, "error": run.error, "log": run.log}

    def _finish(self, now: float) -> None:
        """Finish the run after all its sources are done."""
        event, run = self._ended_run(now)
        failed = bool(self._crawls.failed_sources)
        due = self.row.due
        if due is None or due > now or not self.plan.stops_at(due):
            due = self.plan.due_after(now, failed=failed, begun=self._crawls.begun)
        self._ends = False
        self._change(event, run=run, ended=now, error=run.error, log=run.log, due=due, left=())

    def suspend(self) -> list[asyncio.Task[None]]:
        """End all crawls so that the next runner resumes them; returns the tasks to wait for."""
        return self._crawls.suspend()

    def replace_plan(self, plan: Plan | None) -> None:
        """Use another definition from now on; the crawls of the active run end by the old one.

        With None the plan was removed: what has not been ordered is not crawled any more.
        """
        wanted = plan.sources if plan is not None else ()
        changed = plan is not None and (plan.timing != self.plan.timing or self._is_removed)
        self.plan, self._is_removed = plan or self.plan, plan is None
        left = tuple(source for source in self.row.left if source in wanted or self.is_crawling(source))
        if left != self.row.left:
            self._change(left=left)
        if self.busy and not left:
            self._finish(self._ports.clock.now())
        elif changed and self.row.due is not None and not (self.plan.own and left):
            self._change(due=self._next_due())

    def _next_due(self) -> float:
        return self.plan.timing.first_due(self._ports.clock.now(), None)

    def _change(
        self, event: ScheduleEvent | None = None, *, run: ScheduleRun | None = None, **fields: Any
    ) -> None:
        """Change the state, and store it with a finished run."""
        status = self.row.status if event is None else next_status(self.row.status, event)
        assert status is not None, (self.row.status, event)
        self.row = replace(self.row, status=status, **fields)
        self._ports.store_state(self.row, None if self.plan.own else run)
