"""A row of the document table."""

from __future__ import annotations

from typing import Any

from ultracrawl.dataclass import dataclass
from ultracrawl.model.cause import NO_CAUSE, Cause, CauseCode, Removal, RemovalReason
from ultracrawl.model.dates import iso
from ultracrawl.model.outcome import UrlOutcome
from ultracrawl.model.status import StatusCode, http_status, status_text


@dataclass(frozen=True, slots=True)
class UrlRecord:
    """What is known of one URL of one source.

    `url` is the canonical access URL and identifies the row within its source. Times are seconds since the
    epoch (UTC), 0 for never. `checksum` is the SHA-256 of the body, empty if no body was read, and marked if no
    converter could read it (`rules.recrawl.change.unread_checksum`).
    `indexed` is True only after the index commit that contains this version of the document.
    """

    url: str
    source: str
    depth: int = 0
    display_url: str = ""
    """The URL shown to users; empty means `url`."""
    status_code: int = 0
    outcome: UrlOutcome = UrlOutcome.QUEUED
    cause: Cause = NO_CAUSE
    """Why the latest visit ended as it did, if the status code does not say it all."""
    etag: str = ""
    last_modified: str = ""
    checksum: bytes = b""
    indexed: bool = False
    submitted: bool = False
    """Sent to the index, whose commit is not confirmed yet."""
    first_seen: float = 0.0
    last_fetched: float = 0.0
    failed_runs: int = 0
    """Consecutive failing runs; a success resets it to 0."""
    links: bytes = b""
    """Keys of the accepted links of the page, 8 bytes each; they count as linked again when the page is unchanged."""
    pending: bool = False
    """The store keeps its document until it is approved; an older version may be in the index."""
    held_back: bool = False
    """The store keeps a new version that was held back; all else describes the version in the index."""
    removal: Removal | None = None
    """Why its document, still in the index, is to leave it; None if it stays."""
    fingerprint: bytes = b""
    """Content fingerprint: records with the same one have the same content. Empty: not compared."""
    sketch: bytes = b""
    """Sketch of the words of its document (`rules.duplicates.likeness`); empty if unknown."""
    preference: int = 1
    """How much the page prefers its own URL among duplicates, see `duplicates.preference`."""
    hops: int = 0
    """Number of consecutive redirects on the way by which the URL was found."""
    language: str = ""
    """Code of the language of its page; empty if unknown, and unless canonical links are followed."""

    @property
    def shown_url(self) -> str:
        """The display URL, or the access URL if none is set."""
        return self.display_url or self.url

    @property
    def reason(self) -> str:
        """The cause as a sentence, empty if there is none."""
        return str(self.cause)

    @property
    def answer(self) -> str:
        """The HTTP status of the latest visit as text; empty if no server gave it.

        A page that a sitemap vouches for is recorded as 304, and was not requested.
        """
        return "" if self.cause.code is CauseCode.SITEMAP_DATE else http_status(self.status_code)

    @property
    def redirects_to(self) -> str:
        """The redirect target of the latest visit, empty if it was not a redirect."""
        redirected = self.outcome is UrlOutcome.REDIRECTED and self.cause.code is CauseCode.REDIRECT
        return self.cause.subject if redirected else ""

    @property
    def removed(self) -> bool:
        """Whether a person removed the URL for good: it stays known and is not queued again."""
        return self.status_code == StatusCode.BLACKLISTED

    @property
    def retained(self) -> bool:
        """Whether its document stays in the index, is on its way there, or waits for approval."""
        return (self.indexed or self.submitted or self.pending) and self.removal is None

    def leaves_for(self, *reasons: RemovalReason) -> bool:
        """Return whether its document is to leave the index for one of these reasons."""
        return self.removal is not None and self.removal.reason in reasons

    @property
    def searchable(self) -> bool:
        """Whether its document is in the index or on its way there."""
        return self.indexed or self.submitted

    def is_held_since(self, started: float) -> bool:
        """Return whether its new version was held back since a time (epoch seconds); False if it has no document."""
        return self.searchable and self.outcome is UrlOutcome.HELD_BACK and self.last_fetched >= started

    def as_json(self) -> dict[str, Any]:
        """Return the record in the shape of `ultracrawl urls --json`."""
        return {
            "url": self.shown_url,
            "access_url": self.url,
            "display_url": self.shown_url,
            "source": self.source,
            "depth": self.depth,
            "status_code": self.status_code,
            "status_text": status_text(self.status_code),
            "outcome": self.outcome.value,
            "reason": self.cause.logged,
            "cause": self.cause.code.value or None,
            "etag": self.etag or None,
            "last_modified": self.last_modified or None,
            "checksum": self.checksum.hex() or None,
            "indexed": self.indexed,
            "leaving": None if self.removal is None else str(self.removal),
            "first_seen": iso(self.first_seen),
            "last_fetched": iso(self.last_fetched),
        }
