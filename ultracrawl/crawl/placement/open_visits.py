"""Visits that are to be indexed and have not ended, by what their content is compared by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracrawl.crawl.visit import Visit


class OpenVisits:
    """Visits in flight by fingerprint, and which fingerprints several documents have."""

    def __init__(self) -> None:
        self._open: dict[int, tuple[bytes, Visit]] = {}
        """Visits with their fingerprints, by key."""
        self._number_open: Counter[bytes] = Counter()
        self._contested: set[bytes] = set()
        """Fingerprints of which more than one visit was open, or another document is in the index."""

    def enter(self, visit: Visit, *, contested: bool) -> None:
        """Take note of a visit that is on its way; `contested` says that another document has its content."""
        self.leave(visit)
        self._open[visit.entry.key] = visit.page.fingerprint, visit
        self._number_open[visit.page.fingerprint] += 1
        if contested or self._number_open[visit.page.fingerprint] > 1:
            self._contested.add(visit.page.fingerprint)

    def leave(self, visit: Visit) -> bytes:
        """Take note that a visit is on its way no more; returns its fingerprint if others had it, too."""
        fingerprint, _ = self._open.pop(visit.entry.key, (b"", visit))
        if not fingerprint:
            return b""
        contested = fingerprint if fingerprint in self._contested else b""
        self._number_open[fingerprint] -= 1
        if not self._number_open[fingerprint]:
            del self._number_open[fingerprint]
            self._contested.discard(fingerprint)
        return contested

    def is_contested(self, fingerprint: bytes) -> bool:
        """Return whether another document has, or may have, a content that is on its way."""
        return fingerprint in self._contested

    def of_content(self, fingerprint: bytes) -> Iterator[Visit]:
        """Yield the visits that are on their way with a content."""
        return (visit for print_, visit in self._open.values() if print_ == fingerprint)
