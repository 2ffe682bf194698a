"""Results of a visit: of its request (`FetchResult`) and of reading its page (`PageResult`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ultracrawl.content.charset.urls import url_of_bytes
from ultracrawl.content.reader import PageHeaders
from ultracrawl.model import NO_CAUSE, Cause

if TYPE_CHECKING:
    from scrapy.http import Headers

    from ultracrawl.model.page import Link

TRUNCATED_KEY = "ultracrawl_truncated"
"""Key in `Request.meta` that says which part of a stored response is missing, and why."""
_NOTHING: Mapping[str, list[str]] = MappingProxyType({})


class Head(NamedTuple):
    """The headers of a response that decide about its page, read once."""

    headers: dict[bytes, list[bytes]]
    """All headers as they were then."""
    page: PageHeaders
    """Those that matter for reading the page."""
    etag: str
    last_modified: str
    reserved: Sequence[str]
    """Values of `tdm-reservation`."""


def read_head(headers: Headers) -> Head:
    """Read the headers that decide about a page; of a repeated one the last value counts, unless all do."""
    stored: dict[bytes, list[bytes]] = {name: [*values] for name, values in dict.items(headers)}
    get = stored.get
    content_type, etag, modified = get(b"Content-Type"), get(b"Etag"), get(b"Last-Modified")
    tags, refresh, reserved = get(b"X-Robots-Tag"), get(b"Refresh"), get(b"Tdm-Reservation")
    links = get(b"Link")
    return Head(
        stored,
        PageHeaders(
            content_type[-1].decode("latin-1") if content_type else "",
            [tag.decode("latin-1") for tag in tags] if tags else (),
            url_of_bytes(refresh[-1]) if refresh else "",
            [url_of_bytes(link) for link in links] if links else (),
        ),
        etag[-1].decode("latin-1") if etag else "",
        modified[-1].decode("latin-1") if modified else "",
        [value.decode("latin-1") for value in reserved] if reserved else (),
    )


NO_HEAD = Head({}, PageHeaders(), "", "", ())


class FetchedPart(NamedTuple):
    """The response to a request of a page in the browser; redirects and failures are parts of their own."""

    url: str
    status: int
    """0 if there was no response."""
    media_type: str = ""
    size: int = 0
    """Bytes of the body."""
    latency: float = 0.0
    """Seconds until the response began."""
    error: str = ""
    """The name of the failure that error rules match; empty if there was a response."""


class PageLinks(NamedTuple):
    """The links of a page that are to be followed."""

    hrefs: Sequence[str]
    """As written."""
    base: str
    named: Sequence[Link] = ()
    """All links of the page, with their texts."""
    also_of_duplicate: bool = True
    """Whether they are followed if another document stands for the page."""
    are_enumerated: bool = False
    """Whether a filter of the source selected them."""
    on_followed: Callable[[int], object] | None = None
    """Called with the number of new ones."""


class SiteReservations(NamedTuple):
    """What the files of a site reserve: robots.txt (Content-Signal) and, for the URL of a visit, tdmrep.json."""

    signals: Mapping[str, str]
    tdm: bool


NOTHING_RESERVED = SiteReservations(MappingProxyType({}), tdm=False)


class FetchResult(NamedTuple):
    """The response to the latest request of a visit, or the error with which it failed."""

    status: int = 0
    """HTTP status; 0 while there is no response."""
    size: int = 0
    """Bytes of the body that were read."""
    latency: float = 0.0
    """Seconds until the first byte of the response."""
    retry_after: float = 0.0
    """Seconds of `Retry-After`."""
    head: Head = NO_HEAD
    """The headers that decide about the page, as they arrived."""
    etag: str = ""
    last_modified: str = ""
    media_type: str = ""
    """Media type detected from headers and body."""
    follow_only: bool = False
    """Whether documents of this type are read only for their links."""
    truncated: str = ""
    """Parts of the body that were left unread, and why; empty if none were."""
    listing: bool = False
    """Whether the body is a directory listing, one URL per line."""
    feed: bool = False
    """Whether the body is read as a feed."""
    wall: str = ""
    """The kind of wall that a server put in place of the page, which slows the requests to it; empty if none."""
    without_login: bool = False
    """Whether its log-in failed, and the index has what that had shown: the visit neither replaces nor deletes it."""
    error: str = ""
    """Network error of the latest request, if there was no response."""


class PageResult(NamedTuple):
    """What reading the page of a visit gave."""

    link_hops: int = 0
    """Off-focus hops of its links (documents in other languages before them); -1: they admit no new URL."""
    fingerprint: bytes = b""
    """Fingerprint for finding duplicates; empty if the page takes no part in that."""
    signature: int | None = None
    """Signature for finding nearly equal texts, if the source compares them once their readers are known."""
    sketch: bytes = b""
    """Sketch of the words of its document; empty if it was not made."""
    preference: int = 1
    """Preference of the URL over duplicates, by the canonical link of the page."""
    canonical: str = ""
    """The other URL that its canonical link names, if such links are followed."""
    canonical_refusal: str = ""
    """Why that link is not followed; empty if it is, and while that is open."""
    language: str = ""
    """Code of the language of the page, if canonical links are followed; empty if unknown."""
    is_copy: bool = False
    """Whether another document stands for it, which was found when it was read; it lost words of its own document."""
    own_readers: bool | None = None
    """Whether its document has other readers than its source; None while that is not known."""
    hides_text: bool = False
    """Whether no snippet of the text may be shown."""
    expires: bool = False
    """Whether its permissions depend on the date, so that the next visit must be unconditional."""
    live: bool = False
    """Whether more than the page as sent was read, scripts or data: its document decides whether it has changed."""
    parts: bytes = b""
    """Its parts with their validators, as stored; empty if it has to be opened in the browser at each visit."""
    rendered: Cause = NO_CAUSE
    """Why it was opened in the browser, if the source leaves that open."""
    without_text: Cause = NO_CAUSE
    """Why a start page has no text, if it has none."""
    unrendered: Cause = NO_CAUSE
    """Why its scripts were not run, if they should have been; the next visit is unconditional then."""
    related: Mapping[str, list[str]] = _NOTHING
    """URLs of related documents, by search attribute."""
    description_ends: float = 0.0
    """Expiry of its resource description in seconds since the epoch; 0 if none is stated."""
    renewed: bool = False
    """Whether it replaces an expired description, even one with equal content."""


NOT_FETCHED = FetchResult()
NOT_READ = PageResult()
