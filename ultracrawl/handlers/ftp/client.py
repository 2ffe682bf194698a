"""FTP client on libcurl: files, directory listings and conditional requests."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes

import pycurl
from scrapy.exceptions import DownloadCancelledError, DownloadFailedError, IgnoreRequest
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from ultracrawl.content.file_names import media_type_of
from ultracrawl.content.ftp_listing import FTP_LISTING, entry_urls, parse_list, parse_mlsd
from ultracrawl.handlers.curl.errors import transfer_error
from ultracrawl.handlers.curl.loop import CurlLoop
from ultracrawl.handlers.curl.transfer import Limits
from ultracrawl.handlers.ftp.transfer import FtpCommand, FtpTransfer
from ultracrawl.model.dates import http_date
from ultracrawl.rules.urls.canonical import site_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.settings import BaseSettings

    from ultracrawl.handlers.download_control import AddressGuard, DownloadSignals
    from ultracrawl.sources.compilation.ftp import FtpAccess

_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")


class FtpPathRefusedError(IgnoreRequest):
    """The path of a URL has segments that are not file names; no request is sent."""


def ftp_target(url: str) -> str:
    """Return the URL for libcurl from a canonical FTP URL. Raises `FtpPathRefusedError`.

    Each segment is one name below the login directory: an escaped slash would lead out of it, a line break would
    inject a command. Empty segments are removed; `;type=` and queries are parts of names.
    """
    scheme, _, rest = url.partition("://")
    authority, _, path = rest.partition("/")
    segments = [unquote_to_bytes(part) for part in path.partition("#")[0].split("/")]
    names = [name for name in segments if name]
    for name in names:
        if name in (b".", b"..") or b"/" in name or _CONTROL.search(name):
            raise FtpPathRefusedError("the path holds an escaped slash, `..` or control characters")
    slash = "/" if names and not segments[-1] else ""
    return f"{scheme}://{authority}/{'/'.join(quote(name, safe='') for name in names)}{slash}"


MAX_LISTING_BYTES = 16 << 20
"""Maximum bytes of a listing; a longer one is an error."""
_FILE_UNAVAILABLE = "550"
_UNKNOWN_COMMAND = frozenset({"500", "501", "502", "504"})


class FtpClient:
    """Sends requests for `ftp:` URLs and returns responses; read-only."""

    def __init__(
        self, settings: BaseSettings, access: FtpAccess, guard: AddressGuard | None, signals: DownloadSignals
    ) -> None:
        self._access = access
        self._guard = guard
        self._signals = signals
        self._timeout = settings.getfloat("DOWNLOAD_TIMEOUT")
        self._maxsize = settings.getint("DOWNLOAD_MAXSIZE")
        self._loop = CurlLoop(asyncio.get_running_loop(), connections=settings.getint("CONCURRENT_REQUESTS"))
        self._spare: list[FtpTransfer] = []
        self._servers: dict[str, set[str]] = {}
        self._without_mlsd: set[str] = set()

    async def fetch(self, request: Request) -> Response:
        """Send a request. Raises Scrapy's download exceptions or `AddressRefusedError`."""
        command = FtpCommand(ftp_target(request.url), self._access.login(request.url), self._access.passive)
        transfer = self._spare.pop() if self._spare else FtpTransfer(self._guard, self._servers)
        try:
            if command.url.endswith("/"):
                return await self._list(transfer, request, command)
            return await self._file(transfer, request, command)
        finally:
            transfer.release()
            self._spare.append(transfer)

    def close(self) -> None:
        """Stop all transfers, close all connections and free all handles."""
        self._loop.close()
        for transfer in self._spare:
            transfer.close()
        self._spare.clear()

    # ---- files

    async def _file(self, transfer: FtpTransfer, request: Request, command: FtpCommand) -> Response:
        stopped = self._signals.send_headers(request, _as_received(file_headers(request.url)), None)
        if stopped is not None and not stopped.fail:  # refused by the media type of its name
            return file_response(request, file_headers(request.url), b"", ["download_stopped"])
        tag = request.headers.get(b"If-None-Match")
        if tag is not None:
            reply = await self._run(transfer, request, replace(command, only_metadata=True))
            headers = file_headers(request.url, transfer.modified, transfer.length)
            if not reply and headers.get("ETag", "").encode() == tag:
                return Response(request.url, status=304, headers=headers)
        reply = await self._run(transfer, request, command)
        if reply.startswith(_FILE_UNAVAILABLE):
            return await self._missing(transfer, request, command, reply)
        if reply:
            return refusal_response(request, reply)
        flags = ["download_stopped"] if transfer.stopped is not None else None
        size = transfer.length if transfer.length >= 0 else transfer.size
        return file_response(
            request, file_headers(request.url, transfer.modified, size), transfer.body, flags
        )

    async def _missing(
        self, transfer: FtpTransfer, request: Request, command: FtpCommand, reply: str
    ) -> Response:
        """Redirect to the directory if the URL only lacks its slash; else return the error response."""
        directory = replace(command, url=command.url + "/", only_metadata=True)
        if await self._run(transfer, request, directory):
            return refusal_response(request, reply)
        return Response(request.url, status=301, headers={"Location": request.url + "/"})

    # ---- directories

    async def _list(self, transfer: FtpTransfer, request: Request, command: FtpCommand) -> Response:
        site = site_of(request.url)
        if site not in self._without_mlsd:
            reply = await self._run(transfer, request, replace(command, use_mlsd=True), MAX_LISTING_BYTES)
            if not reply:
                return listing_response(request, entry_urls(request.url, parse_mlsd(transfer.body)))
            if reply[:3] not in _UNKNOWN_COMMAND:
                return refusal_response(request, reply)
            self._without_mlsd.add(site)
        reply = await self._run(transfer, request, command, MAX_LISTING_BYTES)
        if reply:
            return refusal_response(request, reply)
        return listing_response(request, entry_urls(request.url, parse_list(transfer.body)))

    # ---- one command

    async def _run(
        self, transfer: FtpTransfer, request: Request, command: FtpCommand, largest: int = 0
    ) -> str:
        """Run a command; returns the error reply, empty for success. Raises Scrapy's download exceptions."""
        meta = request.meta
        seconds = float(meta.get("download_timeout") or self._timeout)
        limits = Limits(seconds, largest or int(meta.get("download_maxsize", self._maxsize)))
        signals = None if largest or not self._signals.has_receivers else self._signals
        try:
            transfer.prepare(command, limits, request, signals)
        except pycurl.error as error:
            raise DownloadFailedError(f"the request cannot be sent: {error}") from error
        code, text = await self._loop.run(transfer.curl)
        meta["download_latency"] = transfer.curl.getinfo(pycurl.STARTTRANSFER_TIME)
        return self._reply(transfer, code, text)

    @staticmethod
    def _reply(transfer: FtpTransfer, code: int, text: str) -> str:
        if not code or transfer.stopped is not None:
            return ""
        if code == pycurl.E_FILESIZE_EXCEEDED:
            raise DownloadCancelledError("the file is larger than DOWNLOAD_MAXSIZE")
        # libcurl reports a time-out when a server closes with 421 (RFC 959 5.4), although it has replied.
        in_time = code != pycurl.E_OPERATION_TIMEDOUT or transfer.reply.startswith("421")
        if transfer.reply and in_time and not transfer.too_large:
            return transfer.reply
        raise transfer_error(transfer, code, text)


def _as_received(headers: dict[str, str]) -> dict[bytes, list[bytes]]:
    return {name.encode(): [value.encode()] for name, value in headers.items()}


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
        headers["Last-Modified"] = http_date(modified)
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
