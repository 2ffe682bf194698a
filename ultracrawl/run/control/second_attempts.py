"""Visits that failed while the machine was perhaps busy: each is made once more at the end of the run, alone."""

from __future__ import annotations

import logging

from ultracrawl.model import UrlOutcome
from ultracrawl.run.visit import Visit

logger = logging.getLogger(__name__)

MAX_WAITING = 1000
"""Visits that wait at most; further ones fail at once."""
MAX_IN_VAIN = 10
"""Visits in a row that fail alone, too. Then the machine is not the reason, and all others are made side by side."""


class SecondAttempts:
    """The visits of a run that wait for their second attempt, which is their last."""

    def __init__(self) -> None:
        self._waiting: dict[int, Visit] = {}
        self._in_vain = 0

    def add(self, visit: Visit, why: str) -> Visit | None:
        """Set a visit aside that failed for a reason; returns the one to make later.

        None if its failure counts: it was alone, or too many wait. Sitemaps are not set aside, nor are
        documents that came without a request.
        """
        if visit.alone:
            self._in_vain += 1
            return None
        if visit.done or visit.sitemap or visit.without_request or len(self._waiting) >= MAX_WAITING:
            return None
        logger.warning("%s is read once more at the end of the run: %s", visit.url, why)
        again = visit.set_aside()
        self._waiting[visit.entry.key] = again
        return again

    def __len__(self) -> int:
        """Return how many visits wait."""
        return len(self._waiting)

    def __contains__(self, key: object) -> bool:
        """Return whether the visit of the URL with a key waits."""
        return key in self._waiting

    @property
    def are_in_vain(self) -> bool:
        """Whether so many have failed alone that those that wait need not be alone."""
        return self._in_vain >= MAX_IN_VAIN

    def take_next(self) -> Visit:
        """Return the next visit; called when no other is in flight, unless they `are_in_vain`."""
        return self._waiting.pop(next(iter(self._waiting)))

    def note_end(self, visit: Visit) -> None:
        """Note the outcome of a visit."""
        if visit.alone and visit.outcome is not UrlOutcome.FAILED and not visit.page.unrendered:
            self._in_vain = 0
