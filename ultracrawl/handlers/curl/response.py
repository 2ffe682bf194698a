"""Makes Scrapy responses from finished transfers."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import pycurl
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from ultracrawl.rules.boundary.masks import parse_address

if TYPE_CHECKING:
    from scrapy import Request

    from ultracrawl.handlers.curl.transfer import Transfer

_TYPE_HEADERS = frozenset({b"Content-Disposition", b"Content-Encoding"})
"""Headers besides Content-Type that Scrapy uses to choose a response class."""
_AFTER_PATH = re.compile("[?#;]")
"""Python versions differ in how they guess the type of URLs with these characters."""
_PROTOCOLS = {
    pycurl.CURL_HTTP_VERSION_1_0: "HTTP/1.0",
    pycurl.CURL_HTTP_VERSION_1_1: "HTTP/1.1",
    pycurl.CURL_HTTP_VERSION_2_0: "h2",
}


def make_response(request: Request, transfer: Transfer, flags: list[str] | None = None) -> Response:
    """Return the response of a transfer; its class is chosen as in Scrapy's own handlers."""
    curl = transfer.curl
    headers = Headers()
    dict.update(headers, transfer.head.headers)  # their names are normalised already
    body = transfer.body
    response_class = _class_by_headers(headers, request.url) or responsetypes.from_args(
        headers=headers, url=request.url, body=body
    )
    response = response_class(
        request.url,
        status=curl.getinfo(pycurl.RESPONSE_CODE),
        body=body,
        flags=flags,
        ip_address=_address(curl.getinfo(pycurl.PRIMARY_IP)),
        protocol=_PROTOCOLS.get(curl.getinfo(pycurl.INFO_HTTP_VERSION)),
    )
    response.headers = headers
    return response


def _class_by_headers(headers: Headers, url: str) -> type[Response] | None:
    """Return the class for the declared type or, without one, the file name; None if Scrapy must inspect more."""
    if _TYPE_HEADERS & headers.keys():
        return None
    declared: list[bytes] = dict.get(headers, b"Content-Type", [])
    if len(declared) == 1:
        return _class_by_type(declared[0])
    name = url.rpartition("/")[2]
    dot = name.find(".")
    return _class_by_suffix(name[dot:]) if dot > 0 and not declared and not _AFTER_PATH.search(url) else None


@lru_cache(maxsize=256)
def _class_by_type(declared: bytes) -> type[Response] | None:
    response_class = responsetypes.from_content_type(declared)
    return None if response_class is Response else response_class


@lru_cache(maxsize=256)
def _class_by_suffix(suffix: str) -> type[Response] | None:
    response_class = responsetypes.from_filename(f"name{suffix}")
    return None if response_class is Response else response_class


_address = lru_cache(maxsize=1024)(parse_address)
