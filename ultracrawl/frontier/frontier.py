"""The choice of the next URL: pure policy over times that are handed in."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Generic, Protocol, TypeVar


class Waiting(Protocol):
    """What the frontier needs to know of an entry."""

    @property
    def site(self) -> str:
        """Host and port: the unit of politeness."""


E = TypeVar("E", bound=Waiting)


@dataclass(slots=True)
class _Site(Generic[E]):
    entries: deque[E] = field(default_factory=deque)
    in_flight: int = 0
    next_at: float = 0.0
    started: float = float("-inf")
    """When the latest request to the site began."""
    before: tuple[float, float] = (0.0, float("-inf"))
    """`next_at` and `started` as they were before that request."""
    stored: bool = False
    """Further entries of this site wait in the store only."""
    suspended: bool = False
    """Nothing goes out until `resume`."""
    listed: int = 0
    """The turn under which the site stands in the ready-heap; 0 if it does not."""


class Frontier(Generic[E]):
    """A queue per site; a site is ready when its delay is over and it has a free place.

    Sites take turns: the one that has waited longest is next. Choosing costs O(log sites), whatever the
    number of URLs. At most `capacity` entries are kept in memory; a site whose entries do not fit is told so
    by `add`, and is named in `hungry` when it has room again. Times are seconds of one monotonic clock.

    Requests that others make to a site (robots.txt) keep its delay too: they take a turn of the site, by `spend`
    for one that `pop` gave, by `claim` for a further one.
    """

    def __init__(self, *, delay: float = 0.0, concurrency: int = 2, capacity: int = 50_000) -> None:
        self.delay = delay
        self.concurrency = concurrency
        self.capacity = capacity
        self.hungry: set[str] = set()
        self._sites: dict[str, _Site[E]] = {}
        self._ready: list[tuple[float, int, str]] = []
        self._caps: dict[str, int] = {}
        self._delays: dict[str, float] = {}
        self._turn = 0
        self._size = 0

    def __len__(self) -> int:
        """Return the number of entries in memory that wait."""
        return self._size

    @property
    def in_flight(self) -> int:
        """The number of entries that were handed out and are not done."""
        return sum(site.in_flight for site in self._sites.values())

    def add(self, entry: E) -> bool:
        """Queue an entry behind the others of its site; False if it must wait in the store instead."""
        site = self._site(entry.site)
        if site.stored or self._size >= self.capacity:
            self.leave_stored(entry.site)
            return False
        self._append(entry.site, site, entry)
        return True

    def add_first(self, entry: E) -> None:
        """Queue an entry ahead of all others of its site; it must not be in the store."""
        site = self._site(entry.site)
        site.entries.appendleft(entry)
        self._size += 1
        self.hungry.discard(entry.site)
        self._list(entry.site, site)

    def leave_stored(self, name: str) -> None:
        """Note that entries of a site wait in the store only; the site turns up in `hungry` when it has room."""
        site = self._site(name)
        site.stored = True
        if not site.entries:
            self.hungry.add(name)

    def refill(self, name: str, entries: list[E], *, more: bool) -> None:
        """Give a hungry site its next stored entries; `more` says whether others are left in the store."""
        self.hungry.discard(name)
        site = self._site(name)
        site.stored = more
        for entry in entries:
            self._append(name, site, entry)

    def pop(self, now: float) -> E | None:
        """Hand out the next entry, or None if nothing may be fetched at this time."""
        while self._ready and self._ready[0][0] <= now:
            _, turn, name = heappop(self._ready)
            site = self._sites.get(name)
            if site is None or site.listed != turn:
                continue
            site.listed = 0
            if site.next_at > now:
                self._list(name, site)
                continue
            if not self._has_turn(name, site):
                continue
            return self._hand_out(name, site, now)
        return None

    def _hand_out(self, name: str, site: _Site[E], now: float) -> E:
        entry = site.entries.popleft()
        self._size -= 1
        site.in_flight += 1
        self._begin(name, site, now)
        if site.stored and not site.entries:
            self.hungry.add(name)
        self._list(name, site)
        return entry

    def _begin(self, name: str, site: _Site[E], now: float) -> None:
        site.before = site.next_at, site.started
        site.started = now
        site.next_at = max(site.next_at, now + self.delay_of(name))

    def done(self, name: str) -> None:
        """Free the place of an entry that was handed out."""
        site = self._site(name)
        site.in_flight -= 1
        self._list(name, site)
        idle = not (site.entries or site.in_flight or site.stored or site.listed or site.suspended)
        if idle and not self.delay_of(name):
            del self._sites[name]

    def spend(self, entry: E) -> None:
        """Take back an entry: its turn is spent on something else, and the site is suspended until `resume`."""
        site = self._site(entry.site)
        site.in_flight -= 1
        site.suspended = True
        site.entries.appendleft(entry)
        self._size += 1
        self.hungry.discard(entry.site)

    def refund(self, name: str) -> None:
        """Give a site the turn of its latest entry back: no request was made after all."""
        site = self._site(name)
        if site.next_at == site.started + self.delay_of(name):
            site.next_at, site.started = site.before
            self._relist(name, site)

    def resume(self, name: str) -> None:
        """Let entries of a suspended site out again, each when its time has come."""
        site = self._site(name)
        site.suspended = False
        self._list(name, site)

    def claim(self, name: str, now: float) -> float:
        """Take the next turn of a site for a request made elsewhere; returns the time at which it may start."""
        site = self._site(name)
        at = max(now, site.next_at)
        self._begin(name, site, at)
        return at

    def delay_of(self, name: str) -> float:
        """Return the seconds between the starts of two requests to a site."""
        return self._delays.get(name, self.delay)

    def set_delay(self, name: str, seconds: float) -> None:
        """Give a site a delay of its own, which counts from its latest request on."""
        site = self._site(name)
        held = site.next_at > site.started + self.delay_of(name)
        due = site.started + seconds
        site.next_at = max(site.next_at, due) if held else max(due, 0.0)
        self._delays[name] = seconds
        self._relist(name, site)

    def cap(self, name: str, places: int) -> None:
        """Let at most `places` entries of this site be out at once from now on."""
        self._caps[name] = places

    def withdraw(self, name: str) -> list[E]:
        """Take all entries of a site that wait in memory out of the queue; what waits in the store is not asked for."""
        site = self._sites.get(name)
        self.hungry.discard(name)
        if site is None:
            return []
        entries = list(site.entries)
        self._size -= len(entries)
        site.entries.clear()
        site.stored = False
        return entries

    def hold(self, name: str, until: float) -> None:
        """Let nothing of this site out before a time (back-off, `Retry-After`, a request made elsewhere)."""
        site = self._site(name)
        site.next_at = max(site.next_at, until)

    def next_at(self) -> float | None:
        """Return the time at which `pop` may have an entry again, None if only another call can change that."""
        while self._ready:
            at, turn, name = self._ready[0]
            site = self._sites.get(name)
            if site and site.listed == turn and self._has_turn(name, site):
                return at
            heappop(self._ready)
            if site and site.listed == turn:
                site.listed = 0
        return None

    def _has_turn(self, name: str, site: _Site[E]) -> bool:
        places = self._caps.get(name, self.concurrency)
        return bool(site.entries) and site.in_flight < places and not site.suspended

    def _site(self, name: str) -> _Site[E]:
        site = self._sites.get(name)
        if site is None:
            site = self._sites[name] = _Site()
        return site

    def _append(self, name: str, site: _Site[E], entry: E) -> None:
        site.entries.append(entry)
        self._size += 1
        self._list(name, site)

    def _relist(self, name: str, site: _Site[E]) -> None:
        """List a site anew whose time came nearer; its older place in the heap no longer counts."""
        site.listed = 0
        self._list(name, site)

    def _list(self, name: str, site: _Site[E]) -> None:
        if not site.listed and self._has_turn(name, site):
            self._turn += 1
            site.listed = self._turn
            heappush(self._ready, (site.next_at, self._turn, name))
