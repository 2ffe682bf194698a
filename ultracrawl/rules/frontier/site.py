"""The state of a site in the frontier, and of an IP address that several sites share."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from ultracrawl.dataclass import dataclass, field
from ultracrawl.rules.frontier.politeness.clock import Clock
from ultracrawl.rules.frontier.politeness.pace import Pace
from ultracrawl.rules.frontier.ready_queue import ReadyQueue


class Waiting(Protocol):
    """The interface of a queue entry."""

    @property
    def site(self) -> str:
        """Host and port, the unit of politeness."""


E = TypeVar("E", bound=Waiting)


@dataclass(slots=True, eq=False)
class Site(Generic[E]):
    """The state of a site and its queues, one per level; sets of levels are bit masks."""

    name: str
    max_requests: int
    """Maximum number of concurrent requests."""
    pace: Pace = field(default_factory=Pace)
    clock: Clock = field(default_factory=Clock)
    levels: int = 0
    """Levels with entries in memory."""
    stored: int = 0
    """Levels with further entries in the store."""
    in_flight: int = 0
    extra_request: bool = False
    """Whether a request other than for an entry (robots.txt) is in flight."""
    quick: bool = False
    """Whether it answers, and none of its requests has waited for long."""
    answers: int = 0
    """Answers since the site is in memory."""
    parked: bool = False
    """Whether it is slow, and slow sites have reached their limit of requests."""
    active: bool = False
    """Whether it has a slot."""
    consecutive: int = 0
    """Entries handed out since it got its slot."""
    suspended: bool = False
    """Whether nothing is handed out until `Frontier.resume_site`."""
    located: bool = True
    """Whether its IP address is known or not needed."""
    leased: bool = True
    """Whether no other crawl requests it meanwhile."""
    address: Address[E] | None = None
    ready: bool = False
    """Whether its delay is over, so that it is in the ready queue."""
    expiring: bool = False
    """Whether it is scheduled to be forgotten."""
    heap_number: int = 0
    queued_levels: int = 0
    _entries: dict[int, deque[E]] = field(default_factory=dict)

    @property
    def can_go(self) -> bool:
        """Whether its next entry may be handed out as soon as its delay is over."""
        return (
            bool(self.levels)
            and self.active
            and self.in_flight < self.max_requests
            and self.located
            and self.leased
            and not self.suspended
            and not self.parked
        )

    @property
    def open_requests(self) -> int:
        """The number of its requests in flight, those for robots.txt included."""
        return self.in_flight + self.extra_request

    @property
    def next_at(self) -> float:
        """The time at which the next request may start by the clocks of site and address."""
        at = self.clock.next_at
        return at if self.address is None else max(at, self.address.clock.next_at)

    @property
    def ready_levels(self) -> int:
        """The levels with an entry that may be handed out now."""
        return self.levels if self.ready and self.can_go else 0

    @property
    def idle(self) -> bool:
        """Whether no entry is queued and no request in flight."""
        return not (self.levels or self.stored or self.in_flight or self.suspended)

    @property
    def levels_to_refill(self) -> int:
        """The levels with entries in the store and none in memory."""
        return self.stored & ~self.levels

    def append_entry(self, entry: E, bit: int) -> None:
        """Queue an entry behind all others of its level."""
        if not self.levels & bit:
            self._entries[bit] = deque()
            self.levels |= bit
        self._entries[bit].append(entry)

    def prepend_entry(self, entry: E, bit: int) -> None:
        """Queue an entry ahead of all others of its level."""
        if not self.levels & bit:
            self._entries[bit] = deque()
            self.levels |= bit
        self._entries[bit].appendleft(entry)

    def take_entry(self, bit: int) -> E:
        """Remove and return the first entry of a level, which must have one."""
        entries = self._entries[bit]
        entry = entries.popleft()
        if not entries:
            del self._entries[bit]
            self.levels &= ~bit
        return entry

    def take_entries(self) -> Iterator[E]:
        """Remove all entries and yield them, the highest level first."""
        for bit in sorted(self._entries):
            yield from self._entries.pop(bit)
        self.levels = 0


@dataclass(slots=True, eq=False)
class Address(Generic[E]):
    """Sites with the same IP address: they share delay and concurrency, and take turns."""

    name: str
    turns: ReadyQueue[Site[E]]
    clock: Clock = field(default_factory=Clock)
    in_flight: int = 0
    sites: int = 0
    """Number of its sites in memory."""
    ready: bool = False
    expiring: bool = False
    heap_number: int = 0
    queued_levels: int = 0

    @property
    def ready_levels(self) -> int:
        """The levels with an entry of one of its sites that may be handed out now."""
        return self.turns.ready_levels if self.ready else 0
