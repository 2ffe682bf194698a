"""A proxy on loopback through which programs that open connections themselves reach allowed addresses only."""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import socket
from base64 import b64encode
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ultracrawl.handlers.oversight import AddressGuard
    from ultracrawl.model import Decision

logger = logging.getLogger(__name__)

LARGEST_HEAD = 256 << 10
"""Bytes of the head of a request or an answer."""
CONNECTING = 15.0
"""Seconds for a connection, and for the head of a request."""
REMEMBERED = 10_000
"""Hosts whose refusal is remembered; when there are more, all are forgotten."""
_PIECE = 1 << 16
_HOP = (b"proxy-", b"connection:", b"keep-alive:")
"""How header lines begin that are for the proxy, and no further."""
_CLOSING = b"Content-Length: 0\r\nConnection: close\r\n\r\n"
_LOGIN = (
    b'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="egress"\r\n' + _CLOSING
)
_REFUSED = b"HTTP/1.1 403 Forbidden\r\n" + _CLOSING


class _Request(NamedTuple):
    method: bytes
    host: str
    port: int
    head: bytes
    """What the server gets as head; empty for a tunnel."""
    length: int
    """Bytes of the body that follows."""


class EgressProxy:
    """Opens tunnels, and forwards requests of http, one a connection, for those who know its password.

    A name is looked up once, each of its addresses is checked, and an address that passed is connected to. Where
    nothing can be connected to, http gets no answer at all: an invented one would be taken for the page.
    """

    user = "crawl"

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard
        self.password = secrets.token_urlsafe(24)
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=256)
        self._server: asyncio.Task[asyncio.Server] | None = None
        self._clients: set[asyncio.Task[None]] = set()
        self._refused: dict[str, Decision] = {}

    @property
    def url(self) -> str:
        """Where the proxy is, without its password."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    @property
    def authorization(self) -> str:
        """The value of Proxy-Authorization that opens the proxy."""
        return "Basic " + b64encode(f"{self.user}:{self.password}".encode()).decode()

    def refusal_of(self, host: str) -> Decision | None:
        """Return the answer of the guard for a host to which it refused every connection."""
        return self._refused.get(host)

    async def open(self) -> None:
        """Take connections; those who came before have waited."""
        if self._server is None:
            serving = asyncio.start_server(self._serve, sock=self._socket, limit=LARGEST_HEAD)
            self._server = asyncio.ensure_future(serving)
        await asyncio.shield(self._server)

    async def close(self) -> None:
        """Take no more connections, and end those that are open."""
        if self._server is not None:
            (await self._server).close()
        self._socket.close()
        for client in self._clients:
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        try:
            await self._answer(reader, writer)
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            logger.debug("A connection through the guard ended: %s", error)
        finally:
            self._clients.discard(task)
            await _end(writer)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(CONNECTING):
            head = await reader.readuntil(b"\r\n\r\n")
        if not self._may_ask(head):
            writer.write(_LOGIN)
            return
        request = _read_head(head)
        try:
            up_reader, up_writer = await self._connect(request)
        except OSError:
            if not request.head:
                writer.write(_REFUSED)
            return
        try:
            if request.head:
                await _forward(request, reader, writer, up_reader, up_writer)
            else:
                writer.write(b"HTTP/1.1 200 Connection Established\r\n\r\n")
                await _join(reader, writer, up_reader, up_writer)
        finally:
            await _end(up_writer)

    def _may_ask(self, head: bytes) -> bool:
        given = next((line for line in _header_lines(head) if _name(line) == b"proxy-authorization"), b":")
        return hmac.compare_digest(given.partition(b":")[2].strip(), self.authorization.encode())

    async def _connect(self, request: _Request) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the first address of a host that may be connected to and answers. Raises OSError."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(request.host, request.port, type=socket.SOCK_STREAM)
        error: OSError = ConnectionRefusedError(f"{request.host} has no address that may be connected to")
        refused: Decision | None = None
        passed = False
        for address in dict.fromkeys(str(one[4][0]) for one in found):
            decision = self._guard.check(address.partition("%")[0])
            if not decision.accept:
                refused = decision
                continue
            passed = True
            try:
                async with asyncio.timeout(CONNECTING):
                    return await asyncio.open_connection(address, request.port, limit=LARGEST_HEAD)
            except OSError as failed:  # a time-out is one, too
                error = failed
        if refused is not None and not passed:
            self._note_refusal(request.host, refused)
        raise error

    def _note_refusal(self, host: str, decision: Decision) -> None:
        if len(self._refused) >= REMEMBERED:
            self._refused.clear()
        self._refused[host] = decision


def _header_lines(head: bytes) -> Iterable[bytes]:
    return head.rstrip(b"\r\n").split(b"\r\n")[1:]


def _length(lines: Iterable[bytes]) -> int | None:
    return next((int(line.partition(b":")[2]) for line in lines if _name(line) == b"content-length"), None)


def _name(line: bytes) -> bytes:
    return line.partition(b":")[0].strip().lower()


def _read_head(head: bytes) -> _Request:
    """Read what a client asks for. Raises ValueError for what this proxy does not do."""
    first, *lines = head.rstrip(b"\r\n").split(b"\r\n")
    method, target, _ = first.split(b" ")
    parts = urlsplit(f"//{target.decode('ascii')}" if method == b"CONNECT" else target.decode("ascii"))
    if not parts.hostname or parts.scheme not in ("", "http"):
        raise ValueError("neither a tunnel nor a URL of http")
    if method == b"CONNECT":
        return _Request(method, parts.hostname, parts.port or 443, b"", 0)
    names = [_name(line) for line in lines]
    if any(b"\n" in line or line[:1].isspace() for line in lines):
        raise ValueError("a header is written in several lines")
    if b"transfer-encoding" in names or names.count(b"content-length") > 1:
        raise ValueError("the length of the body is not said")
    length = _length(lines) or 0
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    kept = [line for line in lines if not line.lower().startswith(_HOP)]
    rewritten = [b"%b %b HTTP/1.1" % (method, path.encode()), *kept, b"Connection: close", b"", b""]
    return _Request(method, parts.hostname, parts.port or 80, b"\r\n".join(rewritten), length)


async def _forward(
    request: _Request,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    up_reader: asyncio.StreamReader,
    up_writer: asyncio.StreamWriter,
) -> None:
    """Pass on one request and its answer, and say that the connection ends: the next one may be for another server."""
    up_writer.write(request.head)
    sending = asyncio.ensure_future(_send_body(request.length, reader, up_writer))
    try:
        while True:
            head = await up_reader.readuntil(b"\r\n\r\n")
            status, *lines = head.rstrip(b"\r\n").split(b"\r\n")
            kept = [line for line in lines if not line.lower().startswith(_HOP)]
            writer.write(b"\r\n".join([status, *kept, b"Connection: close", b"", b""]))
            if not _is_interim(status):
                break
        bodiless = request.method == b"HEAD" or status.split(b" ")[1:2] in ([b"204"], [b"304"])
        await _copy(up_reader, writer, 0 if bodiless else _length(lines))
    finally:
        sending.cancel()


def _is_interim(status: bytes) -> bool:
    return status.split(b" ")[1:2] in ([b"100"], [b"102"], [b"103"])


async def _send_body(length: int, reader: asyncio.StreamReader, up_writer: asyncio.StreamWriter) -> None:
    await _copy(reader, up_writer, length)
    if not await reader.read(1):  # the client went away, or wants something else
        up_writer.close()


async def _join(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    up_reader: asyncio.StreamReader,
    up_writer: asyncio.StreamWriter,
) -> None:
    """Pass bytes both ways until one side ends."""
    ways = [asyncio.ensure_future(_copy(reader, up_writer)), asyncio.ensure_future(_copy(up_reader, writer))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


async def _copy(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, length: int | None = None
) -> None:
    """Pass on so many bytes, without a length all that come; fewer if one side ends."""
    while length is None or length > 0:
        piece = await reader.read(_PIECE if length is None else min(length, _PIECE))
        if not piece:
            return
        length = None if length is None else length - len(piece)
        writer.write(piece)
        await writer.drain()


async def _end(writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        if not writer.transport.is_closing():
            await writer.drain()
        writer.close()
