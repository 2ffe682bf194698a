"""A proxy on the loopback interface that restricts third-party clients to allowed addresses."""

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

    from ultracrawl.handlers.download_control import AddressGuard
    from ultracrawl.model import Decision

logger = logging.getLogger(__name__)

MAX_HEAD_BYTES = 256 << 10
"""Maximum bytes of the head of a request or response."""
CONNECT_TIMEOUT = 15.0
"""Seconds for a connection, and for the head of a request."""
MAX_REFUSED_HOSTS = 10_000
"""Hosts whose refusal is remembered; when there are more, all are forgotten."""
_CHUNK_BYTES = 1 << 16
_HOP_BY_HOP = (b"proxy-", b"connection:", b"keep-alive:")
"""Prefixes of header lines that are not forwarded."""
_CLOSING = b"Content-Length: 0\r\nConnection: close\r\n\r\n"
_LOGIN_REQUIRED = (
    b'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="egress"\r\n' + _CLOSING
)
_REFUSED = b"HTTP/1.1 403 Forbidden\r\n" + _CLOSING


class _Request(NamedTuple):
    method: bytes
    host: str
    port: int
    head: bytes
    """The head sent to the server; empty for a tunnel."""
    length: int
    """Bytes of the body."""


class EgressProxy:
    """Opens tunnels, and forwards http requests (one per connection), for clients with its password.

    It resolves a host once, checks each address, and connects to one that is allowed. If it cannot connect, an http
    request gets no response at all: the client would take a response of the proxy for the page.
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
        """The URL of the proxy, without its password."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    @property
    def authorization(self) -> str:
        """The value of Proxy-Authorization for the proxy."""
        return "Basic " + b64encode(f"{self.user}:{self.password}".encode()).decode()

    def refusal_of(self, host: str) -> Decision | None:
        """Return the decision of the guard for a host whose addresses were all refused."""
        return self._refused.get(host)

    async def open(self) -> None:
        """Start accepting connections; earlier ones wait in the backlog."""
        if self._server is None:
            serving = asyncio.start_server(self._serve, sock=self._socket, limit=MAX_HEAD_BYTES)
            self._server = asyncio.ensure_future(serving)
        await asyncio.shield(self._server)

    async def close(self) -> None:
        """Stop accepting connections, and close the open ones."""
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
            await self._handle(reader, writer)
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            logger.debug("A connection through the guard ended: %s", error)
        finally:
            self._clients.discard(task)
            await _close(writer)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(CONNECT_TIMEOUT):
            head = await reader.readuntil(b"\r\n\r\n")
        if not self._is_authorized(head):
            writer.write(_LOGIN_REQUIRED)
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
                await _relay(reader, writer, up_reader, up_writer)
        finally:
            await _close(up_writer)

    def _is_authorized(self, head: bytes) -> bool:
        header = next((line for line in _header_lines(head) if _name(line) == b"proxy-authorization"), b":")
        return hmac.compare_digest(header.partition(b":")[2].strip(), self.authorization.encode())

    async def _connect(self, request: _Request) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the first allowed address of a host that accepts the connection. Raises OSError."""
        loop = asyncio.get_running_loop()
        resolved = await loop.getaddrinfo(request.host, request.port, type=socket.SOCK_STREAM)
        error: OSError = ConnectionRefusedError(f"{request.host} has no allowed address")
        refused: Decision | None = None
        passed = False
        for address in dict.fromkeys(str(info[4][0]) for info in resolved):
            decision = self._guard.check(address.partition("%")[0])
            if not decision.accept:
                refused = decision
                continue
            passed = True
            try:
                async with asyncio.timeout(CONNECT_TIMEOUT):
                    return await asyncio.open_connection(address, request.port, limit=MAX_HEAD_BYTES)
            except OSError as failed:  # TimeoutError is a subclass
                error = failed
        if refused is not None and not passed:
            self._note_refusal(request.host, refused)
        raise error

    def _note_refusal(self, host: str, decision: Decision) -> None:
        if len(self._refused) >= MAX_REFUSED_HOSTS:
            self._refused.clear()
        self._refused[host] = decision


def _header_lines(head: bytes) -> Iterable[bytes]:
    return head.rstrip(b"\r\n").split(b"\r\n")[1:]


def _length(lines: Iterable[bytes]) -> int | None:
    return next((int(line.partition(b":")[2]) for line in lines if _name(line) == b"content-length"), None)


def _name(line: bytes) -> bytes:
    return line.partition(b":")[0].strip().lower()


def _read_head(head: bytes) -> _Request:
    """Parse the request of a client. Raises ValueError if it is invalid or not supported."""
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
        raise ValueError("the request does not state the length of its body")
    length = _length(lines) or 0
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    kept = [line for line in lines if not line.lower().startswith(_HOP_BY_HOP)]
    rewritten = [b"%b %b HTTP/1.1" % (method, path.encode()), *kept, b"Connection: close", b"", b""]
    return _Request(method, parts.hostname, parts.port or 80, b"\r\n".join(rewritten), length)


async def _forward(
    request: _Request,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    up_reader: asyncio.StreamReader,
    up_writer: asyncio.StreamWriter,
) -> None:
    """Forward one request and its response, then close the connection: the next request may be for another server."""
    up_writer.write(request.head)
    sending = asyncio.ensure_future(_send_body(request.length, reader, up_writer))
    try:
        while True:
            head = await up_reader.readuntil(b"\r\n\r\n")
            status, *lines = head.rstrip(b"\r\n").split(b"\r\n")
            kept = [line for line in lines if not line.lower().startswith(_HOP_BY_HOP)]
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
    if not await reader.read(1):  # the client disconnected
        up_writer.close()


async def _relay(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    up_reader: asyncio.StreamReader,
    up_writer: asyncio.StreamWriter,
) -> None:
    """Copy bytes in both directions until one side closes."""
    copying = [
        asyncio.ensure_future(_copy(reader, up_writer)),
        asyncio.ensure_future(_copy(up_reader, writer)),
    ]
    try:
        await asyncio.wait(copying, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in copying:
            task.cancel()
        await asyncio.gather(*copying, return_exceptions=True)


async def _copy(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, length: int | None = None
) -> None:
    """Copy `length` bytes, None for all; fewer if one side closes."""
    while length is None or length > 0:
        chunk = await reader.read(_CHUNK_BYTES if length is None else min(length, _CHUNK_BYTES))
        if not chunk:
            return
        length = None if length is None else length - len(chunk)
        writer.write(chunk)
        await writer.drain()


async def _close(writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        if not writer.transport.is_closing():
            await writer.drain()
        writer.close()
