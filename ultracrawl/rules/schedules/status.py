"""The state machine of a schedule (Ultra Search 13.2)."""

from __future__ import annotations

from enum import StrEnum

from ultracrawl.model import ScheduleStatus as Status


class ScheduleEvent(StrEnum):
    """An event of a schedule."""

    LAUNCHED = "launched"
    """Started at its time or by a person."""
    BEGAN = "began"
    """The first of its crawls has started."""
    ENDED = "ended"
    ENDED_PENDING = "ended with documents that wait"
    FAILED = "failed"
    PARTLY_FAILED = "partly failed"
    PUT_OFF = "put off"
    """Its run window has closed or its runner ends; the remaining crawls continue later."""
    APPROVED = "approved"
    """No documents wait for approval any more."""
    STOPPED = "stopped"
    RESUMED = "resumed"
    DISABLED = "disabled"
    ENABLED = "enabled"


IDLE = frozenset({Status.SCHEDULED, Status.INDEXING_PENDING, Status.FAILED, Status.PARTIALLY_FAILED})
"""States in which a schedule waits for its next start time."""
BUSY = frozenset({Status.LAUNCHING, Status.EXECUTING})
"""States in which a schedule is not launched again."""

_TABLE: dict[ScheduleEvent, dict[Status, Status]] = {
    ScheduleEvent.LAUNCHED: dict.fromkeys(IDLE | {Status.STOPPED}, Status.LAUNCHING),
    ScheduleEvent.BEGAN: dict.fromkeys(BUSY, Status.EXECUTING),
    ScheduleEvent.ENDED: dict.fromkeys(BUSY, Status.SCHEDULED),
    ScheduleEvent.ENDED_PENDING: dict.fromkeys(BUSY, Status.INDEXING_PENDING),
    ScheduleEvent.FAILED: dict.fromkeys(BUSY, Status.FAILED),
    ScheduleEvent.PARTLY_FAILED: dict.fromkeys(BUSY, Status.PARTIALLY_FAILED),
    ScheduleEvent.PUT_OFF: dict.fromkeys(BUSY, Status.SCHEDULED),
    ScheduleEvent.APPROVED: {Status.INDEXING_PENDING: Status.SCHEDULED},
    ScheduleEvent.STOPPED: dict.fromkeys(IDLE | BUSY, Status.STOPPED),
    ScheduleEvent.RESUMED: {Status.STOPPED: Status.SCHEDULED},
    ScheduleEvent.DISABLED: dict.fromkeys(IDLE | {Status.STOPPED}, Status.DISABLED),
    ScheduleEvent.ENABLED: {Status.DISABLED: Status.SCHEDULED},
}


def next_status(status: Status, event: ScheduleEvent) -> Status | None:
    """Return the state after an event; None if the event is not possible in this state."""
    return _TABLE[event].get(status)
