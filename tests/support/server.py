"""An HTTP/1.1 server on loopback for tests: one thread, one event loop, many kept-alive connections."""

import asyncio
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus

from support.free_port import free_port
from support.resource import Drip, Reply

_MOST_UNSENT = 1 << 20
_LOOK_EVERY = 0.01
"""Seconds between two looks at whether an answer that is held may go."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came in; header names are lower case, repeated headers are joined by a comma."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    time: float
    """`time.monotonic()` at the moment the request was complete."""
    status: int = 0
    """The status sent; 0 for a raw answer."""
    sent: int = 0
    """Bytes of body sent, as planned: a client may have gone before."""

    def header(self, name: str) -> str | None:
        """Return a header by its name in any case, or None."""
        return self.headers.get(name.lower())

    @property
    def keeps_alive(self) -> bool:
        """Say whether the connection stays open after the answer."""
        return "close" not in self.headers.get("connection", "").lower()


class Server:
    """Serves what `answer` returns on one address until `stop`; `answer` runs on the server's thread.

    Afterwards the address refuses connections: no other server gets it (`free_port`).
    """

    def __init__(
        self,
        answer: Callable[[Request], Reply],
        host: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._tls = tls
        self.host = host
        self.port = port or free_port(host)
        self._answer = answer
        self._started: Future[int] = Future()
        self._stopping: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._connections: set[_Connection] = set()
        self._thread = threading.Thread(target=self._run, name="test site", daemon=True)

    @property
    def url(self) -> str:
        """The address without a slash at its end."""
        return f"{'https' if self._tls else 'http'}://{self.host}:{self.port}"

    def start(self) -> None:
        """Return when the server accepts connections; raise OSError when the address cannot be had."""
        self._thread.start()
        self.port = self._started.result(timeout=100)

    def stop(self) -> None:
        """Drop all connections and return when the thread has ended."""
        if self._loop is not None and self._stopping is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(timeout=100)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except OSError as error:
            self._started.set_exception(error)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        server = await self._loop.create_server(
            self._connection, self.host, self.port, backlog=512, ssl=self._tls
        )
        self._started.set_result(server.sockets[0].getsockname()[1])
        await self._stopping.wait()
        server.close()
        for connection in list(self._connections):
            connection.abort()
        await server.wait_closed()

    def _connection(self) -> "_Connection":
        return _Connection(self._answer, self._connections)


class _Connection(asyncio.Protocol):
    """One client: takes requests off the wire one after the other and writes the answers in that order."""

    _transport: asyncio.Transport

    def __init__(self, answer: Callable[[Request], Reply], peers: set["_Connection"]) -> None:
        self._answer = answer
        self._peers = peers
        self._buffer = bytearray()
        self._busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._peers.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._peers.discard(self)

    def abort(self) -> None:
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._advance()

    def _advance(self) -> None:
        while not self._busy and not self._transport.is_closing():
            try:
                request = _take(self._buffer)
            except ValueError:
                self._write(Request("", "", {"connection": "close"}, b"", 0.0), Reply(400))
                return
            if request is None:
                return
            self._plan(request, self._answer(request))

    def _plan(self, request: Request, reply: Reply) -> None:
        held = reply.until is not None and not reply.until.is_set()
        if not reply.delay and not held:
            self._write(request, reply)
            return
        self._busy = True
        if held:
            if reply.begins:
                self._transport.write(_head(request, reply, chunked=False))
                reply = Reply(body=reply.body, raw=True, until=reply.until)
            asyncio.get_running_loop().call_later(_LOOK_EVERY, self._plan, request, reply)
            return
        asyncio.get_running_loop().call_later(reply.delay, self._write, request, reply)

    def _write(self, request: Request, reply: Reply) -> None:
        if self._transport.is_closing():
            return
        if reply.raw:
            self._transport.write(reply.body)
            self._transport.close()
            return
        if reply.drip is not None:
            self._busy = True
            self._transport.write(_head(request, reply, chunked=True))
            self._drip(request, reply.drip, 0)
            return
        head = _head(request, reply, chunked=False)
        self._transport.write(head if request.method == "HEAD" else head + reply.body)
        self._finish(request)

    def _drip(self, request: Request, drip: Drip, done: int) -> None:
        if self._transport.is_closing():
            return
        if done == drip.times:
            self._transport.write(b"0\r\n\r\n")
            self._finish(request)
            return
        if self._transport.get_write_buffer_size() < _MOST_UNSENT:
            self._transport.write(b"%x\r\n%b\r\n" % (len(drip.chunk), drip.chunk))
            done += 1
        asyncio.get_running_loop().call_later(drip.pause, self._drip, request, drip, done)

    def _finish(self, request: Request) -> None:
        if not request.keeps_alive:
            self._transport.close()
        elif self._busy:
            self._busy = False
            self._advance()


def _take(buffer: bytearray) -> Request | None:
    """Cut one complete request off the front of `buffer`; ValueError when it is not HTTP/1."""
    end = buffer.find(b"\r\n\r\n")
    if end < 0:
        return None
    first, *lines = buffer[:end].decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        name, value = name.lower(), value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    stop = end + 4 + int(headers.get("content-length", 0))
    if len(buffer) < stop:
        return None
    body = bytes(buffer[end + 4 : stop])
    del buffer[:stop]
    return Request(method, target, headers, body, time.monotonic())


def _head(request: Request, reply: Reply, *, chunked: bool) -> bytes:
    """Return status line and headers; own headers of the reply win over the computed ones."""
    lines = [f"HTTP/1.1 {reply.status} {_phrase(reply.status)}"]
    lines += [f"{name}: {value}" for name, value in reply.headers]
    given = {name.lower() for name, _ in reply.headers}
    if "date" not in given:
        lines.append(f"Date: {formatdate(usegmt=True)}")
    if chunked:
        lines.append("Transfer-Encoding: chunked")
    elif reply.status not in {204, 304} and "content-length" not in given:
        lines.append(f"Content-Length: {len(reply.body)}")
    if not request.keeps_alive:
        lines.append("Connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Odd"


@contextmanager
def answering(answer: Callable[[Request], Reply]) -> Iterator[str]:
    """Serve what `answer` returns on loopback; gives the address."""
    server = Server(answer)
    server.start()
    try:
        yield server.url
    finally:
        server.stop()
