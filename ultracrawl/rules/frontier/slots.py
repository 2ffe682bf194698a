"""The places of sites: at most so many are crawled at a time, the others wait in the order in which they came."""

from __future__ import annotations

from collections import OrderedDict


class SiteSlots:
    """Who has a place, and who waits for one (FAST 5.1 C15); every step costs the same for any number of sites."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self._taken = 0
        self._line: OrderedDict[str, None] = OrderedDict()

    def __len__(self) -> int:
        """Return how many sites wait."""
        return len(self._line)

    @property
    def taken(self) -> int:
        """How many sites have a place."""
        return self._taken

    def ask_place(self, name: str) -> bool:
        """Take a free place; without one the site waits, if it does not yet, and the answer is False."""
        if self.limit is None or (self._taken < self.limit and not self._line):
            self._taken += 1
            return True
        self.wait_for_place(name)
        return False

    def wait_for_place(self, name: str) -> None:
        """Put a site behind all that wait."""
        self._line.setdefault(name)

    def drop_site(self, name: str) -> None:
        """Let a site wait no more."""
        self._line.pop(name, None)

    def give_place_back(self) -> None:
        """Give a place back."""
        self._taken -= 1

    def next_site(self) -> str | None:
        """Give a free place, if there is one, to the site that has waited longest; its name."""
        if self.limit is not None and self._taken >= self.limit:
            return None
        if not self._line:
            return None
        self._taken += 1
        return self._line.popitem(last=False)[0]

    def has_waiting(self, name: str) -> bool:
        """Tell whether a site waits."""
        return name in self._line
