"""A plan under the control of the runner: its runs, and orders of people."""

from __future__ import annotations

from typing import Any

from ultracrawl.errors import UserError, WorkError
from ultracrawl.model import ScheduleStatus
from ultracrawl.rules.schedules.status import ScheduleEvent, next_status
from ultracrawl.service.schedules.plan_run import PlanRun


class ManagedPlan(PlanRun):
    """A plan that also obeys orders of people."""

    def launch_by_hand(self) -> None:
        """Launch now what is not being crawled. Raises `UserError`, `WorkError`."""
        if self.busy and (self._ends or set(self.plan.sources) <= set(self.row.left)):
            raise WorkError(f"{self._label} is {self.row.status} already")
        if self.row.status is ScheduleStatus.DISABLED:
            raise UserError(f"{self._label} is disabled; enable it first")
        now = self._ports.clock.now()
        self._launch(now, self.plan.sources, now)

    def stop_by_hand(self) -> None:
        """End the active run, if there is one, and do not launch the plan until it is resumed."""
        if not self.busy:
            self._apply_order(ScheduleEvent.STOPPED, "be stopped", left=())
            return
        active = tuple(self._crawls.active)
        for source in self.row.left:
            if source not in active:
                self._crawls.skip_source(source)
        self._ends = True
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

    def _apply_order(self, event: ScheduleEvent, done: str, **fields: Any) -> None:
        if next_status(self.row.status, event) is None:
            raise UserError(f"{self._label} is {self.row.status}, and cannot {done}")
        self._change(event, **fields)
        self._ports.wake()

    @property
    def _label(self) -> str:
        return f"the {'source' if self.plan.own else 'schedule'} {self.plan.name!r}"
