"""What the frontier remembers of one site, and of one address that several sites share."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from ultracrawl.rules.frontier.politeness.clock import Clock
from ultracrawl.rules.frontier.ready_queue import ReadyQueue


class Waiting(Protocol):
    """What the frontier needs to know of an entry."""

    @property
    def site(self) -> str:
        """Host and port: the unit of politeness."""


E = TypeVar("E", bound=Waiting)


@dataclass(slots=True, eq=False)
class Site(Generic[E]):
    """The queue of a site, a line for each level, and where the site stands; levels are bits of a number."""

    name: str
    places: int
    """Requests that may run at once."""
    clock: Clock = field(default_factory=Clock)
    levels: int = 0
    """Levels with entries in memory."""
    stored: int = 0
    """Levels whose further entries wait in the store only."""
    in_flight: int = 0
    asking: bool = False
    """A place is taken for a request beside those for entries (robots.txt)."""
    quick: bool = False
    """It answers, and none of its requests waits for long."""
    answers: int = 0
    """Answers since it is remembered."""
    parked: bool = False
    """It is slow, and slow sites have taken all the places that they may."""
    active: bool = False
    """It has a place."""
    in_a_row: int = 0
    """Entries handed out since it has its place."""
    suspended: bool = False
    """Nothing goes out until `Frontier.resume_site`."""
    located: bool = True
    """Its address is known, or does not matter."""
    leased: bool = True
    """No other crawl asks it meanwhile."""
    address: Address[E] | None = None
    ready: bool = False
    """Its time has come."""
    parting: bool = False
    """It is listed to be forgotten."""
    listed: int = 0
    lines: int = 0
    _entries: dict[int, deque[E]] = field(default_factory=dict)

    @property
    def may_go(self) -> bool:
        """Whether only time keeps its next entry back."""
        return (
            bool(self.levels)
            and self.active
            and self.in_flight < self.places
            and self.located
            and self.leased
            and not self.suspended
            and not self.parked
        )

    @property
    def held(self) -> int:  # word: places are held, no document
        """The places that its requests hold."""
        return self.in_flight + self.asking

    @property
    def next_at(self) -> float:
        """The time at which the next request may begin, as far as the clocks of site and address go."""
        at = self.clock.next_at
        return at if self.address is None else max(at, self.address.clock.next_at)

    @property
    def offers(self) -> int:
        """The levels of which an entry may go out now."""
        return self.levels if self.ready and self.may_go else 0

    @property
    def idle(self) -> bool:
        """Whether nothing waits and nothing is out."""
        return not (self.levels or self.stored or self.in_flight or self.suspended)

    @property
    def hunger(self) -> int:
        """The levels that have entries in the store and none in memory."""
        return self.stored & ~self.levels

    def append_entry(self, entry: E, bit: int) -> None:
        """Queue an entry behind the others of its level."""
        if not self.levels & bit:
            self._entries[bit] = deque()
            self.levels |= bit
        self._entries[bit].append(entry)

    def prepend_entry(self, entry: E, bit: int) -> None:
        """Queue an entry ahead of the others of its level."""
        if not self.levels & bit:
            self._entries[bit] = deque()
            self.levels |= bit
        self._entries[bit].appendleft(entry)

    def take_entry(self, bit: int) -> E:
        """Take the first entry of a level that has one."""
        entries = self._entries[bit]
        entry = entries.popleft()
        if not entries:
            del self._entries[bit]
            self.levels &= ~bit
        return entry

    def take_entries(self) -> Iterator[E]:
        """Take all entries, the highest level first."""
        for bit in sorted(self._entries):
            yield from self._entries.pop(bit)
        self.levels = 0


@dataclass(slots=True, eq=False)
class Address(Generic[E]):
    """Sites with one network address: they share a clock and the number of requests at once, and take turns."""

    name: str
    turns: ReadyQueue[Site[E]]
    clock: Clock = field(default_factory=Clock)
    in_flight: int = 0
    sites: int = 0
    """Sites that are remembered."""
    ready: bool = False
    parting: bool = False
    listed: int = 0
    lines: int = 0

    @property
    def offers(self) -> int:
        """The levels of which an entry of one of its sites may go out now."""
        return self.turns.offers if self.ready else 0
