"""Whether the content behind a URL is new, modified or as it was (Ultra Search 6, checklist 16, 18, 23)."""

from __future__ import annotations

from hashlib import sha256

from ultracrawl.model import UrlOutcome, UrlRecord


def checksum(body: bytes) -> bytes:
    """Return the SHA-256 of a body, 32 bytes."""
    return sha256(body).digest()


def is_known(record: UrlRecord | None) -> bool:
    """Return whether the content of the URL was read before and nothing that happened since made it void.

    A document that vanished, or that was lost before the index took it, has no checksum in its record.
    """
    return record is not None and bool(record.checksum)


def classify(record: UrlRecord | None, checksum: bytes, force: bool = False) -> UrlOutcome:
    """Compare a checksum with what is known: NEW, MODIFIED or UNMODIFIED.

    With `force` known content is MODIFIED even if it is equal, so that it is processed again.
    """
    if record is None or not is_known(record):
        return UrlOutcome.NEW
    return UrlOutcome.MODIFIED if force or record.checksum != checksum else UrlOutcome.UNMODIFIED
