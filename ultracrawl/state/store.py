"""The interface of a state store: the document table, the queue and the runs of one source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.state.near_table import NearStore
from ultracrawl.state.sitemap_table import SitemapStore


class QueueEntry(NamedTuple):
    """A URL that waits for its turn; a site's entries are taken by depth, then in order of discovery."""

    key: int
    """`urls.url_key` of the URL: identifies it within its source."""
    url: str
    site: str
    depth: int
    seq: int
    hops: int = 0
    """Redirects that led here, one after the other."""
    display_url: str = ""


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


class StateStore(Protocol):
    """Document table, queue and runs of one source. One process writes at a time; others may read.

    Writes are collected and become durable together in `flush()`: after a crash the store is as after some
    `flush()`, never between two. What was written is read back at once, flushed or not.
    """

    @property
    def sitemaps(self) -> SitemapStore:
        """Which URLs are sitemaps, and what they say."""

    @property
    def near(self) -> NearStore:
        """Which texts are nearly equal."""

    def begin_run(self, started: float, scope: str) -> tuple[RunMark, bool]:
        """Open the next run, or the one that did not end and had the same scope; True if it is resumed.

        A new run puts every known URL into the queue, sitemaps apart. URLs that were gone several times in a row,
        and that no known page links to, are forgotten, as are sitemaps that are gone or were not asked for.
        """

    def orphans(self) -> set[int]:
        """Return the keys of the URLs that the next new run forgets."""

    def end_run(self, run: RunMark) -> None:
        """Store the end of a run (`finished`, `report`) durably."""

    def runs(self, limit: int = 10) -> list[RunMark]:
        """Return the latest runs, newest first."""

    def lookup(self, keys: Sequence[int]) -> dict[int, tuple[str, int]]:
        """Return (url, depth) by key for those of the keys that are known."""

    def get(self, key: int) -> UrlRecord | None:
        """Return the record of a key."""

    def discover(self, entry: QueueEntry, now: float) -> None:
        """Add a URL that is not known yet to table and queue."""

    def requeue(self, entry: QueueEntry) -> None:
        """Put a known URL, that does not wait, into the queue again, with the depth of the entry."""

    def finish(self, entry: QueueEntry, record: UrlRecord) -> None:
        """Replace the record of a queued URL and take it out of the queue."""

    def amend(self, key: int, record: UrlRecord) -> None:
        """Replace the record of a known URL; whether it waits in the queue stays as it is."""

    def shown_as(self, url: str) -> list[UrlRecord]:
        """Return the records that have this URL as their `display_url`; records shown under their own have none."""

    def same_content(self, fingerprint: bytes) -> list[UrlRecord]:
        """Return the records with this fingerprint, none for an empty one."""

    def drop(self, keys: Iterable[int]) -> None:
        """Forget URLs: they leave table and queue."""

    def kept_keys(self, *, duplicates: bool = False) -> frozenset[int]:
        """Return the keys of documents that are in the index or on their way there, on request of duplicates too."""

    def mark_indexed(self, keys: Iterable[tuple[int, bool]]) -> None:
        """Say, after the commit of the index, whether the documents of these keys are in it."""

    def lost(self, waiting: frozenset[int]) -> int:
        """Make documents that were handed over, but are neither indexed nor in `waiting`, be fetched anew.

        Returns how many. Such documents exist only after the document cache was damaged or removed.
        """

    def queued(self, site: str, limit: int) -> list[QueueEntry]:
        """Return the first `limit` waiting URLs of a site, in order."""

    def queued_sites(self) -> list[tuple[str, int]]:
        """Return every site with waiting URLs and their number."""

    def next_seq(self) -> int:
        """Return a number higher than that of every entry so far."""

    def flush(self) -> None:
        """Make everything said so far durable, in one transaction. Raises `StateError`."""

    def records(self, outcome: UrlOutcome | None = None) -> Iterator[UrlRecord]:
        """Yield all records in order of their URL, of one outcome if it is named."""

    def counts(self) -> StateCounts:
        """Return how many URLs are known, waiting and indexed."""

    def close(self) -> None:
        """Flush and release."""


@dataclass(frozen=True, slots=True)
class StateCounts:
    """How many URLs of a source are known, wait in the queue, and are in the index."""

    known: int
    queued: int
    indexed: int
    outcomes: dict[UrlOutcome, int]
