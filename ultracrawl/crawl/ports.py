"""Two ports of a crawl: `documents` (which URL stands for a document) and `queue` (what is to be fetched)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from scrapy import Request

    from ultracrawl.crawl.visit import Visit
    from ultracrawl.crawl.writing.writer import IndexWriter
    from ultracrawl.index import IndexDocument
    from ultracrawl.model import Cause, UrlOutcome, UrlRecord
    from ultracrawl.model.page import Link
    from ultracrawl.rules.robots.rules import RobotsRules
    from ultracrawl.stores import QueueEntry


@dataclass(frozen=True, slots=True)
class Placed:
    """A document is on its way to the index."""

    url: str
    outcome: UrlOutcome

    def __str__(self) -> str:
        return f"{self.url} goes to the index ({self.outcome})"


@dataclass(frozen=True, slots=True)
class Retained:
    """A document is kept: until somebody approves of it, or until another one has left the index."""

    url: str
    until_removed: str = ""
    """The URL whose place it takes, empty if it waits for an approval."""

    def __str__(self) -> str:
        return (
            f"{self.url} waits until {self.until_removed} leaves"
            if self.until_removed
            else f"{self.url} waits for approval"
        )


@dataclass(frozen=True, slots=True)
class Refused:
    """Another URL stands for a document."""

    holder: str
    """The access URL of the other one."""
    cause: Cause

    def __str__(self) -> str:
        return str(self.cause)


Placement = Placed | Retained | Refused


class DocumentPort(Protocol):
    """Documents into the index of a source and out of it."""

    writer: IndexWriter
    """What takes changes to the indexes."""

    def propose(self, visit: Visit, document: IndexDocument) -> Placement:
        """Decide which URL stands for a document, and end its visit with that. Raises `IndexStoreError`."""

    def remove(self, leaving: Iterable[UrlRecord]) -> None:
        """Have documents leave the index when the run ends, for the reasons that their records give.

        Copies of them are asked for, so that one may take the place.
        """

    def stays_copy(self, record: UrlRecord) -> bool:
        """Whether a known duplicate repeats a document that has its place, and comes before it."""

    @property
    def congested(self) -> bool:
        """Whether crawling has to wait for the index."""


class LinkQueue(Protocol):
    """Where links, redirect targets and failed visits go, and who keeps the delays of sites: the scheduler."""

    @property
    def waiting_requests(self) -> Collection[Request]:
        """Requests that Scrapy gave back, to be made once more."""

    # ---- pages

    def seed(self, urls: Iterable[str]) -> int:
        """Queue start URLs; returns how many were new."""

    def follow(self, visit: Visit, hrefs: Iterable[str], base: str, named: Sequence[Link] = ()) -> int:
        """Queue the links of a page that are new and inside the boundary; returns how many.

        `named` are all links of the page as written, with what they are called.
        """

    def redirect(self, visit: Visit, target: str, display_url: str) -> None:
        """Queue the target of an allowed redirect."""

    def retry(self, visit: Visit, delay: float) -> None:
        """Let a visit that failed wait at least `delay` seconds and be tried again."""

    def release(self, visit: Visit) -> None:
        """Give back the place of a visit at its site while its document is converted."""

    def again(self, record: UrlRecord) -> None:
        """Take note of a record that was changed: have its page fetched in this run, whether it was or not."""

    def amended(self, record: UrlRecord) -> None:
        """Take note of a record that was changed: its visit, if there is one, goes on from it."""

    def offer_links(self, urls: Iterable[str], depth: int) -> int:
        """Queue links that no page of this source has, if they are new and inside; returns how many."""

    def enter_listed(self, key: int, url: str, display_url: str, *, known: bool) -> None:
        """Have a document fetched that the lister of the source named; it is read from the queue once it is durable."""

    def listing_changed(self) -> None:
        """Look again for something to fetch: more was listed, or the listing is over."""

    def forget_urls(self, keys: Iterable[int]) -> None:
        """Take note that URLs left the document table."""

    # ---- feeds and sitemaps

    def feed_links(
        self, visit: Visit, hrefs: Iterable[str], *, ignore_rules: bool
    ) -> dict[str, tuple[int, bool]]:
        """Queue what a feed names that is new; returns key, and whether it is new, of all that are inside, by href."""

    def enter_entries(
        self, parent: str, hrefs: Iterable[str], sites: set[str] | None
    ) -> tuple[dict[str, int], set[int]]:
        """Queue the entries of the sitemap `parent` that are new, inside and of one of `sites` (None: of any).

        Returns the keys of all that are inside, by entry as written, and which of the keys are new.
        """

    def queue_sitemap(self, entry: QueueEntry, *, noted: bool) -> None:
        """Have a sitemap asked for before the pages of its site; it stands in no stored queue.

        If it is `noted`, links to it are no links to pages.
        """

    def release_site(self, site: str) -> None:
        """Let the pages of a site out that waited for its sitemaps."""

    # ---- sites

    async def take_turn(self, site: str) -> None:
        """Wait until it is the turn of a request that is no visit."""

    def hold_site(self, site: str, seconds: float) -> None:
        """Let a site alone for as long as it asked for (`Retry-After`)."""

    def asked_url(self, url: str) -> str:
        """Return the URL under which a URL is asked for: a copy may stand in for its site."""

    def rules_recalled(self, url: str, rules: RobotsRules) -> None:
        """Take the rules of the robots.txt for a URL as they were stored."""
