"""Limits of what one search reads."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum

SEARCH_TERMS = 100_000
"""Terms that one search reads."""
SEARCH_POSTINGS = 200_000_000
"""Postings that one search reads: a document of one term is a posting."""
SEARCH_SECONDS = 5.0
"""Seconds of processor time after which a search reads no more."""
_TERMS_BY_CLOCK = 64
"""Terms between two looks at the clock."""


class SearchLimit(StrEnum):
    """A limit that cut a search short."""

    TERMS = "terms"
    POSTINGS = "postings"
    TIME = "time"


class SearchBudget:
    """What one search may read, with all its readings; conditions on readers are never cut. Not thread-safe.

    The clock is the processor time of the thread, so that a busy machine does not change what is found.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.thread_time,
        *,
        terms: int = SEARCH_TERMS,
        postings: int = SEARCH_POSTINGS,
    ) -> None:
        self._clock = clock
        self._end = clock() + SEARCH_SECONDS
        self.terms = terms
        """Terms that may still be read."""
        self._postings = postings
        self.refusals = 0
        """How often something was not read because a limit was reached."""
        self.exceeded: dict[SearchLimit, None] = {}
        """The limits that were reached."""

    def in_time(self) -> bool:
        """Return whether there is time left."""
        return self._clock() < self._end or self._refuse(SearchLimit.TIME)

    def spend(self, postings: int) -> bool:
        """Count a term with this many postings; return whether it may be read."""
        if self.terms <= 0:
            return self._refuse(SearchLimit.TERMS)
        if self._postings <= 0:
            return self._refuse(SearchLimit.POSTINGS)
        self.terms -= 1
        self._postings -= postings
        return bool(self.terms % _TERMS_BY_CLOCK) or self.in_time()

    def _refuse(self, limit: SearchLimit) -> bool:
        self.exceeded[limit] = None
        self.refusals += 1
        return False
