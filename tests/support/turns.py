"""A TCP proxy that counts the round trips of a client: how often it sends again after it was answered."""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit


class Turns:
    """The round trips that all connections through a proxy have made."""

    def __init__(self, url: str, port: int) -> None:
        parts = urlsplit(url)
        self.url = parts._replace(netloc=f"{parts.username}@127.0.0.1:{port}").geturl()
        """The URL of the server, through the proxy."""
        self.number = 0
        self.to = parts.hostname, parts.port


@contextmanager
def counted_turns(url: str) -> Iterator[Turns]:
    """Run a proxy in front of a server while the block runs."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        turns = Turns(url, listening.getsockname()[1])
        threading.Thread(target=_accept, args=(listening, turns), daemon=True).start()
        yield turns


def _accept(listening: socket.socket, turns: Turns) -> None:
    while True:
        try:
            client, _ = listening.accept()
        except OSError:
            return  # closed
        threading.Thread(target=_pass_on, args=(client, turns), daemon=True).start()


def _pass_on(client: socket.socket, turns: Turns) -> None:
    answered = True
    with client, socket.create_connection(turns.to) as server, selectors.DefaultSelector() as ready:
        for one in (client, server):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            ready.register(one, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                asks = key.fileobj is client
                if not (data := (client if asks else server).recv(1 << 20)):
                    return
                turns.number += asks and answered
                answered = not asks
                (server if asks else client).sendall(data)
