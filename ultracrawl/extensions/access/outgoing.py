"""What is added to a request on its last step: on a copy, so that nobody else ever sees it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from scrapy import Request
from scrapy.http import Response

Send = Callable[[Request], Awaitable[Response]]
"""Sends a request as it is and returns its answer: a download handler, or what stands before it."""

_LATENCY = "download_latency"


async def send_with(
    request: Request, send: Send, headers: Mapping[str, str], meta: Mapping[str, object] | None = None
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
