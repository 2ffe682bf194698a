"""What the parts of the service say to each other: orders for crawls and their ends, states of sources, events.

The supervisor (`service.supervisor`) carries out orders in processes; the keeper of schedules (`service.schedules`)
gives them when they are due; API, metrics and notices look on. None of them needs to know another: they meet here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from ultracrawl.errors import WorkError
from ultracrawl.model import Finding, RunReport, ScheduleStatus
from ultracrawl.sources import DataSource


class Clock(Protocol):
    """The time, and waiting; a test hands in one that leaps."""

    def now(self) -> float:
        """Return the seconds since 1970."""

    async def sleep(self, seconds: float) -> None:
        """Return when so much time has gone by."""


class WallClock:
    """The time as it is, and real waiting."""

    def now(self) -> float:
        """Return the seconds since 1970."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Return when so much time has gone by."""
        await asyncio.sleep(seconds)


# ---- crawls


@dataclass(frozen=True, slots=True)
class CrawlOrder:
    """One crawl that somebody wants."""

    source: str
    force: bool = False
    """Make documents of all pages anew, changed or not."""
    mode: str = ""
    """The crawling mode, if it is to be another one than that of the definition."""
    schedule: str = ""
    """The schedule that wants it; empty for a person."""
    profile: str = ""
    """Where it is to run; empty means here."""

    def as_ordered(self, source: DataSource) -> DataSource:
        """Return the definition of its source, with the mode that is wanted."""
        return source.model_copy(update={"crawling_mode": self.mode}) if self.mode else source


@dataclass(frozen=True, slots=True)
class CrawlEnd:
    """How a crawl ended."""

    source: str
    report: RunReport | None
    """None if it did not live to tell, or ran where nobody tells; one that could not begin has one that says why."""
    error: str = ""
    """One line that says why it failed or was stopped, if there is no report that does."""
    died: bool = False
    """It was killed, crashed, or took too much memory, and can be begun again: nothing is lost.

    The supervisor begins it again, later each time; who ordered it hears of its end when that did not help either.
    """

    @property
    def failed(self) -> bool:
        """Whether it did not do what it was asked for."""
        return self.report.failed if self.report is not None else bool(self.error) or self.died

    @property
    def report_or_death(self) -> RunReport | None:
        """Its report, or one that says how it died; None if it did neither."""
        if self.report is None and self.died:
            return RunReport.not_begun(self.source, WorkError(self.error))
        return self.report

    @property
    def line(self) -> str:
        """Why it failed, in one line; empty if it did not."""
        if self.error or self.report is None:
            return self.error
        return "; ".join(self.report.problems) or ("it was interrupted" if self.report.interrupted else "")


class CrawlHandle(Protocol):
    """A crawl that was ordered: it waits for its turn, or goes on, or is over."""

    order: CrawlOrder
    begun: float
    """When its process was started; 0 as long as it waits for its turn."""

    async def finished(self) -> CrawlEnd:
        """Return how it ended, when that is so; it never raises for a crawl that died. May be called by several."""

    async def stop_crawl(self) -> None:
        """Have it end cleanly, so that the next one resumes it; does not wait for its end."""

    async def kill_crawl(self) -> None:
        """End it at once; the state stays as it is after any crash."""


class Launcher(Protocol):
    """Begins crawls: processes here, nodes or a Scrapyd elsewhere, or nothing at all in tests."""

    async def launch(self, order: CrawlOrder) -> CrawlHandle:
        """Begin a crawl, or queue it. Raises `WorkError` if that cannot be, as when its source is crawled already."""


# ---- what is known


class SourcePhase(StrEnum):
    """What a source is doing."""

    IDLE = "idle"
    QUEUED = "queued"
    """It waits for a free place."""
    RUNNING = "running"
    PAUSED = "paused"
    STOPPING = "stopping"
    BACKING_OFF = "backing off"
    """Its crawl died, and is begun again after a while."""


@dataclass(frozen=True, slots=True)
class SourceState:
    """A source as the supervisor sees it."""

    name: str
    phase: SourcePhase = SourcePhase.IDLE
    run: str = ""
    """The number of the run that goes on."""
    live: Mapping[str, int] = field(default_factory=dict)
    """Counts of the run that goes on: fetched, indexed, queued, deleted, failed."""
    begun: float = 0.0
    """When the run that goes on was begun."""
    next_run: float | None = None
    last: RunReport | None = None
    """The report of the run that ended last, since the supervisor began."""
    last_end: float | None = None
    problem: str = ""
    """Why its last run failed, or it cannot be crawled, in one line."""
    paused_by_hand: bool = False
    """It is not begun until it is resumed."""
    schedule: str = ""


@dataclass(frozen=True, slots=True)
class ScheduleState:
    """A schedule as its keeper sees it (Ultra Search 13.1)."""

    name: str
    sources: tuple[str, ...]
    status: ScheduleStatus
    error: str = ""
    """Why it failed; kept until it does not."""
    next_run: float | None = None
    last_begin: float | None = None
    last_end: float | None = None
    log: str = ""
    """The current log file."""
    force: bool = False
    mode: str = ""
    profile: str = ""


# ---- what happens


class EventKind(StrEnum):
    """What happened, for those who look on."""

    RUN_WAITS = "run-waits"
    """It was ordered, or is to go on, and waits for a free place."""
    RUN_BEGAN = "run-began"
    RUN_ENDED = "run-ended"
    RUN_FAILED = "run-failed"
    CHILD_DIED = "child-died"
    RELOADED = "reloaded"
    RELOAD_REFUSED = "reload-refused"


@dataclass(frozen=True, slots=True)
class Event:
    """Something happened; `text` tells it in one line, for people, who know its source."""

    kind: EventKind
    at: float
    source: str = ""
    text: str = ""
    end: CrawlEnd | None = None
    """Of a run that ended."""

    def __str__(self) -> str:
        return f"{self.source}: {self.text}" if self.source else self.text


LONGEST_WAIT = 1000
"""Events that wait for one who looks on; the oldest is dropped for a further one."""


class Subscription:
    """The events since it was made, in order, for one who looks on."""

    def __init__(self, stream: EventStream) -> None:
        self._stream = stream
        self._waiting: asyncio.Queue[Event] = asyncio.Queue(LONGEST_WAIT)

    def take_event(self, event: Event) -> None:
        """Keep an event until it is asked for."""
        if self._waiting.full():
            self._waiting.get_nowait()
        self._waiting.put_nowait(event)

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            yield await self._waiting.get()

    def close(self) -> None:
        """Want no more."""
        self._stream.forget_subscription(self)


class EventStream:
    """Hands each event to all who look on; nobody holds up who publishes."""

    def __init__(self) -> None:
        self._subscriptions: list[Subscription] = []

    def subscribe(self) -> Subscription:
        """Return the events from now on."""
        subscription = Subscription(self)
        self._subscriptions.append(subscription)
        return subscription

    def forget_subscription(self, subscription: Subscription) -> None:
        """Hand nothing more to it."""
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)

    def publish_event(self, event: Event) -> None:
        """Hand an event to all who look on."""
        for subscription in self._subscriptions:
            subscription.take_event(event)


# ---- what can be asked of the supervisor


class Supervision(Protocol):
    """What API and commands may ask of a supervisor, in its own process.

    Unknown names raise `UserError`; what cannot be done now raises `WorkError`. Orders return when they are taken, not
    when they are carried out.
    """

    def sources(self) -> Sequence[SourceState]:
        """Return all sources, in the order of the definition."""

    def schedules(self) -> Sequence[ScheduleState]:
        """Return all schedules, in the order of the definition."""

    async def start_source(self, name: str, *, force: bool = False) -> None:
        """Crawl a source now. Raises `WorkError` if that is so already."""

    async def stop_source(self, name: str) -> None:
        """Have the crawl of a source end cleanly; the next one resumes it."""

    async def pause_source(self, name: str) -> None:
        """Have the crawl of a source pause; one that is idle is not begun until it is resumed."""

    async def resume_source(self, name: str) -> None:
        """Have a source that was paused go on."""

    async def launch_schedule(self, name: str) -> None:
        """Begin a schedule now."""

    async def enable_schedule(self, name: str) -> None:
        """Have a schedule be launched at its times."""

    async def disable_schedule(self, name: str) -> None:
        """Have a schedule not be launched any more."""

    async def stop_schedule(self, name: str) -> None:
        """Have the crawls of a schedule end cleanly."""

    async def resume_schedule(self, name: str) -> None:
        """Have a schedule that was stopped go on."""

    async def reload_definitions(self) -> Sequence[Finding]:
        """Read the definitions anew; findings that are fatal have changed nothing."""

    async def drain(self) -> None:
        """Begin nothing more, have all crawls end cleanly, and return when they have."""

    def events(self) -> Subscription:
        """Return what happens from now on."""
