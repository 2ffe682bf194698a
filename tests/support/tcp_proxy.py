"""A TCP proxy that stalls, drops and half-closes what goes through it, and may be turned to another server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit


class TcpProxy:
    """Passes connections of loopback on to a server; its faults hit all connections that are open."""

    def __init__(self, url: str, port: int) -> None:
        self.turn(url)
        self.port = port
        parts = urlsplit(url)
        self.url = parts._replace(netloc=f"{parts.username}@127.0.0.1:{port}").geturl()
        """The URL of the server, through the proxy."""
        self._flowing = threading.Event()
        self._flowing.set()
        self._open: set[tuple[socket.socket, socket.socket]] = set()

    def turn(self, url: str) -> None:
        """Have new connections go to another server."""
        parts = urlsplit(url)
        self._to = (parts.hostname, parts.port)

    def stall(self) -> None:
        """Pass nothing on, either way, until `flow`: the connections stay, and new ones get no answer."""
        self._flowing.clear()

    def flow(self) -> None:
        """Pass on what came, and what comes."""
        self._flowing.set()

    def drop(self) -> None:
        """End all connections at once, at both ends; what was stalled is lost."""
        for pair in list(self._open):
            for end in pair:
                _shut(end, socket.SHUT_RDWR)

    def half_close(self) -> None:
        """Tell clients that the server has closed, and the server nothing: it goes on with what it got."""
        for client, _ in list(self._open):
            _shut(client, socket.SHUT_WR)

    def accept(self, listening: socket.socket) -> None:
        """Serve clients until the listening socket is closed."""
        while True:
            try:
                client, _ = listening.accept()
                server = socket.create_connection(self._to)
            except ConnectionError:
                client.close()
                continue
            except OSError:
                return  # closed
            threading.Thread(target=self._serve, args=(client, server), daemon=True).start()

    def _serve(self, client: socket.socket, server: socket.socket) -> None:
        with client, server:
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._open.add((client, server))
            answers = threading.Thread(target=self._pass_on, args=(server, client), daemon=True)
            answers.start()
            self._pass_on(client, server)
            answers.join()
            self._open.discard((client, server))

    def _pass_on(self, here: socket.socket, there: socket.socket) -> None:
        with suppress(OSError):
            while data := here.recv(1 << 16):
                self._flowing.wait()
                there.sendall(data)
        _shut(there, socket.SHUT_WR)


def _shut(one: socket.socket, how: int) -> None:
    with suppress(OSError):
        one.shutdown(how)


@contextmanager
def tcp_proxy(url: str) -> Iterator[TcpProxy]:
    """Run a proxy in front of a server while the block runs."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        proxy = TcpProxy(url, listening.getsockname()[1])
        threading.Thread(target=proxy.accept, args=(listening,), daemon=True).start()
        try:
            yield proxy
        finally:
            _shut(listening, socket.SHUT_RDWR)
            proxy.flow()
            proxy.drop()
