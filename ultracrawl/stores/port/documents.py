"""Documents between crawl and index: which are indexed, which are retained, which are on their way."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import Enum
from typing import NamedTuple, Protocol


class Retained(Enum):
    """What a store keeps documents for; the value is the name of the table."""

    APPROVAL = "pending"
    """They wait for an approval; `UrlRecord.pending` is True for exactly their URLs."""
    REPLACEMENT = "successor"
    """They take the place of equal ones, as soon as these leave the index."""
    RELATED = "told"
    """Documents with `relations`, kept without the lists that change without a visit."""
    RELATED_LISTS = "told_lists"
    """The lists of these documents that change without a visit, as the index has them."""
    LISTED = "listed"
    """What the lister of a source said of documents that wait for their visits."""


class Expiries(NamedTuple):
    """How many descriptions have expired, and when the next one does (seconds since the epoch; 0: none does)."""

    expired: int
    following: float


class Unrecorded(NamedTuple):
    """Keys of documents that were submitted, but not recorded as such; `unknown` are no URLs of the store."""

    known: tuple[int, ...]
    unknown: tuple[int, ...]


class DocumentPart(Protocol):
    """The part of a `Store` about documents on both sides of the index."""

    # ---- retained; the bytes of a document mean nothing to the store

    def retain_document(self, purpose: Retained, key: int, document: bytes) -> None:
        """Keep the document of a known URL; it replaces an older one."""

    def release_document(self, purpose: Retained, key: int) -> None:
        """Delete the retained document of a URL; no error if there is none."""

    def retained_document(self, purpose: Retained, key: int) -> bytes | None:
        """Return the document of a URL, None if none is kept."""

    def retained_keys(self, purpose: Retained) -> list[int]:
        """Return the keys of all URLs whose documents are kept, in order of depth and URL; sees what was flushed."""

    # ---- descriptions that expire

    def put_expiry(self, key: int, at: float) -> None:
        """Store when the description of a URL expires, in seconds since the epoch; 0: never."""

    def expired_documents(self, now: float) -> dict[int, float]:
        """Return the URLs (by key) whose descriptions have expired, and when; sees what was flushed."""

    def expiries(self, now: float) -> Expiries:
        """Return how many have expired and when the next one does; sees what was flushed."""

    # ---- in the index, or on the way there

    def kept_keys(self, *, duplicates: bool = False) -> frozenset[int]:
        """Return the keys of documents in the index, on the way there or waiting; on request of duplicates too."""

    def documents_before(self, started: float) -> int:
        """Return how many documents there are of those that were there when a run started; what is leaving counts."""

    def mark_indexed(self, keys: Iterable[tuple[int, bool]]) -> None:
        """Mark, after the commit of an index, whether the documents of these keys are in it."""

    def remake_documents(self) -> None:
        """Delete validators and checksums of indexed documents, durably, so that the next visits make them anew."""

    def refetch_lost(self, waiting: frozenset[int]) -> int:
        """Have documents fetched again that were submitted, but are neither indexed nor in `waiting`.

        Returns how many. Such documents exist only after the document cache was damaged or removed.
        """

    def adopt_unrecorded(self, waiting: Collection[int]) -> Unrecorded:
        """Mark documents as submitted that the store has not recorded as such, and have them fetched again.

        They were handed over between the last flush and the end of a crawler that was killed.
        """
