"""What a schedule is doing, and what can happen to it (Ultra Search 13.2)."""

from __future__ import annotations

import pytest

from ultracrawl.model import ScheduleStatus as Status
from ultracrawl.rules.schedules.status import ScheduleEvent as Event
from ultracrawl.rules.schedules.status import next_status

WAY = [
    (Status.SCHEDULED, Event.LAUNCHED, Status.LAUNCHING),
    (Status.LAUNCHING, Event.BEGAN, Status.EXECUTING),
    (Status.EXECUTING, Event.ENDED, Status.SCHEDULED),
    (Status.EXECUTING, Event.ENDED_PENDING, Status.INDEXING_PENDING),
    (Status.INDEXING_PENDING, Event.APPROVED, Status.SCHEDULED),
    (Status.EXECUTING, Event.FAILED, Status.FAILED),
    (Status.EXECUTING, Event.PARTLY_FAILED, Status.PARTIALLY_FAILED),
    (Status.FAILED, Event.LAUNCHED, Status.LAUNCHING),
    (Status.PARTIALLY_FAILED, Event.LAUNCHED, Status.LAUNCHING),
    (Status.EXECUTING, Event.PUT_OFF, Status.SCHEDULED),
    (Status.EXECUTING, Event.STOPPED, Status.STOPPED),
    (Status.STOPPED, Event.RESUMED, Status.SCHEDULED),
    *(
        (status, Event.DISABLED, Status.DISABLED)
        for status in (Status.SCHEDULED, Status.FAILED, Status.STOPPED)
    ),
    (Status.DISABLED, Event.ENABLED, Status.SCHEDULED),
]


@pytest.mark.parametrize(("before", "event", "after"), WAY)
def test_the_way_of_a_schedule__ultra_search_113(before: Status, event: Event, after: Status) -> None:
    assert next_status(before, event) is after


NEVER = [
    (Status.EXECUTING, Event.LAUNCHED),
    (Status.LAUNCHING, Event.LAUNCHED),
    (Status.DISABLED, Event.LAUNCHED),
    (Status.SCHEDULED, Event.BEGAN),
    (Status.SCHEDULED, Event.ENDED),
    (Status.STOPPED, Event.FAILED),
    (Status.EXECUTING, Event.DISABLED),
    (Status.SCHEDULED, Event.RESUMED),
    (Status.SCHEDULED, Event.ENABLED),
    (Status.DISABLED, Event.STOPPED),
]


@pytest.mark.parametrize(("status", "event"), NEVER)
def test_what_cannot_happen(status: Status, event: Event) -> None:
    assert next_status(status, event) is None


def test_every_status_is_reached_and_left() -> None:
    found = {(before, after) for before in Status for event in Event if (after := next_status(before, event))}
    assert {before for before, _ in found} == set(Status)
    assert {after for _, after in found} == set(Status)
