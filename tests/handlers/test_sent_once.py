"""What becomes of a request whose connection ends without an answer, over real connections on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import DownloadFailedError

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Breaking:
    """A server that answers, but ends the connection of requests for `/break`; the first `times` of them."""

    def __init__(self, times: int) -> None:
        self.left = times

    def __call__(self, request: bytes) -> Iterator[bytes | float]:
        if b" /break " in request.split(b"\r\n")[0] and self.left:
            self.left -= 1
            raise ConnectionAbortedError
        yield OK


def methods(server: Any) -> list[str]:
    return [request.split(b" HTTP/")[0].decode().replace(" /", " ") for request in server.requests]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
@pytest.mark.parametrize("body", [b"user=robot", b""], ids=["body", "no-body"])
def test_a_request_that_may_change_something_goes_out_once(
    client: Any, serve: Any, method: str, body: bytes
) -> None:
    server = serve(Breaking(9), keep=True)
    handler = client.handler()
    client.send(handler, Request(server.url + "first"))
    with pytest.raises(DownloadFailedError):
        client.send(handler, Request(server.url + "break", method=method, body=body))
    assert methods(server) == ["GET first", f"{method} break"]


def test_it_has_a_connection_of_its_own_and_others_are_kept(client: Any, serve: Any) -> None:
    server = serve(Breaking(0), keep=True)
    handler = client.handler()
    for method in ("GET", "GET", "POST", "POST"):
        client.send(handler, Request(server.url, method=method))
    assert server.connections == 3


def test_a_get_is_asked_again_on_a_new_connection(client: Any, serve: Any) -> None:
    server = serve(Breaking(1), keep=True)
    handler = client.handler()
    client.send(handler, Request(server.url + "first"))
    (response,) = client.send(handler, Request(server.url + "break"))
    assert response.body == b"ok"
    assert methods(server) == ["GET first", "GET break", "GET break"]
