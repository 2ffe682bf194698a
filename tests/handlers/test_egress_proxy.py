"""The proxy on loopback that guards programs which open connections themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from ipaddress import ip_network
from typing import Any

import pytest
from handlers.raw_server import RawServer

from ultracrawl.handlers.guarding.egress import EgressProxy
from ultracrawl.rules.boundary.addresses import AddressPolicy

LOOPBACK = AddressPolicy((ip_network("127.0.0.1/32"),))
ANSWER = b"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=9\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"


def sent(text: str, policy: AddressPolicy = LOOPBACK, *, login: bool = True, then: str = "") -> bytes:
    """Return what the proxy answers to a head (and `then`, once it answered) until it ends the connection."""

    async def converse() -> bytes:
        proxy = EgressProxy(policy)
        await proxy.open()
        reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rsplit(":", 1)[1]))
        head = text + (f"Proxy-Authorization: {proxy.authorization}\r\n" if login else "") + "\r\n"
        writer.write(head.encode())
        got = b""
        if then:
            got = await reader.readuntil(b"\r\n\r\n")
            writer.write(then.encode())
        try:
            async with asyncio.timeout(10):
                return got + await reader.read()
        finally:
            writer.close()
            await proxy.close()

    return asyncio.run(converse())


def test_http_is_forwarded_without_what_is_for_the_proxy(serve: Callable[..., RawServer]) -> None:
    server = serve(ANSWER, keep=True)
    line = f"GET http://127.0.0.1:{server.port}/a?b HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nProxy-Connection: keep-alive\r\n"
    answer = sent(line, then=f"GET http://127.0.0.1:{server.port}/other HTTP/1.1\r\nCookie: secret\r\n\r\n")
    assert server.requests == [b"GET /a?b HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nConnection: close\r\n\r\n"]
    assert answer == b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


def test_an_interim_answer_comes_through(serve: Callable[..., RawServer]) -> None:
    server = serve(b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + ANSWER)
    answer = sent(f"GET http://127.0.0.1:{server.port}/ HTTP/1.1\r\n")
    assert answer.startswith(b"HTTP/1.1 103 Early\r\n")
    assert answer.endswith(b"\r\n\r\nok")


def test_a_body_is_forwarded_up_to_its_length(serve: Callable[..., RawServer]) -> None:
    server = serve(b"HTTP/1.1 100 Continue\r\n\r\n" + ANSWER)
    line = f"POST http://127.0.0.1:{server.port}/ HTTP/1.1\r\nContent-Length: 4\r\n"

    async def post() -> None:
        proxy = EgressProxy(LOOPBACK)
        await proxy.open()
        reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rsplit(":", 1)[1]))
        writer.write(f"{line}Proxy-Authorization: {proxy.authorization}\r\n\r\nfourGET /smuggled".encode())
        async with asyncio.timeout(10):
            await reader.read()
        writer.close()
        await proxy.close()

    asyncio.run(post())
    assert [one.split(b"\r\n\r\n")[1] for one in server.requests] == [b"four"]


def test_a_tunnel_passes_bytes_both_ways(serve: Callable[..., RawServer]) -> None:
    server = serve(ANSWER)
    answer = sent(f"CONNECT 127.0.0.1:{server.port} HTTP/1.1\r\n", then="GET / HTTP/1.1\r\nX-Own: 1\r\n\r\n")
    assert answer == b"HTTP/1.1 200 Connection Established\r\n\r\n" + ANSWER
    assert server.requests == [b"GET / HTTP/1.1\r\nX-Own: 1\r\n\r\n"]


@pytest.mark.parametrize("login", [True, False])
def test_nobody_gets_through_who_does_not_know_the_password(
    serve: Callable[..., RawServer], login: bool
) -> None:
    server = serve(ANSWER)
    answer = sent(f"GET {server.url} HTTP/1.1\r\n", login=login)
    assert answer.startswith(b"HTTP/1.1 200" if login else b"HTTP/1.1 407")
    assert server.connections == int(login)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433"])
def test_p1_a_refused_address_gets_no_connection_and_the_client_no_page(
    serve: Callable[..., RawServer], host: str
) -> None:
    server, nothing = serve(ANSWER), AddressPolicy()
    assert sent(f"GET http://{host}:{server.port}/ HTTP/1.1\r\n", nothing) == b""
    assert sent(f"CONNECT {host}:{server.port} HTTP/1.1\r\n", nothing).startswith(b"HTTP/1.1 403")
    assert server.connections == 0


@pytest.mark.parametrize(
    "head",
    [
        "GET / HTTP/1.1\r\n",
        "GET ftp://127.0.0.1/ HTTP/1.1\r\n",
        "GET\r\n",
        "POST {url} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n",
        "POST {url} HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n",
        "GET {url} HTTP/1.1\r\nX-A: 1\r\n folded\r\n",
        "GET {url} HTTP/1.1\r\nX-A: 1\nTransfer-Encoding: chunked\r\n",
    ],
)
def test_what_the_proxy_does_not_understand_goes_nowhere(serve: Callable[..., Any], head: str) -> None:
    server = serve(ANSWER)
    assert sent(head.format(url=server.url)) == b""
    assert server.connections == 0
