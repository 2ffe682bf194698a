"""How long a crawl has only waited: for answers, for delays, or for its time windows."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext


class Activity:
    """Measures how long a crawl has had no answer and nothing else to work on; costs nothing unless it is asked."""

    def __init__(self, context: CrawlContext, answers: Callable[[], int]) -> None:
        """`answers` returns the number of responses so far, of any kind."""
        self._context = context
        self._answers = answers
        self._seen = 0
        self._last = time.monotonic()
        self._is_ending = False

    def note_end(self) -> None:
        """Count as active from now on: the crawl completes its index and its state."""
        self._is_ending = True

    def quiet_seconds(self) -> float:
        """Return the seconds since the last answer or other work, as far as the calls of this method have seen it."""
        now, seen = time.monotonic(), self._answers() + self._context.counters.not_asked
        if seen != self._seen or self._works():
            self._seen, self._last = seen, now
        return now - self._last

    def _works(self) -> bool:
        visits = self._context.visits.values()
        answered = any(visit.answering or visit.fetch.status for visit in visits)
        return self._is_ending or answered or self._context.documents.congested
