"""Visits in flight whose pages are to be indexed, by content fingerprint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracrawl.crawl.visit import Visit


class OpenVisits:
    """Visits in flight by fingerprint, and the fingerprints that several documents share."""

    def __init__(self) -> None:
        self._open: dict[int, tuple[bytes, Visit]] = {}
        """Fingerprint and visit, by key."""
        self._number_open: Counter[bytes] = Counter()
        self._contested: set[bytes] = set()
        """Fingerprints with more than one open visit, or with another document in the index."""

    def enter(self, visit: Visit, *, contested: bool) -> None:
        """Add a visit; `contested` tells that another document has its content."""
        self.leave(visit)
        self._open[visit.entry.key] = visit.page.fingerprint, visit
        self._number_open[visit.page.fingerprint] += 1
        if contested or self._number_open[visit.page.fingerprint] > 1:
            self._contested.add(visit.page.fingerprint)

    def leave(self, visit: Visit) -> bytes:
        """Remove a visit; returns its fingerprint if other documents shared it, else an empty one."""
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
        """Return whether another document has, or may get, the content of an open visit."""
        return fingerprint in self._contested

    def of_content(self, fingerprint: bytes) -> Iterator[Visit]:
        """Yield the open visits with a fingerprint."""
        return (visit for open_fingerprint, visit in self._open.values() if open_fingerprint == fingerprint)
