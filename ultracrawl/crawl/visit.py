"""One URL on its way through the crawl, from the frontier to its outcome."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, cast

from ultracrawl.stores import QueueEntry, StoredSitemap

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from ultracrawl.crawl.ending import Ending
    from ultracrawl.model import UrlOutcome, UrlRecord
    from ultracrawl.model.page import Link
    from ultracrawl.rules.filters.views import FilterViews
    from ultracrawl.rules.robots.rules import RobotsRules

META_KEY = "ultracrawl_visit"
PATIENCE = 10
"""How often the time limit of a request fits into the longest that a step of a visit may take."""


class Step(StrEnum):
    """Where a visit is; the values stand in reasons and in the report."""

    DOWNLOAD = "its download"
    PROCESSING = "the processing of its answer"
    CONVERSION = "its conversion"
    BROWSER = "the browser"


@dataclass(slots=True)
class SitemapJob:
    """A sitemap that this run has read, or is going to."""

    sites: set[str] | None
    """Sites whose pages it may name; None is every site. Their known pages wait until it is read."""
    level: int = 0
    """Indexes above it."""
    tentative: bool = False
    """Nobody named it; unless there turns out to be a sitemap, nothing is recorded."""
    pending: bool = False
    again: bool = False
    """It was read before it was known that it may name pages of another site, too."""
    stored: StoredSitemap | None = field(default=None, repr=False)
    """What it holds, once it was read."""

    def child(self) -> SitemapJob:
        """Return the job for an entry of an index; it may name pages of the same sites."""
        return SitemapJob(None if self.sites is None else set(self.sites), self.level + 1)


@dataclass(slots=True, eq=False)
class Visit:
    """A URL that was taken out of the frontier and has no outcome yet.

    `record` is what was known before this visit. The later fields are filled on the way: validators and checksum
    of the answer, the keys of the accepted links.
    """

    entry: QueueEntry
    record: UrlRecord
    nearer: int | None = None
    """A depth below that of the queue entry, if a shorter route turned up while it waited."""
    attempts: int = 0
    """Requests made for this visit so far that failed and were tried again."""
    rescan: bool = False
    """Fetch and scan the page even if it is unchanged."""
    given: bool = False
    """Its document came without a request: it takes no place at its site."""
    stand_in: str = ""
    """The copy of its site that is asked, empty for the site itself."""
    step: Step = Step.DOWNLOAD
    since: float = 0.0
    """When it got there, by the clock of the `VisitWatch`."""
    status: int = 0
    size: int = 0
    """Bytes of the body of the answer, as it was read."""
    error: str = ""
    """What the latest request failed with, if no answer came."""
    latency: float = 0.0
    """Seconds until the answer began."""
    retry_after: float = 0.0
    """Seconds for which the server wants to be left alone."""
    etag: str = ""
    last_modified: str = ""
    checksum: bytes = b""
    media_type: str = ""
    """What the answer is, by its headers and its bytes."""
    follow_only: bool = False
    """Documents of its type are read for their links only."""
    truncated: str = ""
    """What of the body was left unread, and why; empty if nothing was."""
    hides_text: bool = False
    """No piece of the text may be shown below a hit."""
    expires: bool = False
    """What the page allows depends on the day, so that the next visit has to see it in full."""
    unrendered: str = ""
    """Why its scripts were not run, if they should have been; the next visit runs them, whatever the server says."""
    rd_expires: float = 0.0
    """When the description that was made of it expires; 0 if it does not say."""
    renewed: bool = False
    """It takes the place of a description that has expired, also where it says the same."""
    released: bool = False
    """The place that it held at its site was given back: the answer is here, and what follows asks nothing of it."""
    follow: Callable[[], None] | None = None
    """Follows its links, once it has turned out that it is no duplicate."""
    links: bytes = b""
    anchor_links: Sequence[Link] = ()
    """The links that it has, as written, with what they are called; none where nobody wants to know."""
    anchors: bytes | None = None
    """The marks of its links that say something of their targets; None if no link was looked at."""
    link_hops: int = 0
    """Hops of its links through documents in other languages; -1 if they lead to nothing new."""
    listing: bool = False
    """The answer is the entries of a directory, a URL a line."""
    feed: bool = False
    """The answer is read as a feed."""
    told: dict[str, list[str]] = field(default_factory=dict)
    """What the document tells of other URLs, by search attribute."""
    filtered: FilterViews | None = None
    """What the filters of the source know of it, once they were asked."""
    fingerprint: bytes = b""
    """What its content is compared by with other pages; empty if it is not."""
    preference: int = 1
    """What the page says of its own URL by its canonical link."""
    sitemap: SitemapJob | None = None
    """Set if the URL is read as a sitemap and not as a page."""
    answer: Response | None = None
    """The answer, as long as it may be kept; only in sources that store documents."""
    stored: bool = False
    """Its answer comes from the store, and nothing is asked for."""
    ending: Ending | None = None
    """How it ended, as it was recorded; None as long as it has not."""

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self.ending is not None

    @property
    def outcome(self) -> UrlOutcome | None:
        """How it ended; None as long as it has not, and for a tentative one of which nothing is recorded."""
        return None if self.ending is None or self.tentative else self.ending.outcome

    @property
    def asked(self) -> bool:
        """Whether a request is made for it."""
        return not self.given and (self.ending is None or self.ending.asked)

    @property
    def tentative(self) -> bool:
        """Whether its URL is a guess of ours, of which nothing is recorded unless it turns out to be right."""
        return self.sitemap is not None and self.sitemap.tentative

    @property
    def depth(self) -> int:
        """Link steps from a start URL, on the shortest known way."""
        return self.entry.depth if self.nearer is None else min(self.nearer, self.entry.depth)

    @property
    def url(self) -> str:
        """The access URL."""
        return self.entry.url

    @property
    def shown_url(self) -> str:
        """The display URL."""
        return self.entry.display_url or self.entry.url


class LinkQueue(Protocol):
    """Where links, redirect targets and failed visits go, and who keeps the delays of sites: the scheduler."""

    @property
    def waiting_requests(self) -> Collection[Request]:
        """Requests that Scrapy gave back, to be made once more."""

    # ---- pages

    def seed(self, urls: Iterable[str]) -> int:
        """Queue start URLs; returns how many were new."""

    def follow(self, visit: Visit, hrefs: Iterable[str], base: str) -> int:
        """Queue the links of a page that are new and inside the boundary; returns how many."""

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

    def claim_turn(self, site: str, now: float) -> float:
        """Take the next turn of a site for a request that is no visit; returns its time (monotonic seconds)."""

    def hold_site(self, site: str, seconds: float) -> None:
        """Let a site alone for as long as it asked for (`Retry-After`)."""

    def asked_url(self, url: str) -> str:
        """Return the URL under which a URL is asked for: a copy may stand in for its site."""

    def rules_recalled(self, url: str, rules: RobotsRules) -> None:
        """Take the rules of the robots.txt for a URL as they were stored."""


def visit_of(request: Request) -> Visit | None:
    """Return the visit that a request belongs to; None for robots.txt and requests of somebody else's code."""
    return cast("Visit | None", request.meta.get(META_KEY))
