"""Two ports of a crawl: `documents` (placement and removal of documents) and `queue` (the request queue)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from ultracrawl.dataclass import dataclass

if TYPE_CHECKING:
    from scrapy import Request

    from ultracrawl.index import IndexDocument
    from ultracrawl.model import Cause, UrlOutcome, UrlRecord
    from ultracrawl.model.page import Link
    from ultracrawl.rules.robots.rules import RobotsRules
    from ultracrawl.run.visit import Visit
    from ultracrawl.run.writing.writer import IndexWriter
    from ultracrawl.stores import QueueEntry

RETRY_AFTER = "the server asks for that (Retry-After)"
"""Why a site is held, unless an order holds it."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The document was submitted to the index."""

    url: str
    outcome: UrlOutcome

    def __str__(self) -> str:
        return f"{self.url} goes to the index ({self.outcome})"


@dataclass(frozen=True, slots=True)
class Retained:
    """The document is retained until it is approved, or until another one has left the index."""

    url: str
    until_removed: str = ""
    """The URL that it replaces; empty if it waits for approval."""

    def __str__(self) -> str:
        return (
            f"{self.url} waits until {self.until_removed} leaves"
            if self.until_removed
            else f"{self.url} waits for approval"
        )


@dataclass(frozen=True, slots=True)
class HeldBack:
    """The new version of a document is not indexed now: it may have become like many others."""

    url: str
    decided: bool
    """Whether it is held back until a person approves it; else the run decides later."""

    def __str__(self) -> str:
        return f"{self.url} {'is held back' if self.decided else 'waits until others have been seen'}"


@dataclass(frozen=True, slots=True)
class Refused:
    """The document is not indexed, because another URL holds its content, or its display URL cannot be shown."""

    holder: str
    """The access URL of the content holder; empty if there is none."""
    cause: Cause

    def __str__(self) -> str:
        return str(self.cause)


Placement = Placed | Retained | HeldBack | Refused


class DocumentPort(Protocol):
    """Submits documents to the indexes of a source and removes them."""

    writer: IndexWriter
    """Submits changes to the indexes."""

    def propose(self, visit: Visit, document: IndexDocument) -> Placement:
        """Decide which URL holds the content of a document, and end the visit accordingly. Raises `IndexStoreError`."""

    def settle(self, *, complete: bool | None = None) -> int:
        """Decide about some of the documents that wait for others, and return their number.

        Without `complete` only about those whose time has come. At the end of a run, when nothing is in flight, called
        until it returns 0; what the change guard has not decided about waits if the run is not `complete`.
        """

    def remove(self, leaving: Iterable[UrlRecord]) -> None:
        """Mark documents for removal at the end of the run, for the reasons in their records.

        Their duplicates are queued, so that one of them can replace the document.
        """

    def delete(self, keys: Iterable[int]) -> None:
        """Delete documents at once, and remove their URLs for good (status 955); none of them is in flight."""

    def approve(self, keys: Iterable[int]) -> None:
        """Submit documents that wait for approval to the indexes."""

    def remains_duplicate(self, record: UrlRecord) -> bool:
        """Whether the document that a known duplicate repeats is still placed and preferred to it."""

    def release_display_url(self, record: UrlRecord) -> None:
        """Let the next document have the display URL that a record of a listed source had until now."""

    def recount(self, before: UrlRecord, after: UrlRecord) -> None:
        """Replace the outcome of a URL that the report counted for its visit in this run."""

    def demote(self, record: UrlRecord, after: UrlRecord) -> None:
        """Take a document whose place another one has out of the index; `after` is its record then."""

    @property
    def congested(self) -> bool:
        """Whether the crawl has to wait for the index."""


class LinkQueue(Protocol):
    """The request queue and the politeness delays of sites; implemented by the scheduler."""

    @property
    def waiting_requests(self) -> Collection[Request]:
        """Requests that Scrapy returned to the scheduler, to be sent again."""

    # ---- pages

    def seed(self, urls: Iterable[str]) -> int:
        """Queue start URLs; returns the number of new ones."""

    def follow(self, visit: Visit, hrefs: Iterable[str], base: str, named: Sequence[Link] = ()) -> int:
        """Queue the new links of a page that the rules admit; returns their number.

        `named` are all links of the page as written, with their anchor texts.
        """

    def redirect(self, visit: Visit, target: str, display_url: str) -> None:
        """Queue the target of an allowed redirect."""

    def retry(self, visit: Visit, delay: float, *, counts: bool = True) -> None:
        """Queue a failed visit again, after at least `delay` seconds; what was not sent does not count as attempt."""

    def set_aside(self, visit: Visit, why: str) -> bool:
        """Read the URL of a failed visit once more at the end of the run, alone: the machine may have been too busy.

        The visit is over then. Returns False if its failure counts, as it was the second one.
        """

    def release(self, visit: Visit) -> None:
        """Free the place of a visit at its site while its document is converted."""

    def requeue(self, record: UrlRecord) -> None:
        """Fetch the page of a changed record in this run, even if that was done already."""

    def fetch_now(self, records: Sequence[UrlRecord]) -> None:
        """Fetch the pages of known URLs in full in this run, whether they wait, were fetched, or neither."""

    def withdraw(self, keys: Iterable[int]) -> None:
        """Take URLs that wait out of the queue, without a request; visits in flight go on."""

    def update_record(self, record: UrlRecord) -> None:
        """Pass a changed record to its visit, if one is in flight."""

    def offer_links(self, urls: Iterable[str], depth: int) -> int:
        """Queue the new, admitted ones of URLs from outside the source; returns their number."""

    def queue_listed(self, key: int, url: str, display_url: str, *, known: bool) -> None:
        """Queue a document that the lister of the source named; it is fetched once its queue entry is durable."""

    def listing_changed(self) -> None:
        """Wake the scheduler: more was listed, or the listing ended."""

    def forget_urls(self, keys: Iterable[int]) -> None:
        """Drop URLs that were removed from the document table."""

    # ---- feeds and sitemaps

    def queue_feed_links(
        self, visit: Visit, hrefs: Iterable[str], *, ignore_rules: bool, may_wait: bool
    ) -> dict[str, tuple[int, bool]]:
        """Queue the new links of a feed; returns key and "is new" of all admitted links, by href.

        With `may_wait` one that is known in all likelihood counts as known.
        """

    def queue_sitemap_entries(
        self, parent: str, hrefs: Iterable[str], sites: set[str] | None, *, advises: bool
    ) -> tuple[dict[str, int], set[int]]:
        """Queue the new, admitted entries of the sitemap `parent` that belong to one of `sites` (None: any).

        Returns the keys of all admitted entries, by entry as written, and the set of new keys; one that is known in all
        likelihood counts as known. `advises` tells that the store gets more of what the sitemap says of them.
        """

    def queue_sitemap(self, entry: QueueEntry, *, noted: bool) -> None:
        """Queue a sitemap ahead of the pages of its site; it is not stored in the queue.

        If `noted`, links to it are not treated as links to pages.
        """

    def release_site(self, site: str) -> None:
        """Release the pages of a site that waited for its sitemaps."""

    # ---- sites

    async def wait_for_turn(self, site: str) -> None:
        """Wait until the site may get a request that is no visit."""

    def hold_site(self, site: str, seconds: float, why: str = RETRY_AFTER) -> None:
        """Send nothing to a site for `seconds`; `why` is shown to people."""

    def end_hold(self, site: str) -> None:
        """Send requests to a site again that `hold_site` holds."""

    def leave_out(self, site: str) -> None:
        """Request nothing more of a site in this run; its URLs wait for another run."""

    def readmit(self, site: str) -> None:
        """Request URLs of a site again that was left out, or given up after too many errors."""

    def request_url(self, url: str) -> str:
        """Return the URL to request for a URL: it may be on a mirror of its site."""

    def restore_robots_rules(self, url: str, rules: RobotsRules) -> None:
        """Apply stored robots.txt rules to the delays of the site of a URL."""
