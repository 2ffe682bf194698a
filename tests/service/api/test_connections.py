"""Connections that are silent, slow or many: each is given seconds, and none shuts others out."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable

import httpx
import pytest
from service.api.conftest import Api
from support.leaping_loop import LeapingLoop

from ultracrawl.service.api import connections
from ultracrawl.service.api.connections import BODY_TIMEOUT, HEAD_TIMEOUT, READ_TIMEOUT
from ultracrawl.service.api.middleware.guard import RequestGuard
from ultracrawl.service.api.serving import make_server, open_socket

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
POST = b"POST /api/v1/reload HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 500\r\n\r\n"
Trial = Callable[["Served"], Awaitable[None]]


class Served:
    """A served API, in this loop."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def dial(self, begin: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(begin)
        return reader, writer

    async def health(self) -> bytes:
        reader, writer = await self.dial(HEALTH + b"Connection: close\r\n\r\n")
        answer = await reader.read()
        writer.close()
        return answer

    async def drip(self, begin: bytes) -> tuple[float, bytes]:
        """Send a byte a second until the server has had enough; return the seconds, and what it said."""
        reader, writer = await self.dial(begin)
        loop = asyncio.get_running_loop()
        began, reading = loop.time(), asyncio.ensure_future(reader.read())
        while not reading.done() and loop.time() < began + 500:
            writer.write(b"x")
            await asyncio.sleep(1)
        writer.close()
        return loop.time() - began, await reading


def run(api: Api, trial: Trial) -> None:
    """Serve the API in a loop where time costs nothing."""

    async def tried() -> None:
        listening = open_socket("127.0.0.1", 0)
        server = make_server(api.app)
        serving = asyncio.ensure_future(server.serve([listening]))
        while not server.started:
            await asyncio.sleep(0)
        await trial(Served(listening.getsockname()[1]))
        server.should_exit = True
        await serving

    with asyncio.Runner(loop_factory=LeapingLoop) as runner:
        runner.run(tried())


def problem_of(answer: bytes) -> dict[str, object]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head
    problem: dict[str, object] = json.loads(body)
    return problem


@pytest.mark.parametrize(
    ("begin", "limit"),
    [
        (HEALTH + b"X: ", HEAD_TIMEOUT),
        (HEALTH + b"\r\n" + HEALTH + b"X: ", HEAD_TIMEOUT),
        (POST, BODY_TIMEOUT),
        (HEALTH + b"\r\n" + POST, BODY_TIMEOUT),
    ],
    ids=["head", "second head", "body", "second body"],
)
def test_a_request_arrives_within_seconds(api: Api, begin: bytes, limit: float) -> None:
    async def trial(served: Served) -> None:
        took, said = await served.drip(begin)
        assert limit - 1 <= took <= limit + 2
        assert problem_of(b"HTTP/1.1 408" + said.rpartition(b"HTTP/1.1 408")[2])["status"] == 408

    run(api, trial)


def test_the_parts_of_an_answer_are_sent_at_once(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the body waits until the client has confirmed the head, which takes it 40 ms."""
    found: list[int] = []
    made = connections.BoundedConnection.connection_made

    def noted(self: connections.BoundedConnection, transport: asyncio.Transport) -> None:
        opened = transport.get_extra_info("socket")
        found.append(opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        made(self, transport)

    monkeypatch.setattr(connections.BoundedConnection, "connection_made", noted)

    async def trial(served: Served) -> None:
        await served.health()

    run(api, trial)
    assert found == [1]


def test_a_silent_connection_is_closed_without_a_word(api: Api) -> None:
    async def trial(served: Served) -> None:
        reader, writer = await served.dial()
        assert await reader.read() == b""
        writer.close()

    run(api, trial)


def test_what_is_no_http_is_answered_by_a_problem(api: Api) -> None:
    async def trial(served: Served) -> None:
        reader, writer = await served.dial(b"\x00\x01\r\n\r\n")
        assert problem_of(await reader.read())["status"] == 400
        writer.close()

    run(api, trial)


def test_a_client_that_does_not_read_is_left(api: Api) -> None:
    async def trial(served: Served) -> None:
        transport = Unread()
        loop = asyncio.get_running_loop()
        server = make_server(api.app)
        connection = connections.BoundedConnection(server.config, server.server_state, {})
        connection.connection_made(transport)
        connection.pause_writing()
        await asyncio.sleep(READ_TIMEOUT - HEAD_TIMEOUT)
        connection.resume_writing()
        connection.pause_writing()
        began = loop.time()
        while not transport.aborted:
            await asyncio.sleep(1)
        assert READ_TIMEOUT - 1 <= loop.time() - began <= READ_TIMEOUT + 2

    run(api, trial)


class Unread(asyncio.Transport):
    """A transport that nobody reads from."""

    aborted = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        pass

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        pass

    def abort(self) -> None:
        self.aborted = True


def test_new_connections_replace_those_that_wait_longest(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 5)

    async def trial(served: Served) -> None:
        waiting = [await served.dial() for _ in range(5)]
        assert b"200 OK" in await served.health()
        assert await waiting[0][0].read() == b""
        assert not waiting[4][0].at_eof()
        for _ in range(20):
            waiting.append(await served.dial(HEALTH))
            assert b"200 OK" in await served.health()
        for _, writer in waiting:
            writer.close()

    run(api, trial)


def test_health_is_answered_when_all_places_are_taken(api: Api) -> None:
    async def asked() -> None:
        entered, free = asyncio.Event(), asyncio.Event()

        async def app(scope: object, receive: object, send: Callable[..., Awaitable[None]]) -> None:
            assert isinstance(scope, dict)
            if scope["path"] == "/work":
                entered.set()
                await free.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})

        guard = RequestGuard(app, hosts={"127.0.0.1"}, max_requests=1)
        transport = httpx.ASGITransport(guard)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            first = asyncio.ensure_future(client.get("/work"))
            await entered.wait()
            refused = await client.get("/other")
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            assert refused.headers["content-type"] == "application/problem+json"
            assert (await client.get("/healthz")).status_code == 200
            free.set()
            assert (await first).status_code == 200
            assert (await client.get("/other")).status_code == 200

    asyncio.run(asked())
