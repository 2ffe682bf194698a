"""The store of one source: six parts, one unit of work."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from ultracrawl.rules.recrawl.cycle import CyclePlace, RefreshMode
from ultracrawl.stores.port.documents import DocumentPart
from ultracrawl.stores.port.links import LinkPart
from ultracrawl.stores.port.queue import AS_KNOWN, QueuePart, QueueStart
from ultracrawl.stores.port.records import RecordPart
from ultracrawl.stores.port.sites import SitePart
from ultracrawl.stores.port.visits import VisitPart


@dataclass(frozen=True, slots=True)
class RunMark:
    """A run as the store remembers it; `finished` is 0 while it goes on, and after it was killed."""

    number: int
    started: float
    finished: float = 0.0
    scope: str = ""
    """Fingerprint of the definition: what decides which URLs belong to the source, and how documents are made."""
    report: str = ""
    """The run report as JSON, empty until the end."""
    cycle: int = 0
    minor: int = 0
    due: float = 0.0
    mode: str = RefreshMode.KNOWN
    deleted: int = 0
    """Documents that left the index in it so far, of those that the guard of deletions counts."""

    @classmethod
    def at(cls, number: int, started: float, scope: str, place: CyclePlace) -> RunMark:
        """Return the mark of a run that begins at a place in the sequence of cycles."""
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
        """Where in the sequence of cycles the run stands."""
        return CyclePlace(self.cycle, self.minor, self.due, RefreshMode(self.mode))


class Store(Protocol):
    """What is known of one source. One process writes at a time; others may read.

    Writes are collected and become durable together in `flush()`: after a crash the store is as after some
    `flush()`, never between two. What was written is read back at once, flushed or not, where a method does not say
    otherwise. Every method raises `StateError` if the store cannot be read or written.
    """

    renewed: str
    """What was done with a damaged store that this new one replaces; empty if there was none."""

    @property
    def records(self) -> RecordPart:
        """The document table."""

    @property
    def visits(self) -> VisitPart:
        """When URLs were seen, how often they change and fail."""

    @property
    def queue(self) -> QueuePart:
        """What waits."""

    @property
    def sites(self) -> SitePart:
        """Clocks, robots.txt, sitemaps and feeds."""

    @property
    def links(self) -> LinkPart:
        """Links and their texts."""

    @property
    def documents(self) -> DocumentPart:
        """Documents that are kept back, in the index, or on the way there."""

    # ---- runs

    def begin_run(self, started: float, scope: str, start: QueueStart = AS_KNOWN) -> tuple[RunMark, bool]:
        """Open the next run, or the one that did not end and had the same scope; True if it is resumed.

        One whose time is over by the rule of `start` is not resumed. After another scope every known URL is asked
        for, whatever the mode. A new run begins with the queue that the mode of the rule asks for; by default with
        every known URL, sitemaps and removed ones apart. What `RecordPart.forgettable_urls` names is forgotten, as are
        sitemaps that are gone or were not asked for.
        """

    def end_run(self, run: RunMark) -> None:
        """Store how a run stands (`report`, `scope`, `deleted`), or its end (`finished`), durably."""

    def listings(self) -> list[tuple[int, str]]:
        """Return, newest first, what was noted of the listings of runs, with the numbers of the runs."""

    def note_listing(self, run: int, text: str) -> None:
        """Note how far a run came with listing its source; durable with the next flush."""

    def forget_listings(self) -> None:
        """Have the next listing name everything again, durably."""

    def runs(self, limit: int = 10) -> list[RunMark]:
        """Return the latest runs, newest first."""

    # ---- the unit of work

    def flush(self) -> None:
        """Make everything written so far durable, in one transaction."""

    def drop_urls(self, keys: Iterable[int]) -> None:
        """Delete URLs, durably, from table and queue, with everything that the parts store of them."""

    @property
    def damage(self) -> str:
        """What is damaged in it; empty for a sound store. A damaged one is set aside when it is closed."""

    def close(self) -> None:
        """Flush and release."""
