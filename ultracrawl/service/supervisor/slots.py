"""Who crawls: which orders begin, which crawls lend their slot, and which are stopped so that others get a turn."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from ultracrawl.dataclass import dataclass
from ultracrawl.service.metrics.machine import available_bytes

if TYPE_CHECKING:
    from ultracrawl.sources.sections.project import ProcessesSection

LEND_AFTER = 30.0
"""Seconds without an answer after which a crawl may lend its slot."""
MIN_SLOTS = 8
MAX_SLOTS = 64
BYTES_PER_CRAWL = 100_000_000
"""Memory that the default number of slots reserves for each crawl."""


@dataclass(frozen=True, slots=True)
class SlotLimits:
    """The limits of concurrent crawls."""

    slots: int
    """Crawls at a time, besides those that have lent their slot."""
    starts: int = 1
    """Crawls that start at a time."""
    turn: float = math.inf
    """Seconds that a crawl runs while others wait."""
    lend_after: float = LEND_AFTER
    """Seconds without an answer after which a crawl may lend its slot."""

    @classmethod
    def of(cls, section: ProcessesSection, jobs: int | None) -> SlotLimits:
        """Return the limits of a definition; `jobs` is the number of slots that the command gives."""
        return cls(
            jobs or section.jobs or default_slots(), usable_cores(), section.longest_turn, section.lend_after
        )


@dataclass(frozen=True, slots=True)
class WaitingOrder:
    """An order that waits for a slot."""

    source: str
    since: float


@dataclass(frozen=True, slots=True)
class ActiveCrawl:
    """A crawl that runs. Times are seconds of one clock."""

    source: str
    begun: float
    """When it had started; its turn counts from then."""
    answered: float
    """When it last had an answer, or other work than waiting; at first when it began."""
    lent: float | None = None
    """When it lent its slot; None while it has one."""
    starting: bool = False
    """Whether it is still opening its files."""
    paused: bool = False
    """Whether a person has paused it."""
    stopping: bool = False
    """Whether it was told to end."""


@dataclass(frozen=True, slots=True)
class Picks:
    """What `pick` decides. All are names of sources."""

    begin: tuple[str, ...] = ()
    """Orders that begin now, the first one first."""
    lend: tuple[str, ...] = ()
    """Crawls that lend their slot and go on."""
    take_back: tuple[str, ...] = ()
    """Crawls that had lent their slot, and have one again."""
    turn_over: tuple[str, ...] = ()
    """Crawls to be stopped and queued again, because they have run for longer than their turn."""
    displaced: tuple[str, ...] = ()
    """Crawls to be stopped and queued again, because too many have lent their slot."""

    @property
    def stop(self) -> tuple[str, ...]:
        """All crawls to be stopped and queued again."""
        return self.turn_over + self.displaced


def pick(
    orders: Sequence[WaitingOrder], running: Sequence[ActiveCrawl], now: float, limits: SlotLimits
) -> Picks:
    """Decide who crawls from now on. Without waiting orders nobody lends and nobody is stopped.

    * Free slots go to crawls that had lent theirs and have answers again, then to orders, first in, first out. At most
      `starts` crawls start at a time; a slot stays free for an order that waits for nothing else.
    * While an order has no slot, paused crawls lend theirs, then those without an answer for `lend_after` seconds, the
      longest wait first. At most `slots` crawls that are not paused have lent theirs; for a further one the crawl that
      lent first is stopped, and the further one lends when that has ended.
    * If that is not enough, the crawls that have run for longer than `turn` are stopped, the longest first, as many as
      orders lack a slot. Those that work again without a slot are stopped after their turn too.

    Never more than `slots` crawls have a slot, unless they had when the limit was lowered. An order begins when the
    crawls that were running have ended, lent or had their turn: after `turn` and the time to stop, for each `slots`
    orders before it.
    """
    queue = sorted(orders, key=lambda order: order.since)
    holders = [crawl for crawl in running if crawl.lent is None]
    without = [crawl for crawl in running if crawl.lent is not None]
    working = [crawl for crawl in without if not (crawl.stopping or _waits(crawl, now, limits))]
    free = max(limits.slots - len(holders), 0)
    tired = [crawl for crawl in working if _is_over(crawl, now, limits)] if len(queue) > free else []
    back = sorted((crawl for crawl in working if crawl not in tired), key=lambda crawl: crawl.begun)[:free]
    free -= len(back)
    lacking = max(len(queue) - free, 0)
    lend, wishing = _lenders(holders, without, lacking, now, limits)
    displaced = _displaced(without, tired, len(wishing), now, limits)
    lacking -= len(lend) + len(wishing) + sum(crawl.stopping for crawl in holders)
    kept = [crawl for crawl in holders if crawl not in lend and crawl not in wishing]
    turn_over = [*_longest_over(kept, max(lacking, 0), now, limits), *tired]
    starts = max(limits.starts - sum(crawl.starting for crawl in running), 0)
    begin = queue[: min(free + len(lend), starts)]
    return Picks(_names(begin), _names(lend), _names(back), _names(turn_over), _names(displaced))


def _lenders(
    holders: Iterable[ActiveCrawl],
    without: Iterable[ActiveCrawl],
    lacking: int,
    now: float,
    limits: SlotLimits,
) -> tuple[list[ActiveCrawl], list[ActiveCrawl]]:
    """Return the crawls that lend their slot now, and those that may only when another one has ended."""
    idle = [crawl for crawl in holders if not crawl.stopping and _waits(crawl, now, limits)]
    idle = sorted(idle, key=lambda crawl: (not crawl.paused, crawl.answered))[:lacking]
    room = max(limits.slots - sum(not crawl.paused for crawl in without), 0)
    paused = [crawl for crawl in idle if crawl.paused]
    quiet = idle[len(paused) :]
    return paused + quiet[:room], quiet[room:]


def _displaced(
    without: Iterable[ActiveCrawl],
    tired: Sequence[ActiveCrawl],
    number: int,
    now: float,
    limits: SlotLimits,
) -> list[ActiveCrawl]:
    """Return the crawls to stop so that so many others can lend: those that still wait first, then the oldest."""
    leaving = [crawl for crawl in without if crawl.stopping and not crawl.paused] + [*tired]
    others = [crawl for crawl in without if not (crawl.paused or crawl in leaving)]
    others.sort(key=lambda crawl: (not _waits(crawl, now, limits), crawl.lent))
    return others[: max(number - len(leaving), 0)]


def _longest_over(
    holders: Iterable[ActiveCrawl], number: int, now: float, limits: SlotLimits
) -> list[ActiveCrawl]:
    over = [crawl for crawl in holders if not crawl.stopping and _is_over(crawl, now, limits)]
    return sorted(over, key=lambda crawl: crawl.begun)[:number]


def _waits(crawl: ActiveCrawl, now: float, limits: SlotLimits) -> bool:
    return crawl.paused or (not crawl.starting and now - crawl.answered >= limits.lend_after)


def _is_over(crawl: ActiveCrawl, now: float, limits: SlotLimits) -> bool:
    return not crawl.starting and now - crawl.begun >= limits.turn


def _names(chosen: Iterable[WaitingOrder | ActiveCrawl]) -> tuple[str, ...]:
    return tuple(one.source for one in chosen)


# ---- defaults


@cache
def default_slots() -> int:
    """Return the default number of slots: one for each 100 MB of memory available at the first call, from 8 to 64."""
    memory = available_bytes()
    if memory is None:
        return MIN_SLOTS
    return min(max(memory // BYTES_PER_CRAWL, MIN_SLOTS), MAX_SLOTS)


def usable_cores() -> int:
    """Return the number of CPU cores that this process may use."""
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
