"""Interface of the store of one source: six parts, one unit of work."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from ultracrawl.dataclass import dataclass
from ultracrawl.rules.recrawl.cycle import CyclePlace, RefreshMode
from ultracrawl.stores.port.documents import DocumentPart
from ultracrawl.stores.port.leases import KeptLease
from ultracrawl.stores.port.links import LinkPart
from ultracrawl.stores.port.queue import ALL_KNOWN_URLS, QueuePart, QueueStart
from ultracrawl.stores.port.records import RecordPart
from ultracrawl.stores.port.sites import SitePart
from ultracrawl.stores.port.visits import VisitPart


@dataclass(frozen=True, slots=True)
class RunMark:
    """A run; `finished` is 0 while it goes on, and after it was killed."""

    number: int
    started: float
    finished: float = 0.0
    scope: str = ""
    """Digest of the definition: which URLs belong to the source, and how documents are made."""
    report: str = ""
    """The run report as JSON, empty until the end."""
    cycle: int = 0
    minor: int = 0
    due: float = 0.0
    mode: str = RefreshMode.KNOWN
    deleted: int = 0
    """Documents removed from the index in this run so far, as the deletion guard counts them."""

    @classmethod
    def at(cls, number: int, started: float, scope: str, place: CyclePlace) -> RunMark:
        """Return a new run that begins at a place in the sequence of cycles."""
        return cls(
            number,
            started,
            scope=scope,
            cycle=place.cycle,
            minor=place.minor,
            due=place.due,
            mode=place.mode.value,
        )

    @property
    def place(self) -> CyclePlace:
        """The place of the run in the sequence of cycles."""
        return CyclePlace(self.cycle, self.minor, self.due, RefreshMode(self.mode))


class Store(Protocol):
    """The state of one source. One process writes at a time; others may read.

    Writes are collected and become durable together in `flush()`: after a crash the store is in the state of a
    completed flush. Methods see unflushed writes unless they say otherwise. Nothing that reads flushes: the caller
    makes documents durable first (`CrawlContext.flush`).
    Every method raises `StateError` if the store cannot be read or written.
    """

    prepare_flush: Callable[[], object]
    """Called before each flush, for what has to be written together with the other changes; by default nothing."""

    renewed: str
    """Message about a damaged store that this new one replaces; empty if there was none."""

    @property
    def records(self) -> RecordPart:
        """The document table."""

    @property
    def visits(self) -> VisitPart:
        """When URLs were seen, and how often they change and fail."""

    @property
    def queue(self) -> QueuePart:
        """The request queue."""

    @property
    def sites(self) -> SitePart:
        """Sites, sitemaps and feeds."""

    @property
    def links(self) -> LinkPart:
        """Links and anchor texts."""

    @property
    def documents(self) -> DocumentPart:
        """Retained, submitted and indexed documents."""

    # ---- runs

    def begin_run(
        self, started: float, scope: str, start: QueueStart = ALL_KNOWN_URLS
    ) -> tuple[RunMark, bool]:
        """Begin a new run, or resume the last one if it did not end and has the same scope; True if resumed.

        A run whose cycle is over by the rule of `start` is not resumed. If the scope changed, every known URL is
        requested, whatever the mode. Otherwise the mode of the rule decides how the queue is filled; by default with
        every known URL except sitemaps and removed ones. A new run deletes the URLs of `RecordPart.forgettable_urls`,
        and sitemaps that are gone or were not fetched by the previous run.
        """

    def end_run(self, run: RunMark) -> None:
        """Store the progress of a run (`report`, `scope`, `deleted`) or its end (`finished`), durably."""

    def listings(self) -> list[tuple[int, str]]:
        """Return (run number, listing state), newest first."""

    def note_listing(self, run: int, text: str) -> None:
        """Store how far a run has listed its source; durable with the next flush."""

    def forget_listings(self) -> None:
        """Delete all listing states, durably, so that the next listing is complete."""

    def runs(self, limit: int = 10) -> list[RunMark]:
        """Return the latest runs, newest first."""

    # ---- the unit of work

    def next_epoch(self) -> int:
        """Return a number that is higher than all that were given before in the project; it is durable.

        Only the writer of the source gets one; by it an index tells its changes from those of an earlier writer that
        arrive later. It is at least the seconds of the clock of the store. 0: the store is of one machine, whose
        document caches give one.
        """

    def keep_lease(self) -> float:
        """Renew the lease of the source if that is due; returns the monotonic time since which it lasts.

        It lasts `leases.LEASE_SECONDS` from then. 0: the store has none, its lock is held. Raises `StateError` if
        another process has taken the source over.
        """

    def kept_lease(self) -> KeptLease | None:
        """Return the lease of the source, for a thread that renews it when its holder is late; None: it has none."""

    def flush(self) -> None:
        """Make everything written so far durable, in one transaction, after that of a flush that was begun."""

    def begin_flush(self, first: Callable[[], object] = lambda: None) -> None:
        """Begin to make everything written so far durable; what is written meanwhile belongs to the next flush.

        Before anything is written `first` is called, in any thread. Nothing is written if it raises a `WorkError`:
        this method or `flush_ended` raises it then.

        A store in a server does that beside the caller, who asks `flush_ended` from time to time; another may do what
        `flush` does. Only one goes on: this waits for the one before. Reads see what is written and what comes
        meanwhile; those that see flushed changes only may not see it yet.
        """

    def flush_ended(self) -> bool:
        """Whether no flush that was begun goes on.

        Raises `WorkError`, once, if it failed: then nothing of it is lost, and the next flush repeats it before it
        writes what came later.
        """

    def drop_urls(self, keys: Iterable[int]) -> None:
        """Delete URLs, durably, from table and queue, with everything the parts store about them."""

    @property
    def damage(self) -> str:
        """Message about damage found in the store, empty if it is sound. A damaged one is set aside on `close`."""

    def close(self) -> None:
        """Flush and close."""
