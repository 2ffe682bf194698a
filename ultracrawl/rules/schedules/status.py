"""What a schedule is doing, and what can happen to it (Ultra Search 13.2)."""

from __future__ import annotations

from enum import StrEnum

from ultracrawl.model import ScheduleStatus as Status


class ScheduleEvent(StrEnum):
    """What happens to a schedule."""

    LAUNCHED = "launched"
    """Its time has come, or a person wants it now."""
    BEGAN = "began"
    """The first of its crawls is under way."""
    ENDED = "ended"
    ENDED_PENDING = "ended with documents that wait"
    FAILED = "failed"
    PARTLY_FAILED = "partly failed"
    PUT_OFF = "put off"
    """Its window has closed, or its runner ends: what is left goes on later."""
    APPROVED = "approved"
    """No documents wait for approval any more."""
    STOPPED = "stopped"
    RESUMED = "resumed"
    DISABLED = "disabled"
    ENABLED = "enabled"


IDLE = frozenset({Status.SCHEDULED, Status.INDEXING_PENDING, Status.FAILED, Status.PARTIALLY_FAILED})
"""It waits for its next time."""
BUSY = frozenset({Status.LAUNCHING, Status.EXECUTING})
"""It is launched, and not launched again."""

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
    """Return what a schedule does after an event; None if that cannot happen to it."""
    return _TABLE[event].get(status)
