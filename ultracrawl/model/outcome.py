"""Outcomes of the URLs that are scheduled in a run."""

from __future__ import annotations

from enum import StrEnum


class UrlOutcome(StrEnum):
    """The outcome of one URL in one run: exactly one each; `QUEUED` means that it has none yet."""

    QUEUED = "QUEUED"
    NEW = "NEW"
    MODIFIED = "MODIFIED"
    REINDEXED = "REINDEXED"
    UNMODIFIED = "UNMODIFIED"
    NOT_MODIFIED = "NOT_MODIFIED"
    NOT_INDEXED = "NOT_INDEXED"
    LIST = "LIST"
    DUPLICATE = "DUPLICATE"
    REDIRECTED = "REDIRECTED"
    GONE = "GONE"
    ROBOTS = "ROBOTS"
    REJECTED = "REJECTED"
    HTTP_ERROR = "HTTP_ERROR"
    NETWORK_ERROR = "NETWORK_ERROR"
    FAILED = "FAILED"
    HELD_BACK = "HELD_BACK"
    PENDING = "PENDING"
    REMOVED = "REMOVED"

    @property
    def meaning(self) -> str:
        """One sentence for reports and documentation."""
        return _MEANINGS[self]

    transient: bool
    """Whether the visit learnt nothing about the document: an indexed one stays as it is."""
    without_content: bool
    """Whether no content of the URL was read."""
    unchanged: bool
    """Whether the content is the same as at the visit before."""


SUBMITTED = frozenset({UrlOutcome.NEW, UrlOutcome.MODIFIED, UrlOutcome.REINDEXED})
"""Outcomes of visits whose documents are sent to the index."""

AS_ON_SERVER = SUBMITTED | {UrlOutcome.UNMODIFIED, UrlOutcome.NOT_MODIFIED}
"""Outcomes of documents that are in the index as the server has them."""
WITH_DOCUMENT = AS_ON_SERVER | {UrlOutcome.PENDING}
"""Outcomes of documents that are in the index, or wait for approval."""

_WITHOUT_CONTENT = frozenset(
    {
        UrlOutcome.REDIRECTED,
        UrlOutcome.GONE,
        UrlOutcome.ROBOTS,
        UrlOutcome.REJECTED,
        UrlOutcome.HTTP_ERROR,
        UrlOutcome.NETWORK_ERROR,
        UrlOutcome.FAILED,
    }
)

_UNCHANGED = frozenset({UrlOutcome.NOT_MODIFIED, UrlOutcome.UNMODIFIED})

_TRANSIENT = frozenset(
    {
        UrlOutcome.QUEUED,
        UrlOutcome.HTTP_ERROR,
        UrlOutcome.NETWORK_ERROR,
        UrlOutcome.FAILED,
        UrlOutcome.HELD_BACK,
    }
)

for _outcome in UrlOutcome:
    _outcome.transient = _outcome in _TRANSIENT
    _outcome.without_content = _outcome in _WITHOUT_CONTENT
    _outcome.unchanged = _outcome in _UNCHANGED

_MEANINGS = {
    UrlOutcome.QUEUED: "known and waiting to be fetched",
    UrlOutcome.NEW: "fetched for the first time and indexed",
    UrlOutcome.MODIFIED: "changed since the last run and indexed again",
    UrlOutcome.REINDEXED: "not changed, but indexed again: --force, or a changed definition",
    UrlOutcome.UNMODIFIED: "fetched, the content is the same as before",
    UrlOutcome.NOT_MODIFIED: "unchanged according to the server, a sitemap or the listing of the source",
    UrlOutcome.NOT_INDEXED: "fetched, but a directive, its type or its size keeps it out of the index",
    UrlOutcome.LIST: "a sitemap, a feed or a folder: it names URLs, and is no document",
    UrlOutcome.DUPLICATE: "has the content or display URL of another document",
    UrlOutcome.REDIRECTED: "redirects to another URL",
    UrlOutcome.GONE: "not found on the server; its document, if it had one, leaves the index",
    UrlOutcome.ROBOTS: "robots.txt forbids fetching it",
    UrlOutcome.REJECTED: "outside the boundary of its source, or beyond its limits; not fetched",
    UrlOutcome.HTTP_ERROR: "the server returned an error; nothing is deleted",
    UrlOutcome.NETWORK_ERROR: "the server could not be reached, or the connection was lost; nothing is deleted",
    UrlOutcome.FAILED: "fetched, but processing it failed; nothing is deleted",
    UrlOutcome.HELD_BACK: "its words are lost; the former version stays until `ultracrawl approve-changes`",
    UrlOutcome.PENDING: "fetched and stored; `ultracrawl approve` adds it to the index",
    UrlOutcome.REMOVED: "removed with `ultracrawl approve --remove`; not requested again",
}
