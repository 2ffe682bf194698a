"""What a visit grows by: its answer, and what was made of its page. Values, each replaced as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ultracrawl.model import NO_CAUSE, Cause

TRUNCATED = "ultracrawl_truncated"
"""Where the meta of a request says what its stored answer lacks, and why."""
_NOTHING: Mapping[str, list[str]] = MappingProxyType({})


class FetchResult(NamedTuple):
    """The answer to the latest request of a visit, or what the request failed with."""

    status: int = 0
    """HTTP's; 0 as long as there is no answer."""
    size: int = 0
    """Bytes of the body of the answer, as it was read."""
    latency: float = 0.0
    """Seconds until the answer began."""
    retry_after: float = 0.0
    """Seconds for which the server wants to be left alone."""
    etag: str = ""
    last_modified: str = ""
    media_type: str = ""
    """What the answer is, by its headers and its bytes."""
    follow_only: bool = False
    """Documents of its type are read for their links only."""
    truncated: str = ""
    """What of the body was left unread, and why; empty if nothing was."""
    listing: bool = False
    """The answer is the entries of a directory, a URL a line."""
    feed: bool = False
    """The answer is read as a feed."""
    error: str = ""
    """What the latest request failed with, if no answer came."""


class PageResult(NamedTuple):
    """What was made of the page of a visit."""

    link_hops: int = 0
    """Hops of its links through documents in other languages; -1 if they lead to nothing new."""
    fingerprint: bytes = b""
    """What its content is compared by with other pages; empty if it is not."""
    preference: int = 1
    """What the page says of its own URL by its canonical link."""
    hides_text: bool = False
    """No piece of the text may be shown below a hit."""
    expires: bool = False
    """What the page allows depends on the day, so that the next visit has to see it in full."""
    unrendered: Cause = NO_CAUSE
    """Why its scripts were not run, if they should have been; the next visit runs them, whatever the server says."""
    related: Mapping[str, list[str]] = _NOTHING
    """What the document tells of other URLs, by search attribute."""
    description_ends: float = 0.0
    """When the description that was made of it expires; 0 if it does not say."""
    renewed: bool = False
    """It takes the place of a description that has expired, also where it says the same."""


NOT_FETCHED = FetchResult()
NOT_READ = PageResult()
