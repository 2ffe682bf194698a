"""What is added to a request on its last step: on a copy, so that nobody else ever sees it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from scrapy import Request
from scrapy.http import Response

Send = Callable[[Request], Awaitable[Response]]
"""Sends a request as it is and returns its answer: a download handler, or what stands before it."""

LANE = "ultracrawl_lane"
"""In the meta of a request: the name of the connection that it has to take; no other request takes that one."""
FRESH = "ultracrawl_fresh"
"""In the meta of a request: whether the connection has to be a new one, whatever the method."""
BARE = "ultracrawl_bare"
"""In the meta of a request: it goes out with nothing that says who asks, because a stranger caused it."""
REPEATABLE = frozenset({"GET", "HEAD"})
"""Methods of requests that may reach a server twice; others go out once, whatever becomes of the connection."""
_LATENCY = "download_latency"


def wants_fresh(request: Request) -> bool:
    """Whether a request needs a new connection.

    On one that was kept, a server that ends it just then leaves open whether it has acted, and libcurl asks again.
    """
    if LANE in request.meta or FRESH in request.meta:
        return bool(request.meta.get(FRESH))
    return request.method not in REPEATABLE


async def send_with(
    request: Request, send: Send, headers: Mapping[str, str | bytes], meta: Mapping[str, object] | None = None
) -> Response:
    """Send a copy of a request with more headers; secrets in them are not kept with the request itself."""
    copy = request.replace()
    copy.headers.update(headers)
    copy.meta.update(meta or {})
    try:
        return await send(copy)
    finally:
        if _LATENCY in copy.meta:
            request.meta[_LATENCY] = copy.meta[_LATENCY]
