"""A free port stays free: nobody else is given it, before and after somebody listens on it."""

import errno
import socket

import pytest
from support.free_port import free_port
from support.resource import Reply
from support.server import Server


def refused(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == errno.ECONNREFUSED


def test_it_refuses_connections_and_lets_a_server_listen() -> None:
    port = free_port()
    assert refused(port)
    with socket.create_server(("127.0.0.1", port)):
        assert not refused(port)
    assert refused(port)


def test_a_server_that_has_stopped_leaves_its_port_to_nobody() -> None:
    server = Server(lambda _: Reply())
    server.start()
    server.stop()
    assert refused(server.port)
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", server.port))  # as one who does not share it, like all who ask for any port


def test_it_is_given_to_nobody_who_asks_for_any_port() -> None:
    port = free_port()
    others = [socket.create_server(("127.0.0.1", 0)) for _ in range(50)]
    try:
        assert port not in {other.getsockname()[1] for other in others}
    finally:
        for other in others:
            other.close()
