"""The document table of a source: a record for each URL that is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.stores.port.queue import QueueEntry


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
    removals: int = 0
    """Documents that are to leave the index and are still in it."""


class RecordPart(Protocol):
    """The part of a `Store` with the records. A key is `urls.url_key` of a URL."""

    # ---- one URL

    def known_urls(self, keys: Sequence[int]) -> dict[int, tuple[str, int]]:
        """Return (url, depth) by key for those of the keys that are known."""

    def get_record(self, key: int) -> UrlRecord | None:
        """Return the record of a key, None if its URL is not known."""

    def get_records(self, keys: Sequence[int]) -> dict[int, UrlRecord]:
        """Return the records of those of the keys that are known."""

    def discover_url(self, entry: QueueEntry, now: float, *, queued: bool = True) -> None:
        """Add a URL that is not known yet to table and queue, or to the table alone; `now` in seconds."""

    def finish_url(self, entry: QueueEntry, record: UrlRecord) -> None:
        """Replace the record of a queued URL and take it out of the queue."""

    def amend_record(self, key: int, record: UrlRecord) -> None:
        """Replace the record of a known URL; whether it waits in the queue stays as it is."""

    # ---- by what records say

    def shown_as(self, url: str) -> list[UrlRecord]:
        """Return the records that have this URL as their `display_url`; records shown under their own have none."""

    def same_content(self, fingerprint: bytes) -> list[UrlRecord]:
        """Return the records with this fingerprint, none for an empty one."""

    def redirecting_to(self, url: str) -> list[UrlRecord]:
        """Return the records of URLs that redirect to a URL; sees what was flushed."""

    def put_simhash(self, fingerprint: bytes, simhash: int) -> None:
        """Keep the simhash (unsigned, 64 bits) of the text that a fingerprint stands for."""

    def nearest_simhash(self, simhash: int, within: int) -> bytes | None:
        """Return the fingerprint with the nearest simhash, at most `within` bits (0 to 3) away; None without one.

        Of several equally near ones the first by value counts, so that the answer does not depend on their order.
        """

    # ---- all; they see what was flushed

    def all_records(self, outcome: UrlOutcome | None = None, after: str = "") -> Iterator[UrlRecord]:
        """Yield all records in order of their URL, of one outcome if it is named; only those after a URL, too."""

    def pending_records(self) -> Iterator[UrlRecord]:
        """Yield the records whose documents wait for an approval, in order of their URL."""

    def records_to_remove(self) -> Iterator[UrlRecord]:
        """Yield the records whose documents are to leave the index, in order of their URL."""

    def forgettable_urls(self) -> set[int]:
        """Return the keys of the URLs that the next new run forgets.

        They were gone several times in a row, and no known page links to them.
        """

    def count_urls(self) -> StateCounts:
        """Return how many URLs are known, waiting and indexed."""
