"""Interface of the schedule store: status and history of each schedule, and orders for the process that runs it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Protocol

from ultracrawl.dataclass import dataclass, field
from ultracrawl.model import ScheduleStatus


def own_key(source: str) -> str:
    """Return the name under which the store keeps a source that has an interval of its own; no schedule has a slash."""
    return f"source/{source}"


@dataclass(frozen=True, slots=True)
class KeptSchedule:
    """The last stored status of a schedule; times are seconds since the epoch, 0 for never."""

    name: str
    status: ScheduleStatus = ScheduleStatus.SCHEDULED
    error: str = ""
    """Why it failed; kept until it succeeds."""
    due: float | None = None
    """When it is launched next."""
    begun: float = 0.0
    ended: float = 0.0
    log: str = ""
    """Paths of the logs of its latest run, one a line."""
    left: tuple[str, ...] = ()
    """Sources that an interrupted run has not finished."""


@dataclass(frozen=True, slots=True)
class ScheduleRun:
    """One run in the history of a schedule."""

    begun: float
    ended: float
    status: ScheduleStatus
    """Status of the schedule after the run."""
    error: str = ""
    log: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Error of each source, empty if it succeeded."""


class ScheduleCommand(StrEnum):
    """A command for a schedule, or for a source that is crawled at its own interval."""

    LAUNCH = "launch"
    ENABLE = "enable"
    DISABLE = "disable"
    STOP = "stop"
    RESUME = "resume"
    PAUSE = "pause"
    """For sources only."""


@dataclass(frozen=True, slots=True)
class ScheduleOrder:
    """A command for the process that runs a schedule or keeps a source."""

    name: str
    """A schedule, or a source if `of_source`."""
    command: ScheduleCommand
    of_source: bool = False


class ScheduleStore(Protocol):
    """The schedules of a project. Every method is durable when it returns, and raises `StateError`."""

    renewed: str
    """Message about a damaged store that was set aside and replaced on opening; empty if there was none."""

    def get_schedule(self, name: str) -> KeptSchedule | None:
        """Return the status of a schedule, None if it was never stored."""

    def put_schedule(self, schedule: KeptSchedule, run: ScheduleRun | None = None) -> None:
        """Replace the stored status of a schedule, and add a finished run to its history."""

    def runs(self, name: str, limit: int) -> list[ScheduleRun]:
        """Return the latest runs of a schedule, the latest first."""

    def paused_sources(self) -> frozenset[str]:
        """Return the sources that are not started until they are resumed."""

    def set_paused(self, source: str, *, paused: bool) -> None:
        """Store whether a source is paused."""

    def rename_source(self, source: str, new: str = "") -> None:
        """Give everything that is stored of a source another name; without one all of it but the history is deleted."""

    def leave_order(self, order: ScheduleOrder, at: float) -> None:
        """Store an order for the process that runs what it names."""

    def has_order(self, order: ScheduleOrder) -> bool:
        """Return whether an order is stored and not taken yet."""

    def take_orders(
        self, schedules: Collection[str], sources: Collection[str], *, since: float
    ) -> list[ScheduleOrder]:
        """Return and delete the orders for these, oldest first; orders older than `since` are deleted unread."""

    def close(self) -> None:
        """Release the store."""
