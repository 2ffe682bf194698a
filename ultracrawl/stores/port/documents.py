"""Interface of the documents between crawl and index: retained, submitted, indexed, expiring."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import Enum
from typing import NamedTuple, Protocol


class Retained(Enum):
    """Why a document is retained; the value is the name of the table."""

    APPROVAL = "pending"
    """They wait for approval; `UrlRecord.pending` is True for exactly their URLs."""
    CHANGE = "held"
    """New versions that were held back; `UrlRecord.held_back` is True for exactly their URLs."""
    DEFERRED = "deferred"
    """New versions about which the run has still to decide."""
    REPLACEMENT = "successor"
    """Duplicates that replace a document with equal content as soon as it leaves the index."""
    RELATED = "told"
    """Documents with `relations`, without the related lists that change without a visit."""
    RELATED_LISTS = "told_lists"
    """The related lists of these documents as last submitted to the index."""
    LISTED = "listed"
    """Listing entries of documents whose visit is due."""
    PARTS = "parts"
    """The parts of pages that were opened in a browser, with their validators."""


READ_IN_TURN = (Retained.LISTED, Retained.PARTS)
"""What visits read in the order of the queue."""


class Copy(NamedTuple):
    """A URL whose content has a checksum; of the URLs with one checksum, at most one holds it."""

    checksum: str
    holds: bool


class Expiries(NamedTuple):
    """Number of expired descriptions, and when the next one expires (seconds since the epoch, 0 for never)."""

    expired: int
    following: float


class Unrecorded(NamedTuple):
    """Keys of documents that were submitted but not recorded as submitted; `unknown` keys are not in the store."""

    known: tuple[int, ...]
    unknown: tuple[int, ...]


class DocumentPart(Protocol):
    """The part of a `Store` with retained, expiring, submitted and indexed documents."""

    # ---- retained documents; their bytes are opaque to the store

    def retain_document(self, purpose: Retained, key: int, document: bytes) -> None:
        """Retain the document of a known URL, replacing an older one."""

    def release_document(self, purpose: Retained, key: int) -> None:
        """Delete the retained document of a URL; no error if there is none."""

    def retained_document(self, purpose: Retained, key: int) -> bytes | None:
        """Return the retained document of a URL, or None."""

    def retained_documents(self, purpose: Retained, keys: Sequence[int]) -> dict[int, bytes]:
        """Return the retained documents of those of the keys that have one."""

    def retained_keys(self, purpose: Retained) -> list[int]:
        """Return the keys of all URLs with a retained document, by depth and URL; sees flushed changes only."""

    # ---- descriptions that expire

    def put_expiry(self, key: int, at: float) -> None:
        """Store when the description of a URL expires: seconds since the epoch, 0 for never."""

    def expired_documents(self, now: float) -> dict[int, float]:
        """Return the expiry time by key of all expired descriptions; sees flushed changes only."""

    def expiries(self, now: float) -> Expiries:
        """Return how many descriptions have expired and when the next one does; sees flushed changes only."""

    # ---- copies, as the filters of a source compare them

    def put_copy(self, key: int, copy: Copy | None) -> None:
        """Store the checksum of the content of a known URL; None removes it."""

    def copy_of(self, key: int) -> Copy | None:
        """Return the checksum stored for a URL, or None."""

    def copies(self, checksum: str) -> dict[int, bool]:
        """Return the keys of all URLs with a checksum, and whether each holds it."""

    # ---- submitted and indexed documents

    def kept_keys(self, *, duplicates: bool = False) -> frozenset[int]:
        """Return the keys of all indexed, submitted and retained documents, optionally with their duplicates.

        Sees flushed changes only.
        """

    def documents_before(self, started: float) -> int:
        """Count the documents that existed when a run started, those to be removed too; sees flushed changes only."""

    def mark_indexed(self, keys: Iterable[tuple[int, bool]]) -> None:
        """Record, after a commit of the index, whether each document (by key) is in it."""

    def remake_documents(self) -> None:
        """Clear validators and checksums of indexed documents, durably, so that the next visits rebuild them."""

    def open_place(self, name: str) -> bool:
        """Submit to the document cache of this name from now on; returns whether another one was used since it was.

        A store of one machine has no places: there it is always False, and every document is submitted here.
        """

    def submitted_here(self, keys: Collection[int]) -> frozenset[int]:
        """Return those of the keys whose documents wait in this cache; for others another cache was used later."""

    def keep_place(self) -> None:
        """Record durably that this cache is used now, after what is not of it any more was taken out."""

    def note_submitted(self, key: int) -> None:
        """Record that a document is in this cache now, and not in another one any more."""

    def refetch_lost(self, waiting: frozenset[int]) -> list[int]:
        """Forget documents that were submitted, and wait neither here (`waiting`) nor in the cache of a living node.

        Visits then read them. Returns the keys of those that are not queued. Such documents exist only after the
        document cache was damaged or removed, or if it is on a machine that has no living node.
        """

    def adopt_unrecorded(self, waiting: Collection[int]) -> Unrecorded:
        """Mark documents in `waiting` as submitted that the store has not recorded as such, and refetch them.

        They were submitted between the last flush of a crawl and the moment it was killed.
        """
