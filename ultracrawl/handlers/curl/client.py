"""HTTP client on libcurl: a pool of easy handles on one loop, configured by Scrapy's settings."""

from __future__ import annotations

import asyncio
import logging
import re
from functools import lru_cache
from typing import TYPE_CHECKING

import pycurl
from scrapy.exceptions import DownloadFailedError
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from ultracrawl.handlers.curl.errors import lost_data, transfer_error
from ultracrawl.handlers.curl.loop import CurlLoop
from ultracrawl.handlers.curl.transfer import Limits, Transfer
from ultracrawl.handlers.curl.wire import Option, bind_options, tls_options
from ultracrawl.rules.boundary.masks import parse_address
from ultracrawl.run.transport.outgoing import CONNECTION
from ultracrawl.settings.trust import PINS_SETTING

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.settings import BaseSettings

    from ultracrawl.handlers.download_control import AddressGuard, DownloadSignals

logger = logging.getLogger(__name__)

_BUFFER_BYTES = 65_536
"""Maximum bytes of a body that libcurl delivers at once."""
_COMMON_OPTIONS: tuple[Option, ...] = (
    (pycurl.NOSIGNAL, 1),
    (pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS),
    (pycurl.FOLLOWLOCATION, 0),
    (pycurl.PATH_AS_IS, 1),
    (pycurl.HTTP_CONTENT_DECODING, 0),
    # Without these two, libcurl takes a proxy from the environment.
    (pycurl.PROXY, ""),
    (pycurl.NOPROXY, ""),
    (pycurl.HEADEROPT, pycurl.HEADER_SEPARATE),
    (pycurl.BUFFERSIZE, _BUFFER_BYTES),
)

_VERSIONS = {
    "1.0": pycurl.CURL_HTTP_VERSION_1_0,
    "1.1": pycurl.CURL_HTTP_VERSION_1_1,
    "2": pycurl.CURL_HTTP_VERSION_2TLS,
}


class CurlClient:
    """Sends requests and returns responses.

    Reads Scrapy's DOWNLOAD_* settings, and ULTRACRAWL_HTTP_VERSION: `1.0`, `1.1`, or `2`, with which servers may choose
    HTTP/2 over TLS (like ULTRACRAWL_HTTP2).
    """

    def __init__(self, settings: BaseSettings, guard: AddressGuard | None, signals: DownloadSignals) -> None:
        self._signals = signals
        self._guard = guard
        self._timeout = settings.getfloat("DOWNLOAD_TIMEOUT")
        self._maxsize = settings.getint("DOWNLOAD_MAXSIZE")
        self._warnsize = settings.getint("DOWNLOAD_WARNSIZE")
        self._strict = settings.getbool("DOWNLOAD_FAIL_ON_DATALOSS")
        http2 = settings.getbool("ULTRACRAWL_HTTP2")
        version = "2" if http2 else settings.get("ULTRACRAWL_HTTP_VERSION", "1.1")
        if version not in _VERSIONS:
            raise ValueError(f"ULTRACRAWL_HTTP_VERSION is {version!r}; write one of {', '.join(_VERSIONS)}")
        self._options = [*_COMMON_OPTIONS, (pycurl.HTTP_VERSION, _VERSIONS[version]), *tls_options(settings)]
        self._pins: dict[str, str] = settings.getdict(PINS_SETTING)
        self._options += bind_options(settings.get("DOWNLOAD_BIND_ADDRESS"))
        concurrent = settings.getint("CONCURRENT_REQUESTS")
        self._loop = CurlLoop(asyncio.get_running_loop(), connections=max(64, 2 * concurrent))
        self._lanes: dict[str, CurlLoop] = {}
        self._spare: list[Transfer] = []

    async def fetch(self, request: Request) -> Response:
        """Send a request. Raises Scrapy's download exceptions or `AddressRefusedError`."""
        transfer = self._spare.pop() if self._spare else Transfer(self._options, self._guard, self._pins)
        try:
            self._prepare(transfer, request)
            code, text = await self._loop_for(request).run(transfer.curl)
            return self._conclude(transfer, request, code, text)
        finally:
            transfer.release()
            self._spare.append(transfer)

    def close(self) -> None:
        """Stop all transfers, close all connections and free all handles."""
        self._loop.close()
        for lane in self._lanes.values():
            lane.close()
        for transfer in self._spare:
            transfer.close()
        self._spare.clear()

    def _loop_for(self, request: Request) -> CurlLoop:
        """Return the loop with the connections for a request; each lane has its own loop with one connection."""
        name = request.meta.get(CONNECTION)
        if name is None:
            return self._loop
        if name not in self._lanes:
            self._lanes[name] = CurlLoop(asyncio.get_running_loop(), connections=1)
        return self._lanes[name]

    def _prepare(self, transfer: Transfer, request: Request) -> None:
        meta = request.meta
        seconds = meta.get("download_timeout") or self._timeout
        limits = Limits(float(seconds), int(meta.get("download_maxsize", self._maxsize)))
        try:
            transfer.prepare(request, limits, self._signals if self._signals.has_receivers else None)
        except (ValueError, pycurl.error) as error:
            raise DownloadFailedError(f"the request cannot be sent: {error}") from error

    def _conclude(self, transfer: Transfer, request: Request, code: int, text: str) -> Response:
        """Return the response of a finished transfer, or raise its error."""
        if not code and not transfer.answered:
            raise DownloadFailedError("the connection ended within the headers")
        flags = self._flags(transfer, request, code, text) if code else None
        request.meta["download_latency"] = transfer.curl.getinfo(pycurl.STARTTRANSFER_TIME)
        warnsize = request.meta.get("download_warnsize", self._warnsize)
        if warnsize and transfer.size > warnsize:
            logger.warning("%s has %d bytes, more than DOWNLOAD_WARNSIZE", request.url, transfer.size)
        response = make_response(request, transfer, flags)
        if transfer.stopped is not None and transfer.stopped.fail:
            transfer.stopped.response = response
            raise transfer.stopped
        return response

    def _flags(self, transfer: Transfer, request: Request, code: int, text: str) -> list[str]:
        """Return the flags of an incomplete response that is accepted all the same; raises the error of others."""
        if transfer.stopped is not None:
            return ["download_stopped"]
        strict = request.meta.get("download_fail_on_dataloss", self._strict)
        if strict or transfer.too_large or not lost_data(transfer, code):
            raise transfer_error(transfer, code, text)
        return ["dataloss"]


_TYPE_HEADERS = frozenset({b"Content-Disposition", b"Content-Encoding"})
"""Headers besides Content-Type that Scrapy uses to choose a response class."""
_GZIP = frozenset({b"gzip", b"x-gzip"})
_GZIP_MAGIC = b"\x1f\x8b"
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
    if headers.get(b"Content-Encoding") in _GZIP and body and not body.startswith(_GZIP_MAGIC):
        del headers[b"Content-Encoding"]  # the server names a coding that the body has not
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
