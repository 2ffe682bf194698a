"""One URL on its way through the crawl, from the frontier to its outcome."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from ultracrawl.dataclass import dataclass, field
from ultracrawl.run.results import (
    NOT_FETCHED,
    NOT_READ,
    FetchResult,
    Head,
    PageLinks,
    PageResult,
    SiteReservations,
    read_head,
)
from ultracrawl.stores import QueueEntry, StoredSitemap

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from ultracrawl.agents.port import Entry
    from ultracrawl.model import AttributeValue, UrlOutcome, UrlRecord
    from ultracrawl.run.ending import Ending

META_KEY = "ultracrawl_visit"
"""Key of the visit in `Request.meta`."""
PART_KEY = "ultracrawl_part"
"""Key in `Request.meta` of a request for data of a page that a browser has open: the visit of that page."""
VIEWS_KEY = "ultracrawl_views"
"""Key in `Request.meta` of what the filters of the source know of the URL."""
HANDLED_KEY = "ultracrawl_handled"
"""Key in `Request.meta` that marks a response as handled: later components ignore it."""
STEP_TIMEOUT_FACTOR = 10
"""A step of a visit may take this many times the time limit of a request."""


class Step(StrEnum):
    """A step of a visit; the values are parts of stored causes and of the report."""

    DOWNLOAD = "its download"
    PROCESSING = "the processing of its answer"
    CONVERSION = "its conversion"
    BROWSER = "the browser"


@dataclass(slots=True)
class SitemapJob:
    """A sitemap that this run has read or will read."""

    sites: set[str] | None
    """Sites whose pages it may list, None for any. Their known pages wait until it is read."""
    level: int = 0
    """Number of sitemap indexes above it."""
    tentative: bool = False
    """Its URL is a guess, such as the usual place; nothing is recorded unless a sitemap is there."""
    pending: bool = False
    reread: bool = False
    """It was read before another site was added to `sites`."""
    stored: StoredSitemap | None = field(default=None, repr=False)
    """Its content, once it was read."""

    def child(self) -> SitemapJob:
        """Return the job of a sitemap listed in this index; it may list pages of the same sites."""
        return SitemapJob(None if self.sites is None else set(self.sites), self.level + 1)


@dataclass(slots=True, eq=False)
class Visit:
    """A URL between its removal from the frontier and its outcome.

    `entry` is its queue entry and `record` what was known before. `fetch`, `page` and `ending` are values that are
    replaced as a whole. Components change a visit only by its methods.
    """

    entry: QueueEntry
    record: UrlRecord
    url: str = field(init=False)
    """The access URL."""
    shorter_depth: int | None = None
    """A crawl depth below that of the queue entry, if a shorter path was found while it waited."""
    rescan: bool = False
    """Whether the page is fetched and parsed even if it is unchanged."""
    without_request: bool = False
    """Whether its document arrived without a request, so that it occupies no place of a request at its site."""
    deferred: bool = False
    """Whether it ended without an outcome, because the run has still to decide about its document."""
    revived: bool = False
    """Whether it continues a deferred visit: no request, and response and links were dealt with before."""
    from_store: bool = False
    """Whether its response comes from the store, and no request is sent."""
    opened_page: bytes = b""
    """The checksum of the page as a browser opened it at an earlier visit, if all its parts are as they were then."""
    sitemap: SitemapJob | None = None
    """Set if the URL is read as a sitemap instead of a page."""
    attempts: int = 0
    """Number of failed requests that were retried."""
    alone: bool = False
    """Whether it is made once more at the end of the run, with no other beside it (`run.control.second_attempts`)."""
    answering: bool = False
    """Whether the response to its request has begun."""
    reserved: SiteReservations | None = None
    """What the files of its site reserve; None until it is asked for."""
    listed: Entry | None = None
    """What lister and fetcher say of its document; None if they say nothing, and in a source of the web."""
    fetch: FetchResult = NOT_FETCHED
    checksum: bytes = b""
    """Checksum of the document, or of the body until there is one; the next visit compares with it."""
    answer: Response | None = field(default=None, repr=False)
    """Its response, kept until the outcome is known, if the source stores those."""
    page: PageResult = NOT_READ
    links: bytes = b""
    """Keys of its admitted links, as stored."""
    deferred_links: PageLinks | None = None
    """Its links, which are followed when the visit ends."""
    search_attributes: Mapping[str, list[AttributeValue]] | None = None
    """The search attributes of its document, typed; an item may have no field for them."""
    ending: Ending | None = None
    """The recorded ending; None until it ends."""
    done: bool = False
    """Whether the visit has ended."""
    outcome: UrlOutcome | None = None
    """The outcome; None until the visit ends, and for a tentative or deferred one, of which none is recorded."""

    def __post_init__(self) -> None:
        self.url = self.entry.url

    @property
    def requested(self) -> bool:
        """Whether a request is made for the visit."""
        return not self.without_request and (self.ending is None or self.ending.requested)

    @property
    def tentative(self) -> bool:
        """Whether the URL is a guess of which nothing is recorded unless a sitemap is there."""
        return self.sitemap is not None and self.sitemap.tentative

    @property
    def depth(self) -> int:
        """Crawl depth on the shortest known path from a seed."""
        return self.entry.depth if self.shorter_depth is None else min(self.shorter_depth, self.entry.depth)

    @property
    def display_url(self) -> str:
        """The display URL."""
        return self.entry.display_url or self.entry.url

    # ---- results

    def head_of(self, response: Response) -> Head:
        """Return the headers of its response; they are read again if a middleware has changed them."""
        head = self.fetch.head
        return head if head.headers == response.headers else read_head(response.headers)

    def require_reading(self) -> None:
        """Have the page fetched and parsed even if it is unchanged."""
        self.rescan = True

    def note_reserved(self, reserved: SiteReservations) -> None:
        """Set what the files of its site reserve."""
        self.reserved = reserved

    def note_listed(self, entry: Entry | None) -> None:
        """Set what lister and fetcher say of its document."""
        self.listed = entry

    def note_answer_begun(self) -> None:
        """Record that the response to its request has begun."""
        self.answering = True

    def note_answer(self, fetch: FetchResult) -> None:
        """Set the result of the request."""
        self.fetch = fetch

    def note_error(self, error: str) -> None:
        """Set the network error with which the request failed; empty if it was no network error."""
        self.fetch = self.fetch._replace(error=error)

    def note_checksum(self, checksum: bytes) -> None:
        """Set the checksum."""
        self.checksum = checksum

    def note_search_attributes(self, values: Mapping[str, list[AttributeValue]]) -> None:
        """Set the search attributes of its document, typed."""
        self.search_attributes = values

    def note_media_type(self, media_type: str) -> None:
        """Set the detected media type of the response."""
        self.fetch = self.fetch._replace(media_type=media_type)

    def note_truncated(self, truncated: str) -> None:
        """Add what was left unread of the body; a stored response may already name what its first reading omitted."""
        if truncated:
            reasons = dict.fromkeys(filter(None, (self.fetch.truncated, truncated)))
            self.fetch = self.fetch._replace(truncated="; ".join(reasons))

    def drop_validators(self) -> None:
        """Make the next visit unconditional, because more than the content decides about the page."""
        self.fetch = self.fetch._replace(etag="", last_modified="")
        self.page = self.page._replace(parts=b"")

    def note_opened_page(self, checksum: bytes) -> None:
        """Set the checksum of the page with which it need not be opened again; empty if its parts have changed."""
        self.opened_page = checksum

    def note_language(self, code: str) -> None:
        """Set the code of the language of the page."""
        self.page = self.page._replace(language=code)

    def note_readers(self, *, own: bool) -> None:
        """Set whether the document of the visit has other readers than its source."""
        self.page = self.page._replace(own_readers=own)

    def note_shorter_depth(self, depth: int) -> None:
        """Set a crawl depth that was found while the page was fetched."""
        self.shorter_depth = depth if self.shorter_depth is None else min(self.shorter_depth, depth)

    def note_links(self, keys: bytes) -> None:
        """Set the keys of the admitted links."""
        self.links = keys

    def defer_links(self, links: PageLinks) -> None:
        """Have links followed when the visit ends (`run.page_links`)."""
        self.deferred_links = links

    def take_links(self) -> PageLinks | None:
        """Return the links that are to be followed, once."""
        links, self.deferred_links = self.deferred_links, None
        return links

    def keep_answer(self, response: Response) -> None:
        """Keep the response until the outcome is known; one that is set aside gets another."""
        self.answer = response

    def take_answer(self) -> Response | None:
        """Return the response that was kept, once."""
        answer, self.answer = self.answer, None
        return answer

    def note_permissions(self, *, hides_text: bool, expires: bool) -> None:
        """Set the restrictions that the page states."""
        if hides_text or expires:
            self.page = self.page._replace(hides_text=hides_text, expires=expires)

    def note_ending(self, ending: Ending, *, deferred: bool = False) -> None:
        """Set the ending; a `deferred` visit ends without an outcome, until the run has decided."""
        self.ending, self.done, self.deferred = ending, True, deferred
        self.outcome = None if deferred or self.tentative else ending.outcome

    # ---- changes while in flight

    def set_aside(self) -> Visit:
        """End without an outcome; returns the visit that reads the URL once more, alone."""
        self.done, self.deferred_links, self.answer = True, None, None
        return Visit(
            self.entry,
            self.record,
            shorter_depth=self.shorter_depth,
            rescan=self.rescan,
            from_store=self.from_store,
            attempts=self.attempts,
            alone=True,
        )

    def prepare_retry(self, *, counts: bool) -> None:
        """Prepare for another request; the last one `counts` as an attempt unless it was not sent."""
        self.attempts += counts
        self.answering = False
        self.fetch = self.fetch._replace(status=0, size=0, error="")
        self.deferred_links = None

    def replace_record(self, record: UrlRecord) -> None:
        """Continue with a record that was changed meanwhile."""
        self.record = record

    def replace_display_url(self, url: str) -> None:
        """Set the display URL; empty means the access URL."""
        self.entry = self.entry._replace(display_url=url)


def page_visit_of(request: Request) -> Visit | None:
    """Return the visit of the page that is requested, or for which data are requested; None for all other requests."""
    visit: Visit | None = request.meta.get(PART_KEY) or visit_of(request)
    return visit if visit is not None and visit.sitemap is None else None


def visit_of(request: Request) -> Visit | None:
    """Return the visit of a request; None for robots.txt and for requests of foreign code."""
    visit: Visit | None = request.meta.get(META_KEY)
    return visit
