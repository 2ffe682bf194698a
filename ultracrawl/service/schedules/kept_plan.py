"""One plan that is kept: what it does, and what persons want of it."""

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
from ultracrawl.service.schedules.plans import LATE, Plan
from ultracrawl.stores.port.schedule_store import KeptSchedule, ScheduleRun


class KeptPlan:
    """A plan, what it does, and the crawls of its run."""

    def __init__(self, plan: Plan, ports: RunnerPorts, kept: KeptSchedule | None) -> None:
        self.plan = plan
        self._ports = ports
        self._crawls = PlanCrawls(plan, ports, self._crawl_changed)
        self.row = _taken_up(plan, ports.clock.now(), kept)
        if not plan.own:
            self._change()  # what is missed from now on is known to the next runner

    @property
    def busy(self) -> bool:
        """Whether a run of it goes on."""
        return self.row.status in BUSY

    @property
    def stopped_by_hand(self) -> bool:
        """Whether it is a source at its own interval that is begun no more until it is resumed."""
        return self.plan.own and self.row.status is ScheduleStatus.STOPPED

    @property
    def status(self) -> ScheduleStatus:
        """What it does; one that the definition switched off is disabled."""
        return self.row.status if self.busy or self.plan.enabled else ScheduleStatus.DISABLED

    @property
    def next_run(self) -> float | None:
        """When it is launched next; None if nothing launches it."""
        waits = self.status not in {ScheduleStatus.DISABLED, ScheduleStatus.STOPPED}
        if self.row.due is None or not waits or self.busy:
            return None
        return self.plan.window.opens(self.row.due)

    def state(self) -> ScheduleState:
        """Return what it does, for those who look on."""
        logs = map(self._ports.log_of, self._crawls.going) if self.busy else [self.row.log]
        return schedule_state(self.plan, replace(self.row, status=self.status), self.next_run, logs)

    # ---- time goes by

    def look(self, now: float) -> float:
        """Do what is due; returns when to look again."""
        if self.busy:
            return min(self._crawls.order_crawls(self.row.left, now), self._crawls.stop_late(now))
        due = self.row.due
        if self.next_run is None or due is None:
            return NEVER
        if not self.row.left and due < now - LATE:
            due = still_due(self.plan, now, due)
            if due != self.row.due:
                self._change(due=due)
        begins = self.plan.window.opens(max(now, due))
        if begins > now:
            return begins
        self._launch(now)
        return self.look(now)

    def clock_set_back(self, now: float) -> None:
        """Plan anew what waits for a time that a wrong clock has made."""
        if not self.busy and self.row.due is not None and not self.row.left:
            self._change(due=min(self.row.due, self.plan.rhythm.first_due(now, None)))

    def _launch(self, now: float) -> None:
        self._crawls = PlanCrawls(self.plan, self._ports, self._crawl_changed)
        self._change(ScheduleEvent.LAUNCHED, begun=now, left=self.row.left or self.plan.sources)

    def note_begun(self) -> None:
        """Take note that a crawl is under way."""
        if self.row.status is ScheduleStatus.LAUNCHING:
            self._change(ScheduleEvent.BEGAN)

    def _crawl_changed(self, source: str, ended: bool) -> None:
        if not ended:
            self.note_begun()
            return
        now, crawls = self._ports.clock.now(), self._crawls
        left = tuple(one for one in self.row.left if one not in crawls.results)
        if not left:
            self._finish(now)
        elif source in left and not crawls.going:
            self._change(ScheduleEvent.PUT_OFF, due=now, ended=now, left=left)
        else:
            self._change(left=left)
        self._ports.wake()

    def _finish(self, now: float) -> None:
        """End the run: all its sources are done."""
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
        alone = len(self.plan.sources) == 1
        error = "; ".join(why if alone else f"{name}: {why}" for name, why in failed.items())
        due = self.plan.rhythm.due_after(now, failed=bool(failed), begun=self._crawls.begun)
        log = "\n".join(filter(None, map(self._ports.log_of, results)))
        status = next_status(self.row.status, event)
        assert status is not None
        run = ScheduleRun(self.row.begun, now, status, error, log, dict(results))
        self._change(event, run=run, ended=now, error=error, log=log, due=due, left=())

    # ---- what persons want

    def launch_by_hand(self) -> None:
        """Begin a run now. Raises `UserError`, `WorkError`."""
        if self.busy:
            raise WorkError(f"{self._what} is {self.row.status} already")
        if self.row.status is ScheduleStatus.DISABLED:
            raise UserError(f"{self._what} is disabled; enable it first")
        self._launch(self._ports.clock.now())

    def stop_by_hand(self) -> None:
        """End the run of it, if there is one, and launch it no more until it is resumed."""
        if not self.busy:
            self._tell(ScheduleEvent.STOPPED, "be stopped", left=())
            return
        going = tuple(self._crawls.going)
        for source in self.row.left:
            if source not in going:
                self._crawls.leave_out(source)
        self._change(left=going)
        for source in going:
            self._crawls.stop_source(source)
        if not going:
            self._finish(self._ports.clock.now())

    def resume_by_hand(self) -> None:
        """Launch it at its times again."""
        self._tell(ScheduleEvent.RESUMED, "be resumed", due=self._next_due())

    def enable(self) -> None:
        """Launch it at its times again."""
        if not self.plan.enabled:
            raise UserError(f"{self._what} is disabled by its definition; write `enabled: true` there")
        self._tell(ScheduleEvent.ENABLED, "be enabled", due=self._next_due())

    def disable(self) -> None:
        """Launch it no more."""
        if self.busy:
            raise WorkError(f"{self._what} is {self.row.status}; stop it first")
        self._tell(ScheduleEvent.DISABLED, "be disabled", left=())

    def stop_source(self, source: str) -> None:
        """End the crawl of one of its sources; if it is its own interval, begin none until it is resumed."""
        if source in self._crawls.going:
            self._crawls.stop_source(source)
        elif self.plan.own:
            self.stop_by_hand()
        else:
            raise UserError(
                f"the source {source!r} is not being crawled; `ultracrawl schedule stop` stops {self._what}"
            )

    def put_off(self) -> list[asyncio.Task[None]]:
        """End all crawls so that they go on with the next runner; returns what to wait for."""
        return self._crawls.put_off()

    def take_plan(self, plan: Plan) -> None:
        """Go by another definition from now on; a run that goes on ends by the old one."""
        changed = plan.rhythm != self.plan.rhythm
        self.plan = plan
        if changed and not self.busy and not self.row.left and self.row.due is not None:
            self._change(due=self._next_due())

    def _next_due(self) -> float:
        return self.plan.rhythm.first_due(self._ports.clock.now(), None)

    def _tell(self, event: ScheduleEvent, done: str, **fields: Any) -> None:
        if next_status(self.row.status, event) is None:
            raise UserError(f"{self._what} is {self.row.status}, and cannot {done}")
        self._change(event, **fields)
        self._ports.wake()

    @property
    def _what(self) -> str:
        return f"the {'source' if self.plan.own else 'schedule'} {self.plan.name!r}"

    def _change(
        self, event: ScheduleEvent | None = None, *, run: ScheduleRun | None = None, **fields: Any
    ) -> None:
        """Note what it does now, durable."""
        status = self.row.status if event is None else next_status(self.row.status, event)
        assert status is not None, (self.row.status, event)
        self.row = replace(self.row, status=status, **fields)
        self._ports.keep(self.row, None if self.plan.own else run)


def _taken_up(plan: Plan, now: float, kept: KeptSchedule | None) -> KeptSchedule:
    """Return where an earlier process left a plan: what that did not end goes on at once."""
    if kept is None:
        return KeptSchedule(plan.key, due=plan.rhythm.first_due(now, None))
    left = tuple(one for one in kept.left if one in plan.sources)
    if kept.status in BUSY:
        return replace(kept, status=ScheduleStatus.SCHEDULED, due=now, left=left)
    if left:
        return replace(kept, left=left)
    return replace(kept, left=(), due=still_due(plan, now, kept.due))


def schedule_state(
    plan: Plan, row: KeptSchedule, next_run: float | None, logs: Iterable[str]
) -> ScheduleState:
    """Return what a plan does, for those who look on."""
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
    """Return when a plan is due that was to be launched at a time: then, if that only waits for its window."""
    waits = due is not None and due <= now and plan.window.opens(due) > now - LATE
    return due if waits and due is not None else plan.rhythm.first_due(now, due)
