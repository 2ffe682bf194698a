"""Which origin asks for a part of a page: what of its headers is sent, and what it may read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ultracrawl.dataclass import dataclass
from ultracrawl.rules.robots.policy import origin_of
from ultracrawl.run.rendering.open_page import PartRequest
from ultracrawl.run.transport.headers import values_of

if TYPE_CHECKING:
    from scrapy.http import Response

FRAME = "document"
"""The kind of a part that is a document of its own."""
ACCEPT_ANY = "*/*"
"""The `Accept` of a script's request that names nothing (Fetch, "main fetch"); a document is asked for as a page is."""
CREDENTIALS = "authorization"
"""A header that scripts may set, and that is not stored."""
STREAM_TYPE = "text/event-stream"
"""The media type by which scripts ask for a stream of events (`EventSource`, and what does the same by `fetch`)."""
_READABLE_TYPES = frozenset({"fetch", "xhr", "eventsource"})
"""Resource types whose content scripts can read; a script of another origin is run but not readable."""
_FOR_ALL_HOSTS = frozenset({"accept", "accept-language", "origin", "x-requested-with"})
_OF_THE_CONNECTION = frozenset(
    {
        "accept-charset",
        "accept-encoding",
        "cache-control",
        "connection",
        "content-length",
        "cookie",
        "date",
        "dnt",
        "expect",
        "host",
        "keep-alive",
        "pragma",
        "priority",
        "purpose",
        "range",
        "referer",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "upgrade-insecure-requests",
        "user-agent",
        "via",
        "x-client-data",
    }
)
"""What the crawl, or the browser, says of itself: mostly names that no script can set (Fetch, 2.2.2)."""
_OF_THE_CONNECTION_TOO = ("access-control-", "if-", "proxy-", "sec-")


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """The origin that requests a part; empty for an opaque one, such as that of a sandbox.

    Checked here because the browser cannot: it sees every response under the requested URL, redirects included, and
    Playwright lets every origin read responses that are fulfilled in place of the network.
    """

    origin: str
    kind: str

    @classmethod
    def of(cls, part: PartRequest) -> RequestOrigin:
        """Return the origin of a request for a part; a frame counts as requested by its own site."""
        if part.kind == FRAME:
            return cls(origin_of(part.url), part.kind)
        return cls(origin_of(part.headers.get("origin") or part.initiator), part.kind)

    def is_foreign(self, url: str) -> bool:
        """Return whether a URL is of another origin, which gets no secrets."""
        return not self.origin or origin_of(url) != self.origin

    def may_have(self, response: Response) -> bool:
        """Return whether a response of another origin may be passed on.

        CORS decides for readable types; redirected frames are never passed on.
        """
        if self.kind not in _READABLE_TYPES:
            return self.kind != FRAME
        allowed = values_of(response)("Access-Control-Allow-Origin")
        return any(value == "*" or (self.origin and origin_of(value) == self.origin) for value in allowed)


def headers_of_scripts(written: Mapping[str, str], *, posts: bool = False) -> dict[str, str]:
    """Return the headers of a request of the browser that its scripts have set, by names in small letters."""
    own = {name.lower(): value for name, value in written.items()}
    return {
        name: value
        for name, value in own.items()
        if name not in _OF_THE_CONNECTION
        and not name.startswith(_OF_THE_CONNECTION_TOO)
        and (posts or name != "content-type")
    }


def is_stream(headers: Mapping[str, str]) -> bool:
    """Return whether scripts ask for a stream of events; the headers are those of `headers_of_scripts`."""
    return headers.get("accept", "").strip().lower() == STREAM_TYPE


def sent_to_others(headers: Mapping[str, str]) -> dict[str, str]:
    """Return those of the headers of scripts that another origin gets, too."""
    return {name: value for name, value in headers.items() if name in _FOR_ALL_HOSTS}
