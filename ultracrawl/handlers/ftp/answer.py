"""What FTP servers say, as responses with the status that a web server would have sent."""

from __future__ import annotations

import email.utils
from typing import TYPE_CHECKING

from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from ultracrawl.content.file_names import media_type_of
from ultracrawl.content.ftp_listing import FTP_LISTING

if TYPE_CHECKING:
    from scrapy import Request

REPLY = "X-Ftp-Reply"
"""The header with the reply of a server that refused: three digits and a text."""

_STATUSES = {
    "421": 503,
    "450": 503,
    "530": 401,
    "532": 401,
    "550": 404,
    "551": 404,
    "553": 404,
}
"""Status by reply (RFC 959 4.2); others of 4xx pass (503), others of 5xx are refusals (403)."""


def file_headers(url: str, modified: int = -1, size: int = -1) -> dict[str, str]:
    """Return the headers for a file with its date (seconds since the epoch) and size; -1 for what is not known."""
    headers = {"Content-Type": media_type_of(url)}
    if modified >= 0:
        headers["Last-Modified"] = email.utils.formatdate(modified, usegmt=True)
        headers["ETag"] = f'"{modified}-{max(size, 0)}"'
    return {name: value for name, value in headers.items() if value}


def file_response(
    request: Request, headers: dict[str, str], body: bytes, flags: list[str] | None = None
) -> Response:
    """Return the response with the bytes of a file."""
    named = Headers(headers)
    kind = responsetypes.from_args(headers=named, url=request.url, body=body)
    return kind(request.url, status=200, headers=named, body=body, flags=flags)


def listing_response(request: Request, urls: list[str]) -> Response:
    """Return the response with the entries of a directory."""
    body = "\n".join(urls).encode()
    return Response(request.url, status=200, headers={"Content-Type": FTP_LISTING}, body=body)


def refusal_response(request: Request, reply: str) -> Response:
    """Return the response for a reply that refuses; `reply` begins with three digits."""
    code = reply[:3]
    status = _STATUSES.get(code, 503 if code < "500" else 403)
    return Response(request.url, status=status, headers={REPLY: reply})
