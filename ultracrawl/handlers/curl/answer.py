"""Scrapy responses out of finished transfers."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import pycurl
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from ultracrawl.rules.boundary.masks import parsed_address

if TYPE_CHECKING:
    from scrapy import Request

    from ultracrawl.handlers.curl.transfer import Transfer

_FURTHER = frozenset({b"Content-Disposition", b"Content-Encoding"})
"""Headers that have a say besides the declared type."""
_BEHIND_PATH = re.compile("[?#;]")
"""What Pythons do not agree about when they guess a type."""
_PROTOCOLS = {
    pycurl.CURL_HTTP_VERSION_1_0: "HTTP/1.0",
    pycurl.CURL_HTTP_VERSION_1_1: "HTTP/1.1",
    pycurl.CURL_HTTP_VERSION_2_0: "h2",
}


def response_of(request: Request, transfer: Transfer, flags: list[str] | None = None) -> Response:
    """Return the response of a transfer; its class is chosen as Scrapy's own handlers choose it."""
    curl = transfer.curl
    headers = Headers()
    dict.update(headers, transfer.head.headers)  # the names are normal already
    body = transfer.body
    kind = _kind_of(headers, request.url) or responsetypes.from_args(
        headers=headers, url=request.url, body=body
    )
    response = kind(
        request.url,
        status=curl.getinfo(pycurl.RESPONSE_CODE),
        body=body,
        flags=flags,
        ip_address=_address(curl.getinfo(pycurl.PRIMARY_IP)),
        protocol=_PROTOCOLS.get(curl.getinfo(pycurl.INFO_HTTP_VERSION)),
    )
    response.headers = headers
    return response


def _kind_of(headers: Headers, url: str) -> type[Response] | None:
    """Return the class that the declared type, or the name without one, decides; None if Scrapy has to look at more."""
    if _FURTHER & headers.keys():
        return None
    declared: list[bytes] = dict.get(headers, b"Content-Type", [])
    if len(declared) == 1:
        return _kind_of_type(declared[0])
    name = url.rpartition("/")[2]
    at = name.find(".")
    return _kind_of_ending(name[at:]) if at > 0 and not declared and not _BEHIND_PATH.search(url) else None


@lru_cache(maxsize=256)
def _kind_of_type(declared: bytes) -> type[Response] | None:
    kind = responsetypes.from_content_type(declared)
    return None if kind is Response else kind


@lru_cache(maxsize=256)
def _kind_of_ending(ending: str) -> type[Response] | None:
    kind = responsetypes.from_filename(f"name{ending}")
    return None if kind is Response else kind


_address = lru_cache(maxsize=1024)(parsed_address)
