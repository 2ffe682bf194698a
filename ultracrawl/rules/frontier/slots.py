"""Slots: the limit of sites that are crawled at a time; further sites wait in order of arrival."""

from __future__ import annotations

from collections import OrderedDict


class SiteSlots:
    """Counts the slots in use and queues waiting sites (FAST 5.1 C15); all operations are O(1)."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self._taken = 0
        self._waiting: OrderedDict[str, None] = OrderedDict()

    def __len__(self) -> int:
        """Return the number of waiting sites."""
        return len(self._waiting)

    @property
    def taken(self) -> int:
        """The number of sites with a slot."""
        return self._taken

    def claim_slot(self, name: str) -> bool:
        """Take a free slot; if there is none, queue the site and return False."""
        if self.limit is None or (self._taken < self.limit and not self._waiting):
            self._taken += 1
            return True
        self.wait_for_slot(name)
        return False

    def wait_for_slot(self, name: str) -> None:
        """Queue a site behind all waiting ones; one that waits already keeps its position."""
        self._waiting.setdefault(name)

    def drop_site(self, name: str) -> None:
        """Remove a site from the queue."""
        self._waiting.pop(name, None)

    def release_slot(self) -> None:
        """Return a slot."""
        self._taken -= 1

    def grant_next(self) -> str | None:
        """Give a free slot to the site that has waited longest; returns its name, None if there is no slot or site."""
        if self.limit is not None and self._taken >= self.limit:
            return None
        if not self._waiting:
            return None
        self._taken += 1
        return self._waiting.popitem(last=False)[0]

    def is_waiting(self, name: str) -> bool:
        """Return whether a site waits for a slot."""
        return name in self._waiting
