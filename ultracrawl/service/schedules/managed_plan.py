"""A plan under the control of the runner: its state machine, and orders of people."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ultracrawl.errors import UserError, WorkError
from ultracrawl.model import ScheduleStatus
from ultracrawl.rules.schedules.status import BUSY, ScheduleEvent, next_status
from ultracrawl.service.orders import ScheduleState
from ultracrawl.service.schedules.plan_crawls import NEVER, PlanCrawls, RunnerPorts
from ultracrawl.service.schedules.plans import MISSED_AFTER, Plan
from ultracrawl.stores.port.schedule_store import KeptSchedule, ScheduleRun


class ManagedPlan:
    """A plan with its stored state and the crawls of its active run."""

    def __init__(self, plan: Plan, ports: RunnerPorts, stored: KeptSchedule | None) -> None:
        self.plan = plan
        self._ports = ports
        self._crawls = PlanCrawls(plan, ports, self._crawl_changed)
        self.row = _restored_state(plan, ports.clock.now(), stored)
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
    def status(self) -> ScheduleStatus:
        """The present status; DISABLED if the definition disables it and it is not busy."""
        return self.row.status if self.busy or self.plan.enabled else ScheduleStatus.DISABLED

    @property
    def next_run(self) -> float | None:
        """When it is launched next; None if it is busy or not launched by time."""
        waits = self.status not in {ScheduleStatus.DISABLED, ScheduleStatus.STOPPED}
        if self.row.due is None or not waits or self.busy:
            return None
        return self.plan.window.opens(self.row.due)

    def state(self) -> ScheduleState:
        """Return the public state."""
        logs = map(self._ports.log_of, self._crawls.active) if self.busy else [self.row.log]
        return schedule_state(self.plan, replace(self.row, status=self.status), self.next_run, logs)

    # ---- the run

    def check(self, now: float) -> float:
        """Launch and stop what is due; returns the time of the next check."""
        if self.busy:
            return min(self._crawls.order_crawls(self.row.left, now), self._crawls.stop_overdue(now))
        due = self.row.due
        if self.next_run is None or due is None:
            return NEVER
        if not self.row.left and due < now - MISSED_AFTER:
            due = still_due(self.plan, now, due)
            if due != self.row.due:
                self._change(due=due)
        opens = self.plan.window.opens(max(now, due))
        if opens > now:
            return opens
        self._launch(now)
        return self.check(now)

    def clock_set_back(self, now: float) -> None:
        """Recompute a due time that was computed with a wrong clock."""
        if not self.busy and self.row.due is not None and not self.row.left:
            self._change(due=min(self.row.due, self.plan.timing.first_due(now, None)))

    def _launch(self, now: float) -> None:
        self._crawls = PlanCrawls(self.plan, self._ports, self._crawl_changed)
        self._change(ScheduleEvent.LAUNCHED, begun=now, left=self.row.left or self.plan.sources)

    def note_begun(self) -> None:
        """Record that a crawl of the run has started."""
        if self.row.status is ScheduleStatus.LAUNCHING:
            self._change(ScheduleEvent.BEGAN)

    def _crawl_changed(self, source: str, ended: bool) -> None:
        if not ended:
            self.note_begun()
            return
        now, crawls = self._ports.clock.now(), self._crawls
        left = tuple(name for name in self.row.left if name not in crawls.results)
        if not left:
            self._finish(now)
        elif source in left and not crawls.active:
            self._change(ScheduleEvent.PUT_OFF, due=now, ended=now, left=left)
        else:
            self._change(left=left)
        self._ports.wake()

    def _finish(self, now: float) -> None:
        """Finish the run after all its sources are done."""
        failed, results = self._crawls.failed_sources, self._crawls.results
        if self._crawls.stopped and len(self._crawls.stopped) == len(results):
            event = ScheduleEvent.STOPPED
        elif failed and len(failed) == len(results):
            event = ScheduleEvent.FAILED
        elif failed:
            event = ScheduleEvent.PARTLY_FAILED
        elif any(map(self._ports.has_pending, results)):
            event = ScheduleEvent.ENDED_PENDING
        else:
            event = ScheduleEvent.ENDED
        is_single = len(self.plan.sources) == 1
        error = "; ".join(reason if is_single else f"{name}: {reason}" for name, reason in failed.items())
        due = self.plan.timing.due_after(now, failed=bool(failed), begun=self._crawls.begun)
        log = "\n".join(filter(None, map(self._ports.log_of, results)))
        status = next_status(self.row.status, event)
        assert status is not None
        run = ScheduleRun(self.row.begun, now, status, error, log, dict(results))
        self._change(event, run=run, ended=now, error=error, log=log, due=due, left=())

    # ---- orders of people

    def launch_by_hand(self) -> None:
        """Start a run now. Raises `UserError`, `WorkError`."""
        if self.busy:
            raise WorkError(f"{self._label} is {self.row.status} already")
        if self.row.status is ScheduleStatus.DISABLED:
            raise UserError(f"{self._label} is disabled; enable it first")
        self._launch(self._ports.clock.now())

    def stop_by_hand(self) -> None:
        """End the active run, if there is one, and do not launch the plan until it is resumed."""
        if not self.busy:
            self._apply_order(ScheduleEvent.STOPPED, "be stopped", left=())
            return
        active = tuple(self._crawls.active)
        for source in self.row.left:
            if source not in active:
                self._crawls.skip_source(source)
        self._change(left=active)
        for source in active:
            self._crawls.stop_source(source)
        if not active:
            self._finish(self._ports.clock.now())

    def resume_by_hand(self) -> None:
        """Launch the plan at its times again, after it was stopped."""
        self._apply_order(ScheduleEvent.RESUMED, "be resumed", due=self._next_due())

    def enable(self) -> None:
        """Launch the plan at its times again, after it was disabled."""
        if not self.plan.enabled:
            raise UserError(f"{self._label} is disabled by its definition; write `enabled: true` there")
        self._apply_order(ScheduleEvent.ENABLED, "be enabled", due=self._next_due())

    def disable(self) -> None:
        """Do not launch the plan at its times any more."""
        if self.busy:
            raise WorkError(f"{self._label} is {self.row.status}; stop it first")
        self._apply_order(ScheduleEvent.DISABLED, "be disabled", left=())

    def stop_source(self, source: str) -> None:
        """End the crawl of one source; a plan of its own interval is not launched until it is resumed."""
        if source in self._crawls.active:
            self._crawls.stop_source(source)
        elif self.plan.own:
            self.stop_by_hand()
        else:
            raise UserError(
                f"the source {source!r} is not being crawled; `ultracrawl schedule stop` stops {self._label}"
            )

    def suspend(self) -> list[asyncio.Task[None]]:
        """End all crawls so that the next runner resumes them; returns the tasks to wait for."""
        return self._crawls.suspend()

    def replace_plan(self, plan: Plan) -> None:
        """Use another definition from now on; the active run ends by the old one."""
        changed = plan.timing != self.plan.timing
        self.plan = plan
        if changed and not self.busy and not self.row.left and self.row.due is not None:
            self._change(due=self._next_due())

    def _next_due(self) -> float:
        return self.plan.timing.first_due(self._ports.clock.now(), None)

    def _apply_order(self, event: ScheduleEvent, done: str, **fields: Any) -> None:
        if next_status(self.row.status, event) is None:
            raise UserError(f"{self._label} is {self.row.status}, and cannot {done}")
        self._change(event, **fields)
        self._ports.wake()

    @property
    def _label(self) -> str:
        return f"the {'source' if self.plan.own else 'schedule'} {self.plan.name!r}"

    def _change(
        self, event: ScheduleEvent | None = None, *, run: ScheduleRun | None = None, **fields: Any
    ) -> None:
        """Change the state, and store it with a finished run."""
        status = self.row.status if event is None else next_status(self.row.status, event)
        assert status is not None, (self.row.status, event)
        self.row = replace(self.row, status=status, **fields)
        self._ports.store_state(self.row, None if self.plan.own else run)


def _restored_state(plan: Plan, now: float, stored: KeptSchedule | None) -> KeptSchedule:
    """Return the state in which a plan starts; a run that an earlier process did not finish is due at once."""
    if stored is None:
        return KeptSchedule(plan.key, due=plan.timing.first_due(now, None))
    left = tuple(source for source in stored.left if source in plan.sources)
    if stored.status in BUSY:
        return replace(stored, status=ScheduleStatus.SCHEDULED, due=now, left=left)
    if left:
        return replace(stored, left=left)
    return replace(stored, left=(), due=still_due(plan, now, stored.due))


def schedule_state(
    plan: Plan, row: KeptSchedule, next_run: float | None, logs: Iterable[str]
) -> ScheduleState:
    """Return the public state of a plan."""
    return ScheduleState(
        plan.name,
        plan.sources,
        row.status,
        row.error,
        next_run,
        row.begun or None,
        row.ended or None,
        "\n".join(filter(None, logs)),
        plan.force,
        plan.mode,
        plan.profile,
    )


def still_due(plan: Plan, now: float, due: float | None) -> float:
    """Return the due time of a plan: `due` if it has passed and only waits for its window, else a new one."""
    waits = due is not None and due <= now and plan.window.opens(due) > now - MISSED_AFTER
    return due if waits and due is not None else plan.timing.first_due(now, due)
