"""The interface of a state store: the document table and the queue of one source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ultracrawl.model import UrlOutcome, UrlRecord


class Discovered(NamedTuple):
    """A URL that passed the boundary and is not known yet; it enters table and queue."""

    key: int
    url: str
    site: str
    depth: int
    display_url: str = ""
    hops: int = 0


class QueueEntry(NamedTuple):
    """A URL that waits for its turn. Ordered by depth, then by discovery."""

    key: int
    url: str
    site: str
    depth: int
    seq: int
    hops: int = 0


@dataclass(frozen=True, slots=True)
class Finished:
    """A URL that reached its outcome: replaces its row and takes it out of the queue."""

    key: int
    record: UrlRecord


@dataclass(frozen=True, slots=True)
class RunMark:
    """A run as the store remembers it; `finished` is 0 while it goes on or when it was killed."""

    number: int
    started: float
    finished: float = 0.0
    scope: str = ""
    report: str = ""


class StateStore(Protocol):
    """Document table, queue and runs of one source. One process writes at a time; others may read.

    Writes are collected and become durable together in `flush()`: after a crash the store is as after some
    `flush()`, never between two.
    """

    def begin_run(self, started: float, scope: str) -> tuple[RunMark, bool]:
        """Open the next run, or the one that was killed; True if it is resumed.

        A new run puts every known URL that still belongs to the source into the queue.
        """

    def end_run(self, run: RunMark) -> None:
        """Store the end of a run (`finished`, `report`) durably."""

    def runs(self, limit: int = 10) -> list[RunMark]:
        """Return the latest runs, newest first."""

    def lookup(self, keys: Sequence[int]) -> dict[int, tuple[str, int]]:
        """Return (url, depth) by key for those of the keys that are known."""

    def get(self, key: int) -> UrlRecord | None:
        """Return the record of a key."""

    def discover(self, found: Iterable[Discovered]) -> None:
        """Add URLs that are not known yet to table and queue."""

    def requeue(self, keys: Iterable[int]) -> None:
        """Put known URLs into the queue again."""

    def finish(self, done: Finished) -> None:
        """Record the outcome of a queued URL."""

    def mark_indexed(self, changes: Iterable[tuple[int, bool]]) -> None:
        """Set the indexed flag of keys, after the commit of the index."""

    def queued(self, site: str, after: tuple[int, int], limit: int) -> list[QueueEntry]:
        """Return up to `limit` waiting URLs of a site behind (depth, seq) `after`, in order."""

    def queued_sites(self) -> Iterator[tuple[str, int]]:
        """Yield every site with waiting URLs and their number."""

    def flush(self) -> None:
        """Make everything said so far durable, in one transaction. Raises `StateError`."""

    def records(self, outcome: UrlOutcome | None = None) -> Iterator[UrlRecord]:
        """Yield all records in order of their URL, of one outcome if it is named."""

    def close(self) -> None:
        """Flush and release."""
