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
    stored: bool = False
    """Further entries of this site wait in the store only."""
    listed: bool = False
    """The site stands in the ready-heap."""


class Frontier(Generic[E]):
    """A queue per site; a site is ready when its delay is over and it has a free place.

    Sites take turns: the one that has waited longest is next. Choosing costs O(log sites), whatever the
    number of URLs. At most `capacity` entries are kept in memory; a site whose entries do not fit is told so
    by `add`, and is named in `hungry` when it has room again. Times are seconds of one monotonic clock.
    """

    def __init__(self, *, delay: float = 0.0, concurrency: int = 2, capacity: int = 50_000) -> None:
        self.delay = delay
        self.concurrency = concurrency
        self.capacity = capacity
        self.hungry: set[str] = set()
        self._sites: dict[str, _Site[E]] = {}
        self._ready: list[tuple[float, int, str]] = []
        self._caps: dict[str, int] = {}
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
            _, _, name = heappop(self._ready)
            site = self._sites[name]
            site.listed = False
            if site.next_at > now:
                self._list(name, site)
                continue
            if not site.entries or site.in_flight >= self._caps.get(name, self.concurrency):
                continue
            entry = site.entries.popleft()
            self._size -= 1
            site.in_flight += 1
            site.next_at = now + self.delay
            if site.stored and not site.entries:
                self.hungry.add(name)
            self._list(name, site)
            return entry
        return None

    def done(self, name: str) -> None:
        """Free the place of an entry that was handed out."""
        site = self._site(name)
        site.in_flight -= 1
        self._list(name, site)
        if not (site.entries or site.in_flight or site.stored or site.listed or self.delay):
            del self._sites[name]

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
        """Return the time at which `pop` may have an entry again, None if only `done` or `add` can change that."""
        while self._ready:
            at, _, name = self._ready[0]
            site = self._sites.get(name)
            if site and site.entries and site.in_flight < self._caps.get(name, self.concurrency):
                return at
            heappop(self._ready)
            if site:
                site.listed = False
        return None

    def _site(self, name: str) -> _Site[E]:
        site = self._sites.get(name)
        if site is None:
            site = self._sites[name] = _Site()
        return site

    def _append(self, name: str, site: _Site[E], entry: E) -> None:
        site.entries.append(entry)
        self._size += 1
        self._list(name, site)

    def _list(self, name: str, site: _Site[E]) -> None:
        if not site.listed and site.entries and site.in_flight < self._caps.get(name, self.concurrency):
            site.listed = True
            self._turn += 1
            heappush(self._ready, (site.next_at, self._turn, name))
