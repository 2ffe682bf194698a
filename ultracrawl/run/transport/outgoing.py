"""Metadata of outgoing requests, and headers that are added to a copy just before sending."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from scrapy import Request
from scrapy.http import Response

Send = Callable[[Request], Awaitable[Response]]
"""Sends a request and returns its response: a download handler, or a function that wraps one."""

CONNECTION = "ultracrawl_lane"
"""Request meta key: the name of the connection to use; no other request uses it."""
NEW_CONNECTION = "ultracrawl_fresh"
"""Request meta key: whether a new connection is required, whatever the method."""
MORE_COOKIES = "ultracrawl_more_cookies"
"""Meta key of a request whose cookies are sent beside those of its site."""
ANONYMOUS = "ultracrawl_bare"
"""Request meta key: send no credentials, because a page of another origin caused the request."""
VISITOR = "ultracrawl_visitor"
"""Request meta key: send no cookies, no headers of single sites and no client certificate, as for a visitor."""
WITHOUT_LOGIN = "without-login"
"""Flag of a response to a request without its log-in: it may not replace what the log-in had shown."""
REPEATABLE = frozenset({"GET", "HEAD"})
"""Methods of requests that may reach a server twice; others are sent once, whatever happens to the connection."""
_LATENCY = "download_latency"


class LoginRequest(Request):
    """A request whose text omits the query of the URL, which may hold a password."""

    def __str__(self) -> str:
        return f"<{self.method} {self.url.partition('?')[0]}>"

    __repr__ = __str__


def needs_new_connection(request: Request) -> bool:
    """Return whether a request needs a new connection.

    If a server closes a kept connection at that moment, it is unknown whether it has acted, and libcurl sends again.
    """
    if CONNECTION in request.meta or NEW_CONNECTION in request.meta:
        return bool(request.meta.get(NEW_CONNECTION))
    return request.method not in REPEATABLE


async def send_with(
    request: Request,
    send: Send,
    headers: Mapping[str, str | bytes],
    meta: Mapping[str, object] | None = None,
    *,
    url: str = "",
) -> Response:
    """Send a copy of a request with more headers, so that secrets in them are not stored with the request.

    `url` is another URL to request in its place.
    """
    copy = request.replace(url=url) if url else request.replace()
    copy.headers.update(headers)
    copy.meta.update(meta or {})
    try:
        return await send(copy)
    finally:
        if _LATENCY in copy.meta:
            request.meta[_LATENCY] = copy.meta[_LATENCY]
