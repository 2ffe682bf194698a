"""The interface of a state store: the document table, the queue and the runs of one source."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.recrawl import CyclePlace, RefreshMode
from ultracrawl.stores.sqlite.cycle_start import AS_KNOWN, QueueStart
from ultracrawl.stores.sqlite.parts.allowance_table import AllowanceStore
from ultracrawl.stores.sqlite.parts.anchor_table import AnchorStore
from ultracrawl.stores.sqlite.parts.detour_table import DetourStore
from ultracrawl.stores.sqlite.parts.expiry_table import ExpiryStore
from ultracrawl.stores.sqlite.parts.failure_table import FailureStore
from ultracrawl.stores.sqlite.parts.feed_table import FeedStore
from ultracrawl.stores.sqlite.parts.near_table import NearStore
from ultracrawl.stores.sqlite.parts.pending_table import PendingStore
from ultracrawl.stores.sqlite.parts.revisit_table import RevisitStore
from ultracrawl.stores.sqlite.parts.robots_table import RobotsStore
from ultracrawl.stores.sqlite.parts.site_table import SiteStore
from ultracrawl.stores.sqlite.parts.sitemap_table import SitemapStore
from ultracrawl.stores.sqlite.queue_view import QueueOutlook


class QueueEntry(NamedTuple):
    """A URL that waits for its turn; entries of a site and level go by rank, depth, then in order of discovery."""

    key: int
    """`urls.url_key` of the URL: identifies it within its source."""
    url: str
    site: str
    depth: int
    seq: int
    hops: int = 0
    """Redirects that led here, one after the other."""
    display_url: str = ""
    rank: int = 0
    """Lower ranks go first within a site; 0 but for what stood in the queue when the cycle began."""
    level: int = 1
    """Its priority; level 1 is the highest."""


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


class StateStore(Protocol):
    """Document table, queue and runs of one source. One process writes at a time; others may read.

    Writes are collected and become durable together in `flush()`: after a crash the store is as after some
    `flush()`, never between two. What was written is read back at once, flushed or not.
    """

    renewed: str
    """What became of a damaged store in whose place this one was begun; empty without."""

    @property
    def damage(self) -> str:
        """What was found in it that cannot be; empty for a sound store. It is set aside when it is closed."""

    @property
    def sitemaps(self) -> SitemapStore:
        """Which URLs are sitemaps, and what they say."""

    @property
    def pending(self) -> PendingStore:
        """The documents that wait for an approval."""

    @property
    def detours(self) -> DetourStore:
        """How many documents in other languages lead to a URL."""

    @property
    def expiry(self) -> ExpiryStore:
        """When descriptions expire."""

    @property
    def revisits(self) -> RevisitStore:
        """When URLs were seen, and how often they change."""

    @property
    def sites(self) -> SiteStore:
        """What is remembered of each site."""

    @property
    def robots(self) -> RobotsStore:
        """The robots.txt of each origin as it came."""

    @property
    def allowances(self) -> AllowanceStore:
        """How many new URLs of each site an adaptive cycle may still fetch."""

    @property
    def feeds(self) -> FeedStore:
        """What feeds brought."""

    @property
    def outlook(self) -> QueueOutlook:
        """What waits in the queue, for people who look at it."""

    @property
    def near(self) -> NearStore:
        """Which texts are nearly equal."""

    @property
    def successors(self) -> PendingStore:
        """Documents that take the place of equal ones, as soon as these leave the index."""

    @property
    def told(self) -> PendingStore:
        """Documents that tell of other URLs, without what changes by itself."""

    @property
    def told_lists(self) -> PendingStore:
        """What these documents told last of URLs that change by themselves."""

    @property
    def anchors(self) -> AnchorStore:
        """What links to documents are called."""

    def begin_run(self, started: float, scope: str, start: QueueStart = AS_KNOWN) -> tuple[RunMark, bool]:
        """Open the next run, or the one that did not end and had the same scope; True if it is resumed.

        One whose time is over by the rule of `start` is not resumed. After another scope every known URL is asked
        for, whatever the mode. A new run begins with the queue that the mode of the rule asks for (see `fill_queue`);
        by default with every known URL, sitemaps and removed ones apart. URLs that were gone several times in a row,
        and that no known page links to, are forgotten, as are sitemaps that are gone or were not asked for.
        """

    def orphans(self) -> set[int]:
        """Return the keys of the URLs that the next new run forgets."""

    def end_run(self, run: RunMark) -> None:
        """Store how a run stands (`report`, `scope`, `deleted`), or its end (`finished`), durably."""

    def runs(self, limit: int = 10) -> list[RunMark]:
        """Return the latest runs, newest first."""

    def lookup(self, keys: Sequence[int]) -> dict[int, tuple[str, int]]:
        """Return (url, depth) by key for those of the keys that are known."""

    def get(self, key: int) -> UrlRecord | None:
        """Return the record of a key."""

    def discover(self, entry: QueueEntry, now: float, *, queued: bool = True) -> None:
        """Add a URL that is not known yet to table and queue, or to the table alone."""

    def requeue(self, entry: QueueEntry) -> None:
        """Put a known URL, that does not wait, into the queue again, with the depth of the entry."""

    def finish(self, entry: QueueEntry, record: UrlRecord) -> None:
        """Replace the record of a queued URL and take it out of the queue."""

    def amend(self, key: int, record: UrlRecord) -> None:
        """Replace the record of a known URL; whether it waits in the queue stays as it is."""

    def shown_as(self, url: str) -> list[UrlRecord]:
        """Return the records that have this URL as their `display_url`; records shown under their own have none."""

    def dequeue_removed(self) -> None:
        """Take the URLs that somebody removed (status 955) out of the queue, durably; they stay known."""

    def dequeue(self, keys: Iterable[int]) -> None:
        """Take URLs out of the queue, durably; they stay known."""

    def same_content(self, fingerprint: bytes) -> list[UrlRecord]:
        """Return the records with this fingerprint, none for an empty one."""

    def redirecting_to(self, url: str) -> list[UrlRecord]:
        """Return the records of URLs that redirect to a URL; sees what was flushed."""

    def drop(self, keys: Iterable[int]) -> None:
        """Forget URLs: they leave table and queue."""

    def kept_keys(self, *, duplicates: bool = False) -> frozenset[int]:
        """Return the keys of documents in the index, on the way there or waiting; on request of duplicates too."""

    def remake_documents(self) -> None:
        """Forget, durably, by what documents in the index are known again, so that the next visits make them anew."""

    def mark_indexed(self, keys: Iterable[tuple[int, bool]]) -> None:
        """Say, after the commit of the index, whether the documents of these keys are in it."""

    def lost(self, waiting: frozenset[int]) -> int:
        """Make documents that were handed over, but are neither indexed nor in `waiting`, be fetched anew.

        Returns how many. Such documents exist only after the document cache was damaged or removed.
        """

    def adopt(self, waiting: Collection[int]) -> Unrecorded:
        """Take note of documents on their way to the index that the store was not told of, and have them fetched anew.

        They were handed over between the last flush and the end of a crawler that was killed.
        """

    def queued(self, site: str, limit: int, levels: range | None = None) -> list[QueueEntry]:
        """Return the first `limit` waiting URLs of a site by level, depth and order; or those of some levels."""

    def queued_sites(self) -> list[tuple[str, int]]:
        """Return every site with waiting URLs and their number."""

    def left_over_sites(self) -> list[str]:
        """Return the sites that go on with entries which the cycle before left over."""

    def next_seq(self) -> int:
        """Return a number higher than that of every entry so far."""

    def flush(self) -> None:
        """Make everything said so far durable, in one transaction. Raises `StateError`."""

    def records(self, outcome: UrlOutcome | None = None) -> Iterator[UrlRecord]:
        """Yield all records in order of their URL, of one outcome if it is named."""

    @property
    def failures(self) -> FailureStore:
        """How often URLs failed."""

    def leaving_records(self) -> Iterator[UrlRecord]:
        """Yield the records whose documents are to leave the index, in order of their URL; sees what was flushed."""

    def pending_records(self) -> Iterator[UrlRecord]:
        """Yield the records whose documents wait for an approval, in order of their URL."""

    def counts(self) -> StateCounts:
        """Return how many URLs are known, waiting and indexed."""

    def documents_before(self, started: float) -> int:
        """Return how many documents there are of those that were there when a run started; what is leaving counts."""

    def close(self) -> None:
        """Flush and release."""


class Unrecorded(NamedTuple):
    """Keys of documents that were handed over without the store being told; `unknown` are no URLs of the store."""

    known: tuple[int, ...]
    unknown: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StateCounts:
    """How many URLs of a source are known, wait in the queue, and are in the index."""

    known: int
    queued: int
    indexed: int
    outcomes: dict[UrlOutcome, int]
    pending: int = 0
    """Documents that wait for an approval."""
    documents: int = 0
    """Documents in the index, or handed over to it."""
    leaving: int = 0
    """Documents that are to leave the index and are still in it."""
