"""One URL on its way through the crawl, from the frontier to its outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from ultracrawl.crawl.results import NOT_FETCHED, NOT_READ, FetchResult, PageResult
from ultracrawl.stores import QueueEntry, StoredSitemap

if TYPE_CHECKING:
    from scrapy import Request

    from ultracrawl.crawl.ending import Ending
    from ultracrawl.model import AttributeValue, UrlOutcome, UrlRecord

META_KEY = "ultracrawl_visit"
VIEWS_KEY = "ultracrawl_views"
"""Where the meta of a request has what the filters of the source know of its URL."""
HANDLED = "ultracrawl_handled"
"""Where the meta of a request says that its answer was handled: who gets it has nothing to do."""
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

    It is what was taken (`entry`, `record`: what was known before) and grows by values that are replaced as a whole:
    `fetch`, `page`, `ending`. Components change it by its methods alone.
    """

    entry: QueueEntry
    record: UrlRecord
    shorter_depth: int | None = None
    """A depth below that of the queue entry, if a shorter route turned up while it waited."""
    rescan: bool = False
    """Fetch and scan the page even if it is unchanged."""
    given: bool = False
    """Its document came without a request: it takes no place at its site."""
    stored: bool = False
    """Its answer comes from the store, and nothing is asked for."""
    sitemap: SitemapJob | None = None
    """Set if the URL is read as a sitemap and not as a page."""
    attempts: int = 0
    """Requests made for this visit so far that failed and were tried again."""
    fetch: FetchResult = NOT_FETCHED
    checksum: bytes = b""
    """What the next visit compares its answer with: of the body, until the document has one."""
    page: PageResult = NOT_READ
    links: bytes = b""
    """The keys of its links that are inside, as they are stored."""
    deferred: Callable[[], None] | None = None
    """Follows its links, once it has turned out that it is no duplicate."""
    search_attributes: Mapping[str, list[AttributeValue]] | None = None
    """Those of an item that has no field for them."""
    ending: Ending | None = None
    """How it ended, as it was recorded; None as long as it has not."""

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self.ending is not None

    @property
    def outcome(self) -> UrlOutcome | None:
        """How it ended; None as long as it has not, and for a tentative one of which nothing is recorded."""
        ending = self.ending
        return None if ending is None or (self.sitemap and self.sitemap.tentative) else ending.outcome

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
        return self.entry.depth if self.shorter_depth is None else min(self.shorter_depth, self.entry.depth)

    @property
    def url(self) -> str:
        """The access URL."""
        return self.entry.url

    @property
    def shown_url(self) -> str:
        """The display URL."""
        return self.entry.display_url or self.entry.url

    # ---- what it grows by

    def note_answer(self, fetch: FetchResult) -> None:
        """Take the answer to its request."""
        self.fetch = fetch

    def note_error(self, error: str) -> None:
        """Take what its request failed with; empty if that is no error of the network."""
        self.fetch = self.fetch._replace(error=error)

    def note_checksum(self, checksum: bytes) -> None:
        """Take what the next visit compares its answer with."""
        self.checksum = checksum

    def note_search_attributes(self, values: Mapping[str, list[AttributeValue]]) -> None:
        """Take the search attributes of an item that has no field for them."""
        self.search_attributes = values

    def note_media_type(self, media_type: str) -> None:
        """Take what the answer turned out to be."""
        self.fetch = self.fetch._replace(media_type=media_type)

    def note_truncated(self, truncated: str) -> None:
        """Take what else of the answer was left unread; a stored answer comes with that of its first conversion."""
        if truncated:
            reasons = dict.fromkeys(filter(None, (self.fetch.truncated, truncated)))
            self.fetch = self.fetch._replace(truncated="; ".join(reasons))

    def drop_validators(self) -> None:
        """Have the next visit see the page in full: something other than its content decides, too."""
        self.fetch = self.fetch._replace(etag="", last_modified="")

    def note_links(self, keys: bytes) -> None:
        """Take the keys of the links that are inside."""
        self.links = keys

    def defer_links(self, follow: Callable[[], None]) -> None:
        """Have links followed only when the visit has ended, and not as a duplicate."""
        self.deferred = follow

    def note_permissions(self, *, hides_text: bool, expires: bool) -> None:
        """Take what the owner of the page allows."""
        if hides_text or expires:
            self.page = self.page._replace(hides_text=hides_text, expires=expires)

    # ---- what changes while it is on its way

    def count_attempt(self) -> None:
        """Take note that its request failed, and is going to be made once more."""
        self.attempts += 1
        self.fetch = self.fetch._replace(status=0, size=0, error="")
        self.deferred = None

    def replace_record(self, record: UrlRecord) -> None:
        """Go on from a record that was changed meanwhile."""
        self.record = record

    def replace_display_url(self, url: str) -> None:
        """Go on under another display URL, empty for the access URL."""
        self.entry = self.entry._replace(display_url=url)


def visit_of(request: Request) -> Visit | None:
    """Return the visit that a request belongs to; None for robots.txt and requests of somebody else's code."""
    found: Visit | None = request.meta.get(META_KEY)
    return found
