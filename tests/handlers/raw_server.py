"""A server that answers with exactly the bytes a test wants, one thread a connection, optionally with TLS."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from support.free_port import free_port

Script = Callable[[bytes], Iterator[bytes | float]]
"""Gives for a raw request the pieces to send; a number is a pause in seconds."""


class RawServer:
    """Listens on 127.0.0.1; keeps every raw request and how many connections there were."""

    def __init__(self, script: Script, tls: ssl.SSLContext | None = None, *, keep: bool = False) -> None:
        self.script = script
        self.requests: list[bytes] = []
        self.connections = 0
        self._tls = tls
        self._keep = keep
        self._listener = socket.create_server(("127.0.0.1", free_port()))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}/"
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def close(self) -> None:
        """Stop listening, break all connections, wait for the threads."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in list(self._open):
            _shut(connection)
        for thread in self._threads:
            thread.join(5)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            thread = threading.Thread(target=self._converse, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _converse(self, connection: socket.socket) -> None:
        connection.settimeout(10)
        stream = connection
        try:
            if self._tls:
                stream = self._tls.wrap_socket(connection, server_side=True)
                self._open.append(stream)
            while request := _read(stream):
                self.requests.append(request)
                self._answer(stream, request)
                if not self._keep:
                    break
        except OSError:
            pass
        finally:
            _shut(stream)
            stream.close()
            connection.close()

    def _answer(self, stream: socket.socket, request: bytes) -> None:
        for piece in self.script(request):
            if isinstance(piece, bytes):
                stream.sendall(piece)
            else:
                time.sleep(piece)


def _read(stream: socket.socket) -> bytes:
    """Return one request with the body that its Content-Length announces; empty at the end of the stream."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = stream.recv(65536)
        if not part:
            return b""
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        (
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length")
        ),
        0,
    )
    while len(body) < length:
        body += stream.recv(65536)
    return head + b"\r\n\r\n" + body


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
