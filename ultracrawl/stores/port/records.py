"""Interface of the document table: one record for each known URL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from ultracrawl.dataclass import dataclass
from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.stores.port.queue import QueueEntry


@dataclass(frozen=True, slots=True)
class StateCounts:
    """Numbers of known, queued and indexed URLs of a source."""

    known: int
    queued: int
    indexed: int
    outcomes: dict[UrlOutcome, int]
    pending: int = 0
    """Documents that wait for approval."""
    documents: int = 0
    """Documents that are submitted or indexed."""
    removals: int = 0
    """Documents that are still indexed and are to be removed."""
    held_back: int = 0
    """Documents of which a new version was held back."""


class MemoryAnswer(NamedTuple):
    """What can be said about some URLs without asking the store; all others of them are not known."""

    known: dict[int, tuple[str, int]]
    """(url, depth) by key."""
    likely: list[int]
    """Keys that are known in all likelihood; only the store can tell, and which URL and depth they have."""
    sifted: bool = True
    """False if the store has too many URLs for that: then each of these keys may be known or not."""


class RecordPart(Protocol):
    """The part of a `Store` with the document table. A key is `url_key` of a URL."""

    # ---- one URL

    def known_urls(self, keys: Sequence[int]) -> dict[int, tuple[str, int]]:
        """Return (url, depth) by key for those of the keys that are known."""

    def known_in_memory(self, keys: Sequence[int]) -> MemoryAnswer | None:
        """Return what can be said about some keys without asking the store, None if nothing can."""

    def look_up_later(self, keys: Iterable[int]) -> None:
        """Look up URLs in the next flush, together, so that they cost no statement of their own."""

    def looked_up(self) -> dict[int, tuple[str, int]]:
        """Return, once, (url, depth) by key for those of the keys of `look_up_later` that the last flush found."""

    def get_record(self, key: int) -> UrlRecord | None:
        """Return the record of a key, None if its URL is not known."""

    def get_records(self, keys: Sequence[int]) -> dict[int, UrlRecord]:
        """Return the records of those of the keys that are known."""

    def discover_url(self, entry: QueueEntry, now: float, *, queued: bool = True) -> None:
        """Add an unknown URL to the table, and to the queue if `queued`; `now` in seconds since the epoch."""

    def finish_url(self, entry: QueueEntry, record: UrlRecord) -> None:
        """Replace the record of a queued URL and take it out of the queue."""

    def amend_record(self, key: int, record: UrlRecord) -> None:
        """Replace the record of a known URL; whether it waits in the queue stays as it is."""

    # ---- by attribute

    def with_display_url(self, url: str) -> list[UrlRecord]:
        """Return the records with this `display_url`; it is empty in records displayed under their own URL."""

    def with_fingerprint(self, fingerprint: bytes) -> list[UrlRecord]:
        """Return the records with this content fingerprint; none for an empty one."""

    def redirecting_to(self, url: str) -> list[UrlRecord]:
        """Return the records of URLs that redirect to `url`; sees flushed changes only."""

    def put_signature(self, fingerprint: bytes, signature: int) -> None:
        """Store the signature (unsigned, 64 bits) of the text with this fingerprint."""

    def nearest_signature(self, signature: int, within: int) -> bytes | None:
        """Return the fingerprint with the nearest signature at most `within` parts (0 to 4) away, or None.

        Ties are broken by the value of the fingerprint, so that the result does not depend on insertion order.
        """

    # ---- scans; they see flushed changes only

    def all_records(self, outcome: UrlOutcome | None = None, after: str = "") -> Iterator[UrlRecord]:
        """Yield all records in order of their URL; `outcome` and `after` (a URL) restrict them."""

    def some_documents(self, most: int) -> list[UrlRecord]:
        """Return the records of at most so many searchable documents, by key: they are as good as drawn by lot."""

    def pending_records(self) -> Iterator[UrlRecord]:
        """Yield the records whose documents wait for approval, in order of their URL."""

    def held_records(self) -> Iterator[UrlRecord]:
        """Yield the records of which a new version is held back, by URL; sees flushed changes only."""

    def records_to_remove(self) -> Iterator[UrlRecord]:
        """Yield the records whose documents are to be removed from the index, in order of their URL."""

    def forgettable_urls(self) -> set[int]:
        """Return the keys of URLs that the next new run deletes.

        They were gone several times in a row, and no known page links to them.
        """

    def count_visited(self, since: float) -> Counter[UrlOutcome]:
        """Return the outcomes of URLs that were fetched at or after a time (epoch seconds) and are not queued again."""

    def count_urls(self) -> StateCounts:
        """Return the numbers of known, queued and indexed URLs."""
