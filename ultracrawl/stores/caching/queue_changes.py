"""What the queues of every engine hold in memory: unflushed changes, and the order of the entries that were read."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, pairwise
from typing import NamedTuple

from ultracrawl.stores.port.queue import QueueEntry

MAX_FOLLOWING = 100_000
"""Maximum number of entries whose successors are remembered."""

Place = tuple[int, int, int, int]
"""Level, rank, depth and `seq` of an entry: its place among those of its site."""


def place_of(entry: QueueEntry) -> Place:
    """Return the place of an entry among those of its site."""
    return entry.level, entry.rank, entry.depth, entry.seq


class SiteChanges(NamedTuple):
    """The unflushed changes of the queue of a site."""

    added: list[QueueEntry]
    finished: set[Place]

    def of(self, stored: Iterable[QueueEntry], start: int, stop: int) -> list[QueueEntry]:
        """Return what waits of the stored entries and of the added ones with levels from `start` to before `stop`.

        An added entry may be stored already, by a flush that is not over.
        """
        added = (entry for entry in self.added if start <= entry.level < stop)
        waiting = {place_of(one): one for one in chain(stored, added)}
        return [waiting[place] for place in sorted(waiting.keys() - self.finished)]


class RequestOrder:
    """Links the keys of entries in the order in which they will be requested, as their records are read."""

    def __init__(self) -> None:
        self._next: dict[int, int] = {}
        """The key of the entry that was read after a key."""

    def remember_order(self, keys: Iterable[int]) -> None:
        """Add keys in the order in which they will be requested."""
        if len(self._next) > MAX_FOLLOWING:
            self._next.clear()
        self._next.update(pairwise(keys))

    def keys_from(self, key: int, number: int) -> list[int]:
        """Return up to `number` keys: one and those of the entries read after it, if it was read."""
        found = [key]
        while len(found) < number and (key := self._next.get(key, 0)):
            found.append(key)
        return found

    def drop_key(self, key: int) -> None:
        """Forget what follows an entry, which is finished."""
        self._next.pop(key, None)

    def clear_order(self) -> None:
        """Forget the order of all entries."""
        self._next.clear()
