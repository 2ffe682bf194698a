"""The choice of the next URL: pure policy over times that are handed in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic

from ultracrawl.rules.frontier.levels import LevelSelector, nearest
from ultracrawl.rules.frontier.order import NO_WAIT, Order
from ultracrawl.rules.frontier.politeness.pace import Pace
from ultracrawl.rules.frontier.reserve import Reserve
from ultracrawl.rules.frontier.site import E, Site
from ultracrawl.rules.frontier.site_registry import SiteRegistry, Watch

BATCH = 2000
"""Most entries of one site that are taken from the store at once."""
LEAST_BATCH = 16


class Frontier(Generic[E]):
    """A queue per site; a site is ready when it has a place, its delay is over and fewer than its number are out.

    Sites take turns: the one that has waited longest is next. Choosing costs O(log sites), whatever the
    number of URLs. At most `capacity` entries are kept in memory; a site whose entries do not fit is told so
    by `add`, and is named in `hungry` when it has room again. Times are seconds of one monotonic clock.

    Sites that do not answer take at most `slow` places together (`Reserve`; None: any number).

    At most `max_sites` sites have a place (None: all); one gives its place back when its queue is empty, when it
    is withdrawn or given up, and after `max_inter_docs` entries if others wait. Of the entries that may go out now,
    `rota` chooses the level; within a level sites take turns. What is idle and whose delay is over is forgotten.

    Requests that others make to a site (robots.txt) keep its delay too: they take a turn of the site, by `spend`
    for one that `pop` gave, by `claim` for a further one.
    """

    def __init__(
        self,
        pace: Pace | None = None,
        *,
        delay: float = 0.0,
        concurrency: int = 2,
        capacity: int = 50_000,
        slow: int | None = None,
        max_sites: int | None = None,
        max_inter_docs: int | None = None,
        rota: LevelSelector | None = None,
        level_of: Callable[[E], int] | None = None,
    ) -> None:
        self.pace = pace or Pace(delay, concurrency)
        self.capacity = capacity
        self.given_up: set[str] = set()
        """Sites from which nothing more goes out in this run."""
        rota = rota or LevelSelector()
        self._levels = rota.levels
        self._every = (1 << rota.levels) - 1
        self._level_of = level_of if rota.levels > 1 else None
        self._in_a_row = max_inter_docs
        self._order: Order[E] = Order(self.pace, rota)
        self._roster: SiteRegistry[E] = SiteRegistry(self.pace, self._order, max_sites, self._every)
        self._reserve: Reserve[E] = Reserve(slow, self._order.relist)
        self._sites = self._roster.sites
        self._places = self._roster.places
        self.hungry = self._roster.hungry
        """Sites with a place that have entries in the store and room for them: give them some by `refill`."""
        self.unlocated = self._roster.unlocated
        """Sites that wait for their address: tell it by `locate`."""
        self._size = 0
        self._out = 0
        self._now = 0.0
        self._closed_until = NO_WAIT

    def __len__(self) -> int:
        """Return the number of entries in memory that wait."""
        return self._size

    @property
    def in_flight(self) -> int:
        """The number of entries that were handed out and are not done."""
        return self._out

    @property
    def pending(self) -> bool:
        """Whether anything waits, in memory or in the store, that may still go out."""
        return bool(self._size or self.hungry or len(self._places))

    @property
    def remembered(self) -> int:
        """The number of sites of which something is kept, those apart whose entries wait in the store only."""
        return len(self._sites)

    @property
    def waiting(self) -> int:
        """The number of sites that wait for a place."""
        return len(self._places)

    @property
    def concurrency(self) -> int:
        """Requests to a site that may run at once."""
        return self.pace.concurrency

    @property
    def batch(self) -> int:
        """How many entries of a hungry site are worth taking from the store."""
        share = self.capacity // (self._places.limit or 1)
        return min(BATCH, max(share, LEAST_BATCH), self._in_a_row or BATCH)

    def watch(self, watch: Watch) -> None:
        """Have somebody told of the sites that get a place or lose it from now on."""
        self._roster.watch = watch

    # ---- entries

    def add(self, entry: E) -> bool:
        """Queue an entry behind the others of its site; False if it must wait in the store instead."""
        name = entry.site
        if name in self.given_up:
            return False
        # Sites without a place may take half of the memory, so that those with one find room.
        site = self._sites.get(name)
        if site is None or not site.active:
            site = self._roster.enter(name, keep=self._size < self.capacity // 2)
        if site is None:
            return False
        bit = self._bit(entry)
        if site.stored & bit or self._size >= (self.capacity if site.active else self.capacity // 2):
            self._leave_stored(site, bit)
            return False
        self._append(site, entry, bit)
        return True

    def add_first(self, entry: E) -> None:
        """Queue an entry ahead of all others of its site; it must not be in the store."""
        site = self._roster.placed(entry.site)
        self._put_back(site, entry, 1)
        self._order.list(site)

    def leave_stored(self, name: str) -> None:
        """Note that entries of a site wait in the store only; the site turns up in `hungry` when it has room."""
        if name in self.given_up:
            return
        site = self._sites.get(name)
        if site is None or not site.active:
            site = self._roster.enter(name, keep=False)
        if site is not None:
            self._leave_stored(site, self._every)

    def hunger(self, name: str) -> list[int]:
        """Return the levels of which a hungry site wants entries."""
        site = self._sites.get(name)
        wanted = site.hunger if site else 0
        return [level for level in range(1, self._levels + 1) if wanted & 1 << level - 1]

    def refill(self, name: str, entries: list[E], *, more: bool, level: int = 1) -> None:
        """Give a hungry site its next stored entries of a level; `more`: others of it are left in the store."""
        site = self._roster.site(name)
        bit = 1 << level - 1
        site.stored = site.stored | bit if more else site.stored & ~bit
        for entry in entries:
            site.append(entry, bit)
        self._size += len(entries)
        if site.hunger & ~bit:
            self.hungry.add(name)
        else:
            self.hungry.discard(name)
        self._order.list(site)
        self._roster.settle(site)

    def withdraw(self, name: str) -> list[E]:
        """Take all entries of a site that wait in memory out of the queue; what waits in the store is not asked for."""
        self.hungry.discard(name)
        self._places.drop(name)
        site = self._sites.get(name)
        if site is None:
            return []
        entries = list(site.empty())
        self._size -= len(entries)
        site.stored = 0
        self._roster.settle(site)
        return entries

    # ---- the choice

    def pop(self, now: float) -> E | None:
        """Hand out the next entry, or None if nothing may be fetched at this time."""
        self._now = now
        self._roster.forget(now)
        if self.pace.week:
            self._closed_until = self.pace.opens(now)
            if self._closed_until > now:
                return None
        self._reserve.look(now)
        while (chosen := self._order.choose(now)) is not None:
            if self._reserve.admits(chosen[0]):
                return self._hand_out(*chosen, now)
            self._order.relist(chosen[0])
        return None

    def next_at(self) -> float | None:
        """Return the time at which `pop` may have an entry again, None if only another call can change that."""
        at = self._order.next_at(self._now)
        return at if at is None else max(at, self._closed_until)

    def _hand_out(self, site: Site[E], bit: int, now: float) -> E:
        entry = site.take(bit)
        self._size -= 1
        self._out += 1
        site.in_flight += 1
        self._reserve.take(site, now)
        site.in_a_row += 1
        site.ready = False
        self._begin(site, now)
        if site.hunger & bit:
            self.hungry.add(site.name)
        if self._in_a_row and site.in_a_row >= self._in_a_row and len(self._places):
            self._roster.step_back(site)
        if site.address is not None:
            site.address.in_flight += 1
            self._order.relist(site)
        else:
            self._order.list(site)
        return entry

    def _begin(self, site: Site[E], now: float) -> None:
        delay = self.pace.seconds(site.clock, now)
        site.clock.begin(now, delay)
        if site.address is not None:
            site.address.clock.begin(now, delay)

    # ---- what became of an entry

    def done(self, name: str) -> None:
        """Free the place of an entry that was handed out."""
        site = self._roster.site(name)
        self._come_back(site)
        self._reserve.give_back(site)
        self._order.list(site)
        self._roster.settle(site)

    def spend(self, entry: E) -> None:
        """Take back an entry: its turn is spent on something else, and the site is suspended until `resume`."""
        site = self._roster.placed(entry.site)
        self._come_back(site)
        site.suspended = site.asking = True
        self._put_back(site, entry, self._bit(entry))

    def _come_back(self, site: Site[E]) -> None:
        site.in_flight -= 1
        self._out -= 1
        if site.address is not None:
            site.address.in_flight -= 1
            self._order.list_address(site.address)

    def resume(self, name: str) -> None:
        """Let entries of a suspended site out again, each when its time has come."""
        site = self._roster.site(name)
        site.suspended = False
        self._reserve.stop_asking(site)
        self._order.list(site)
        self._roster.settle(site)

    def refund(self, name: str) -> None:
        """Give a site the turn of its latest entry back: no request was made after all."""
        site = self._roster.site(name)
        delay = self.pace.seconds(site.clock, self._now)
        site.clock.take_back(delay)
        site.in_a_row = max(site.in_a_row - 1, 0)
        if site.address is not None:
            site.address.clock.take_back(delay)
        self._order.relist(site)

    def claim(self, name: str, now: float) -> float:
        """Take the next turn of a site for a request made elsewhere; returns the time at which it may start."""
        site = self._roster.site(name)
        at = self.pace.opens(max(now, site.next_at))
        self._begin(site, at)
        self._order.relist(site)
        self._roster.settle(site)
        return at

    def began(self, name: str, now: float) -> None:
        """Correct when the request that was handed out last began: only now, something took its time before."""
        site = self._sites.get(name)
        late = now - site.clock.started if site is not None else 0.0
        if site is None or late <= 0:
            return
        for clock in (site.clock, *([site.address.clock] if site.address is not None else ())):
            clock.started += late
            clock.due += late
        self._order.relist(site)

    def failed(self, name: str) -> bool:
        """Note that the latest request to a site failed on the network; True if it is to be given up for that."""
        site = self._roster.site(name)
        self._reserve.failed(site)
        hopeless = self.pace.backoff.fail(site.clock, self.pace.base(site.clock, self._now))
        self._recount(site)
        return hopeless

    def answered(self, name: str, latency: float = 0.0, *, well: bool = True) -> None:
        """Note that a site answered, after `latency` seconds; `well` is False for error answers."""
        site = self._sites.get(name)
        if site is None:
            return
        self._reserve.answered(site)
        if not (site.clock.errors or site.clock.slowed or self.pace.throttle):
            return
        if well:
            self.pace.backoff.recover(site.clock, self.pace.base(site.clock, self._now))
        self.pace.learn(site.clock, latency, well=well)
        self._recount(site)

    def renew(self, name: str) -> None:
        """Let a site go on as one without errors and without a delay of its own: another host stands in for it."""
        site = self._roster.site(name)
        site.clock.errors = 0
        site.clock.slowed = site.clock.learned = site.clock.held = 0.0
        self._roster.own.pop(name, None)
        site.clock.own = None
        self._recount(site)
        self._roster.settle(site)

    def give_up(self, name: str) -> list[E]:
        """Let nothing more of a site out in this run; what waits stays in the store. Returns what was in memory."""
        self.given_up.add(name)
        return self.withdraw(name)

    # ---- delays and places of single sites

    def site(self, name: str) -> Site[E] | None:
        """Return what is remembered of a site."""
        return self._sites.get(name)

    def delay_of(self, name: str) -> float:
        """Return the seconds between the starts of two requests to a site."""
        site = self._sites.get(name)
        return (
            self.pace.seconds(site.clock, self._now) if site else self._roster.own.get(name, self.pace.delay)
        )

    def set_delay(self, name: str, seconds: float) -> None:
        """Give a site a delay of its own, which counts from its latest request on."""
        self._roster.own[name] = seconds
        site = self._roster.site(name)
        site.clock.own = seconds
        self._recount(site)
        self._roster.settle(site)

    def reset_delay(self, name: str) -> None:
        """Let the delay of the source hold for a site again."""
        if self._roster.own.pop(name, None) is not None and name in self._sites:
            site = self._sites[name]
            site.clock.own = None
            self._recount(site)

    def _recount(self, site: Site[E]) -> None:
        site.clock.count(self.pace.seconds(site.clock, self._now))
        self._order.relist(site)

    def cap(self, name: str, places: int) -> None:
        """Let at most `places` entries of this site be out at once from now on."""
        self._roster.caps[name] = places
        site = self._sites.get(name)
        if site is not None:
            site.places = places

    def hold(self, name: str, until: float) -> None:
        """Let nothing of this site out before a time (`Retry-After`, a further attempt)."""
        site = self._roster.site(name)
        site.clock.held = max(site.clock.held, until)
        self._reserve.stop_asking(site)  # who waits until then has no connection
        self._order.relist(site)
        self._roster.settle(site)

    def recall(self, name: str, until: float, errors: int = 0, slowed: float = 0.0) -> None:
        """Take up what was known of a site before a restart; nothing of it goes out before `until`."""
        site = self._roster.site(name)
        site.clock.errors = errors
        site.clock.slowed = slowed
        site.clock.due = max(site.clock.due, until)
        self._order.relist(site)
        self._roster.settle(site)

    def locate(self, name: str, address: str) -> None:
        """Tell the network address of a site; empty if it has none, or shares it with nobody."""
        self.unlocated.discard(name)
        site = self._sites.get(name)
        if site is None or site.located:
            return
        site.located = True
        if address:
            self._order.locate(site, address)
        self._order.list(site)

    # ---- inside

    def _bit(self, entry: E) -> int:
        if self._level_of is None:
            return 1
        return 1 << nearest(self._level_of(entry), self._levels) - 1

    def _append(self, site: Site[E], entry: E, bit: int) -> None:
        site.append(entry, bit)
        self._size += 1
        if site.ready:
            self._order.stand(site, bit)
        elif not site.listed:
            self._order.list(site)

    def _put_back(self, site: Site[E], entry: E, bit: int) -> None:
        site.append_first(entry, bit)
        self._size += 1
        self._roster.note_hunger(site)
        if site.ready:
            self._order.stand(site, bit)

    def _leave_stored(self, site: Site[E], bits: int) -> None:
        site.stored |= bits
        self._roster.note_hunger(site)
