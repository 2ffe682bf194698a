"""Maps FTP replies to Scrapy responses with the equivalent HTTP status."""

from __future__ import annotations

import email.utils
from typing import TYPE_CHECKING

from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from ultracrawl.content.file_names import media_type_of
from ultracrawl.content.ftp_listing import FTP_LISTING

if TYPE_CHECKING:
    from scrapy import Request

REPLY_HEADER = "X-Ftp-Reply"
"""The header with the error reply of a server: three digits and a text."""

_STATUSES = {
    "421": 503,
    "450": 503,
    "530": 401,
    "532": 401,
    "550": 404,
    "551": 404,
    "553": 404,
}
"""HTTP status by reply code (RFC 959 4.2); other 4xx are transient (503), other 5xx refusals (403)."""


def file_headers(url: str, modified: int = -1, size: int = -1) -> dict[str, str]:
    """Return the headers for a file; `modified` in seconds since the epoch, -1 for an unknown date or size."""
    headers = {"Content-Type": media_type_of(url)}
    if modified >= 0:
        headers["Last-Modified"] = email.utils.formatdate(modified, usegmt=True)
        headers["ETag"] = f'"{modified}-{max(size, 0)}"'
    return {name: value for name, value in headers.items() if value}


def file_response(
    request: Request, headers: dict[str, str], body: bytes, flags: list[str] | None = None
) -> Response:
    """Return the response with the content of a file."""
    scrapy_headers = Headers(headers)
    response_class = responsetypes.from_args(headers=scrapy_headers, url=request.url, body=body)
    return response_class(request.url, status=200, headers=scrapy_headers, body=body, flags=flags)


def listing_response(request: Request, urls: list[str]) -> Response:
    """Return the response with the URLs of the entries of a directory, one per line."""
    body = "\n".join(urls).encode()
    return Response(request.url, status=200, headers={"Content-Type": FTP_LISTING}, body=body)


def refusal_response(request: Request, reply: str) -> Response:
    """Return the response for an error reply, which starts with three digits."""
    code = reply[:3]
    status = _STATUSES.get(code, 503 if code < "500" else 403)
    return Response(request.url, status=status, headers={REPLY_HEADER: reply})
