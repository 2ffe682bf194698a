"""The stored state of a plan: how it is restored, when the plan is launched next, and what is shown of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ultracrawl.model import ScheduleStatus
from ultracrawl.rules.schedules.status import BUSY
from ultracrawl.service.orders import ScheduleState
from ultracrawl.service.schedules.plans import MISSED_AFTER, Plan
from ultracrawl.stores.port.schedule_store import KeptSchedule


def restored_state(plan: Plan, now: float, stored: KeptSchedule | None) -> KeptSchedule:
    """Return the state in which a plan starts; what an earlier process did not finish is continued at once."""
    if stored is None:
        return KeptSchedule(plan.key, due=plan.timing.first_due(now, None))
    stopped = plan.stops_after(stored.begun) <= now  # the next launch continues what a process left before
    left = tuple(source for source in stored.left if source in plan.sources and not stopped)
    status = ScheduleStatus.SCHEDULED if stored.status in BUSY else stored.status
    due = stored.due if left and plan.own else still_due(plan, now, stored.due)
    return replace(stored, status=status, due=due, left=left)


def next_launch(plan: Plan, row: KeptSchedule, now: float) -> float | None:
    """Return when a plan is launched next: by time, or at once for what is left of a run.

    None if it is not launched by time, or if all its sources are being crawled.
    """
    idle = row.status not in {ScheduleStatus.DISABLED, ScheduleStatus.STOPPED}
    if row.due is None or not plan.enabled or not idle:
        return None
    if row.status in BUSY:
        return None if set(plan.sources) <= set(row.left) else plan.window.opens(row.due)
    return plan.window.opens(now if row.left else row.due)


def schedule_state(
    plan: Plan, row: KeptSchedule, next_run: float | None, logs: Iterable[str]
) -> ScheduleState:
    """Return the public state of a plan; one that its definition disables is shown so unless it is busy."""
    status = row.status if plan.enabled or row.status in BUSY else ScheduleStatus.DISABLED
    return ScheduleState(
        plan.name,
        plan.sources,
        status,
        row.error,
        next_run,
        row.begun or None,
        row.ended or None,
        "\n".join(filter(None, logs)),
        plan.force,
        plan.mode,
        plan.profile,
        plan.node,
        row.left,
    )


def still_due(plan: Plan, now: float, due: float | None) -> float:
    """Return the due time of a plan: `due` if it has passed and only waits for its window, else a new one."""
    waits = due is not None and due <= now and plan.window.opens(due) > now - MISSED_AFTER
    return due if waits and due is not None else plan.timing.first_due(now, due)
