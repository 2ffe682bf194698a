"""The port of what a project knows of its schedules: what each does, how its runs went, orders for who keeps it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from ultracrawl.model import ScheduleStatus


@dataclass(frozen=True, slots=True)
class KeptSchedule:
    """A schedule as it was kept last; times are seconds since 1970, 0 for never."""

    name: str
    status: ScheduleStatus = ScheduleStatus.SCHEDULED
    error: str = ""
    """Why it failed; kept until it does not."""
    due: float | None = None
    """When it is launched next."""
    begun: float = 0.0
    ended: float = 0.0
    log: str = ""
    """The logs of its latest run, a path a line."""
    left: tuple[str, ...] = ()
    """Sources of a run that did not end, which are not done."""


@dataclass(frozen=True, slots=True)
class ScheduleRun:
    """One run of a schedule, in its history."""

    begun: float
    ended: float
    status: ScheduleStatus
    """What the schedule did after it."""
    error: str = ""
    log: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Of each source why it failed, empty if it did not."""


class ScheduleCommand(StrEnum):
    """What a schedule, or a source that is kept, can be told."""

    LAUNCH = "launch"
    ENABLE = "enable"
    DISABLE = "disable"
    STOP = "stop"
    RESUME = "resume"
    PAUSE = "pause"
    """Of sources alone."""


@dataclass(frozen=True, slots=True)
class ScheduleOrder:
    """A command for who keeps something."""

    name: str
    """A schedule, or a source if `of_source`."""
    command: ScheduleCommand
    of_source: bool = False


class ScheduleStore(Protocol):
    """What is known of the schedules of a project, durable with each call. Everything raises `StateError`."""

    renewed: str
    """What was damaged, set aside and begun anew when it was opened; empty if nothing was."""

    def get_schedule(self, name: str) -> KeptSchedule | None:
        """Return a schedule, None if it was never kept."""

    def put_schedule(self, schedule: KeptSchedule, run: ScheduleRun | None = None) -> None:
        """Keep a schedule in place of what was known of it, and add a run that has ended to its history."""

    def runs(self, name: str, limit: int) -> list[ScheduleRun]:
        """Return the latest runs of a schedule, the latest first."""

    def paused_sources(self) -> frozenset[str]:
        """Return the sources that are not begun until they are resumed."""

    def set_paused(self, source: str, *, paused: bool) -> None:
        """Remember whether a source is not to be begun."""

    def leave_order(self, order: ScheduleOrder, at: float) -> None:
        """Leave an order for who keeps what it names."""

    def has_order(self, order: ScheduleOrder) -> bool:
        """Return whether an order was left and is not taken yet."""

    def take_orders(
        self, schedules: Collection[str], sources: Collection[str], *, since: float
    ) -> list[ScheduleOrder]:
        """Return the orders for these and forget them, in the order in which they were left, and all older ones."""

    def close(self) -> None:
        """Release the store."""
