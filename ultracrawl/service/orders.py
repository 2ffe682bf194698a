"""Types shared by the parts of the service: crawl orders and their ends, states of sources, events.

The supervisor (`service.supervisor`) runs ordered crawls in processes; the schedule runner (`service.schedules`) orders
them when they are due; API, metrics and notices subscribe to events. These packages depend on this module instead of
each other.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import cache
from typing import Protocol

from pydantic import TypeAdapter

from ultracrawl.dataclass import dataclass, field
from ultracrawl.errors import WorkError
from ultracrawl.model import Finding, RunReport, ScheduleStatus
from ultracrawl.sources import DataSource
from ultracrawl.stores.control_channel import SiteWait

logger = logging.getLogger(__name__)

DRAIN_TIMEOUT = 60.0
"""Seconds that crawls have to end cleanly when a service or a node ends."""


class Clock(Protocol):
    """Time and sleeping; tests replace it by a clock that jumps."""

    def now(self) -> float:
        """Return the seconds since 1970."""

    async def sleep(self, seconds: float) -> None:
        """Wait for a time."""


class WallClock:
    """The clock of the system."""

    def now(self) -> float:
        """Return the seconds since 1970."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait for a time."""
        await asyncio.sleep(seconds)


# ---- crawls


@cache
def report_adapter() -> TypeAdapter[RunReport]:
    """Return what reads and writes reports of runs; to make one takes 10 ms, and 100 kB until garbage is collected."""
    return TypeAdapter(RunReport)


@dataclass(frozen=True, slots=True)
class CrawlOrder:
    """A request to crawl a source."""

    source: str
    force: bool = False
    """Make all documents again, changed or not."""
    mode: str = ""
    """Crawling mode that overrides the definition."""
    schedule: str = ""
    """The schedule that ordered the crawl; empty for a person."""
    profile: str = ""
    """The Scrapyd profile to run on; empty: this machine."""
    due: float = field(default=0.0, compare=False)
    """Since when it has been due (seconds since 1970), which is its place in a queue; 0: since it was ordered."""
    after: tuple[str, ...] = ()
    """Sources whose crawls have to end first, if they are queued or running."""
    node: str = ""
    """The node that alone may crawl it; empty: any process."""

    def as_ordered(self, source: DataSource) -> DataSource:
        """Return the definition of its source with the ordered mode."""
        return source.model_copy(update={"crawling_mode": self.mode}) if self.mode else source


@dataclass(frozen=True, slots=True)
class CrawlEnd:
    """How a crawl ended."""

    source: str
    report: RunReport | None
    """None if the process died, or ran elsewhere; a crawl that could not start has a report with the reason."""
    error: str = ""
    """One line that says why it failed or was stopped, if there is no report."""
    died: bool = False
    """It was killed, crashed or used too much memory, and can be resumed.

    The supervisor restarts it with increasing delays; the end is reported when the last restart has failed too.
    """
    mistake: bool = False
    """It could not start because of a mistake of the user."""
    last: bool = False
    """A filter function requested that no further run follows."""

    @property
    def failed(self) -> bool:
        """Whether the crawl failed."""
        return self.report.failed if self.report is not None else bool(self.error) or self.died

    @property
    def report_or_death(self) -> RunReport | None:
        """The report, or for a crawl that died one with the reason; None if there is neither."""
        if self.report is None and self.died:
            return RunReport.not_begun(self.source, WorkError(self.error))
        return self.report

    @property
    def line(self) -> str:
        """The reason of the failure in one line; empty if it did not fail."""
        if self.error or self.report is None:
            return self.error
        return "; ".join(self.report.problems) or ("it was interrupted" if self.report.interrupted else "")


@dataclass(frozen=True, slots=True)
class CrawlProgress:
    """The progress of a crawl."""

    run: str = ""
    """The number of its run; empty until it has opened its files."""
    paused: bool = False
    site: str = ""
    """A site with a request in flight."""
    quiet: float = 0.0
    """Seconds since the last answer, or other work than waiting."""
    start: float = 0.0
    """Seconds that it took to open its files."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Counters: fetched, indexed, deleted, queued, done, failed, errors (those failed, and of servers and networks)."""
    wait: str = ""
    """The site that it waits for, why, and until when, if it can request nothing else."""


Show = Callable[[int, Mapping[str, CrawlProgress]], None]
"""Called with the number of sources done, and the progress of each running crawl by source."""


class CrawlHandle(Protocol):
    """An ordered crawl: queued, running or ended."""

    order: CrawlOrder
    begun: float
    """When it started (seconds since 1970); 0 while it is queued."""

    @property
    def progress(self) -> CrawlProgress:
        """What it last told; nothing for a crawl that tells nothing on its way."""

    async def finished(self) -> CrawlEnd:
        """Wait for the end and return it; does not raise if the crawl died. May be awaited several times."""

    async def stop_crawl(self) -> None:
        """Request a clean end, which the next crawl resumes from; does not wait for it."""

    async def kill_crawl(self) -> None:
        """Kill it; the state is as after a crash."""


class Launcher(Protocol):
    """Starts crawls: in processes, on a Scrapyd server, or in memory in tests."""

    async def launch(self, order: CrawlOrder) -> CrawlHandle:
        """Start or queue a crawl. Raises `WorkError` if that is impossible, such as a source crawled already."""


class CompletingLauncher(Launcher, Protocol):
    """A launcher that also completes crawls that died."""

    async def complete_dead(self, order: CrawlOrder, death: str) -> CrawlHandle | None:
        """Start the completion command for a crawl that died, given the reason; returns None if there is none.

        Raises `UserError`, `WorkError`.
        """


# ---- states


class SourcePhase(StrEnum):
    """What a source is doing."""

    IDLE = "idle"
    QUEUED = "queued"
    """It waits for a free slot."""
    RUNNING = "running"
    PAUSED = "paused"
    STOPPING = "stopping"
    BACKING_OFF = "backing off"
    """Its crawl died, and is restarted after a delay."""


@dataclass(frozen=True, slots=True)
class SourceState:
    """The state of a source in the supervisor."""

    name: str
    phase: SourcePhase = SourcePhase.IDLE
    run: str = ""
    """The number of the current run."""
    live: Mapping[str, int] = field(default_factory=dict)
    """Counters of the current run; see `CrawlProgress`."""
    begun: float = 0.0
    """When the current run started."""
    next_run: float | None = None
    last: RunReport | None = None
    """The report of the last run since the start of the supervisor."""
    last_end: float | None = None
    problem: str = ""
    """Why its last run failed or it cannot be crawled, in one line."""
    paused_by_hand: bool = False
    """It is not started until a person resumes it."""
    schedule: str = ""
    wait: SiteWait | None = None
    """What its crawl waits for."""


@dataclass(frozen=True, slots=True)
class ScheduleState:
    """The state of a schedule (Ultra Search 13.1)."""

    name: str
    sources: tuple[str, ...]
    status: ScheduleStatus
    error: str = ""
    """The error of the last run; empty after a successful one."""
    next_run: float | None = None
    last_begin: float | None = None
    last_end: float | None = None
    log: str = ""
    """The current log file."""
    force: bool = False
    mode: str = ""
    profile: str = ""
    node: str = ""
    left: tuple[str, ...] = ()
    """Sources whose crawls of the current run have not ended, or are to be resumed."""


# ---- events


class EventKind(StrEnum):
    """The kinds of events."""

    RUN_WAITS = "run-waits"
    """A crawl was ordered, or is to be resumed, and waits for a free slot."""
    RUN_BEGAN = "run-began"
    RUN_ENDED = "run-ended"
    RUN_FAILED = "run-failed"
    CHILD_DIED = "child-died"
    RELOADED = "reloaded"
    RELOAD_REFUSED = "reload-refused"


@dataclass(frozen=True, slots=True)
class Event:
    """An event; `text` describes it for people, in one line that does not name the source."""

    kind: EventKind
    at: float
    source: str = ""
    text: str = ""
    end: CrawlEnd | None = None
    """The end of the run, for events about one."""

    def __str__(self) -> str:
        return f"{self.source}: {self.text}" if self.source else self.text


Listener = Callable[[Event], None]
"""Handles an event; it must not block."""
MAX_QUEUED_EVENTS = 1000
"""Events that a subscription queues; a further one drops the oldest."""


class Subscription:
    """An asynchronous iterator over the events since its creation."""

    def __init__(self, stream: EventStream) -> None:
        self._stream = stream
        self._queue: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)

    def add_event(self, event: Event) -> None:
        """Queue an event."""
        if self._queue.full():
            self._queue.get_nowait()
        self._queue.put_nowait(event)

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            yield await self._queue.get()

    def close(self) -> None:
        """End the subscription."""
        self._stream.remove_subscription(self)


class EventStream:
    """Publishes events: to listeners at once, to subscriptions by a queue; publishing never blocks."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._subscriptions: list[Subscription] = []

    def add_listener(self, listener: Listener) -> None:
        """Call a function with each event from now on."""
        self._listeners.append(listener)

    @contextmanager
    def listening(self, listener: Listener) -> Iterator[None]:
        """Call a function with each event inside the block."""
        self.add_listener(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    def subscribe(self) -> Subscription:
        """Return a subscription to the events from now on."""
        subscription = Subscription(self)
        self._subscriptions.append(subscription)
        return subscription

    def remove_subscription(self, subscription: Subscription) -> None:
        """Remove a subscription, if it has not been removed yet."""
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)

    def publish_event(self, event: Event) -> None:
        """Pass an event to all listeners, in the order in which they came, and to all subscriptions."""
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception:  # whoever listens, a crawl goes on
                logger.exception("An event was not handled: %s", event)
        for subscription in self._subscriptions:
            subscription.add_event(event)


# ---- the interface of the supervisor


class Supervision(Protocol):
    """The interface of the supervisor for the API, metrics and notices.

    Methods raise `UserError` for unknown names and `WorkError` for what is impossible now. Orders return when they are
    accepted, not when they are carried out.
    """

    def sources(self) -> Sequence[SourceState]:
        """Return all sources, in the order of the definition."""

    def schedules(self) -> Sequence[ScheduleState]:
        """Return all schedules, in the order of the definition."""

    async def start_source(self, name: str, *, force: bool = False) -> None:
        """Crawl a source now. Raises `WorkError` if it is being crawled."""

    async def stop_source(self, name: str) -> None:
        """End the crawl of a source cleanly; the next one resumes it."""

    async def pause_source(self, name: str) -> None:
        """Pause the crawl of a source; an idle source is not crawled until it is resumed."""

    async def resume_source(self, name: str) -> None:
        """Resume a paused source."""

    async def launch_schedule(self, name: str) -> None:
        """Launch a schedule now."""

    async def enable_schedule(self, name: str) -> None:
        """Launch a schedule at its times."""

    async def disable_schedule(self, name: str) -> None:
        """Stop launching a schedule at its times."""

    async def stop_schedule(self, name: str) -> None:
        """End the crawls of a schedule cleanly."""

    async def resume_schedule(self, name: str) -> None:
        """Resume a stopped schedule."""

    async def reload_definitions(self) -> Sequence[Finding]:
        """Read the definitions again; if a finding is fatal, the old definitions stay."""

    async def drain(self) -> None:
        """Start nothing more, end all crawls cleanly, and wait for them."""

    def events(self) -> EventStream:
        """Return the events, to listen or subscribe to."""
