"""No handler, ours or foreign, connects to an address that the source may not reach."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any

import pytest
from handlers.conftest import Runner
from handlers.ways import WAYS, Way, connected_addresses
from scrapy.http import Response
from scrapy.resolver import CachingThreadedResolver
from support.listener import Listener
from support.until import until_on_loop
from twisted.internet.address import IPv4Address

from ultracrawl.handlers.guarding.reactor import ConnectionAttempt, guard_reactor
from ultracrawl.model import Decision
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.run.download_errors.kinds import AddressRefusedError

HOSTS = (
    "127.0.0.1",
    "localhost",
    "127.1",
    "0x7f000001",
    "2130706433",
    "[::1]",
    "[::ffff:10.0.0.1]",
    "[64:ff9b::a00:1]",
    "[2002:a00:1::]",
    "172.16.0.5",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
)
OWN = "127.0.0.1"


@dataclass
class Changing:
    """The policy of a source that can be another one for the next test."""

    policy: AddressPolicy = field(default_factory=AddressPolicy)

    def check(self, address: str, host: str) -> Decision:
        return self.policy.check(address, host)


@pytest.fixture(scope="module")
def made(runner: Runner) -> Iterator[dict[str, tuple[Way, Changing]]]:
    made: dict[str, tuple[Way, Changing]] = {}
    yield made
    for way, _ in made.values():
        way.close()


@pytest.fixture
def way_of(made: dict[str, tuple[Way, Changing]], runner: Runner) -> Callable[..., Way]:
    def way_of(kind: str, *networks: str) -> Way:
        if kind not in made:
            guard = Changing()
            made[kind] = Way(kind, runner, guard), guard
        way, guard = made[kind]
        guard.policy = AddressPolicy(tuple(map(ip_network, networks)))
        return way

    return way_of


def refused(way: Way, url: str) -> None:
    """Expect that a request is refused."""
    with pytest.raises(AddressRefusedError):
        way.get(url)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("kind", WAYS)
def test_p1_a_refused_address_is_not_connected_to(
    way_of: Callable[..., Way], serve: Any, kind: str, host: str
) -> None:
    way, server = way_of(kind), serve(b"")
    with connected_addresses() as addresses:
        refused(way, f"{way.scheme}://{host}:{server.port}/")
    assert server.connections == 0
    assert {one for one in addresses if one != OWN} == set()


@pytest.mark.parametrize("kind", ["ours", "http11", "names"])
def test_p2_an_allowed_address_is_connected_to(way_of: Callable[..., Way], serve: Any, kind: str) -> None:
    server = serve(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\nneedle")
    assert b"needle" in way_of(kind, OWN).get(server.url).body


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("kind", ["ours", "http11"])
def test_p1_a_redirect_leads_to_no_refused_address(
    way_of: Callable[..., Way], serve: Any, kind: str, status: int
) -> None:
    with Listener().open() as inner:
        location = f"http://{inner.address}/".encode()
        server = serve(b"HTTP/1.1 %d R\r\nLocation: %b\r\nContent-Length: 0\r\n\r\n" % (status, location))
        assert way_of(kind, OWN).get(server.url).status == status
    assert inner.came == []


class Flipping:
    """Names that lead to the next address whenever they are looked up, and stay with the last."""

    def __init__(self, *addresses: str) -> None:
        self._addresses = list(addresses)
        self.asked = 0

    def next_address(self) -> str:
        self.asked += 1
        return self._addresses.pop(0) if len(self._addresses) > 1 else self._addresses[0]

    def address_of(self, name: str) -> str:
        return self.next_address() if name == "flip.test" else name

    def resolveHostName(self, receiver: Any, name: str, portNumber: int = 0, *_: Any, **__: Any) -> Any:
        receiver.resolutionBegan(self)
        receiver.addressResolved(IPv4Address("TCP", self.address_of(name), portNumber))
        receiver.resolutionComplete()
        return self


@pytest.fixture
def flipping(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Flipping]]:
    before, looked_up = runner.reactor.nameResolver, socket.getaddrinfo

    def install(*addresses: str) -> Flipping:
        names = Flipping(*addresses)

        def look_up(host: Any, *options: Any, **more: Any) -> Any:
            return looked_up(names.address_of(host), *options, **more)

        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        runner.reactor.installNameResolver(names)
        return names

    yield install
    runner.reactor.installNameResolver(before)


def test_p1_a_name_that_flips_is_looked_up_once_for_a_connection(
    way_of: Callable[..., Way], serve: Any, flipping: Callable[..., Flipping]
) -> None:
    server = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
    names = flipping(OWN, "127.0.0.2")
    way = way_of("http11", OWN)
    with connected_addresses() as addresses:
        assert way.get(f"http://flip.test:{server.port}/").status == 200
        refused(way, f"http://flip.test:{server.port}/")
    assert (server.connections, "127.0.0.2" in addresses) == (1, False)
    assert names.asked == 2


def test_p1_a_flipped_name_is_refused_over_http2(
    way_of: Callable[..., Way], flipping: Callable[..., Flipping]
) -> None:
    flipping("127.0.0.2")
    way = way_of("http2", OWN)
    with connected_addresses() as addresses:
        refused(way, "https://flip.test:9/")
        refused(way, "https://flip.test:9/again")
    assert addresses == []


def test_p1_only_the_allowed_address_of_a_name_is_taken(
    runner: Runner, way_of: Callable[..., Way], serve: Any
) -> None:
    server = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    with connected_addresses() as addresses:
        way_of("http11", OWN).get(f"http://localhost:{server.port}/")
    assert set(addresses) == {OWN}


class Once:
    """Accepts each address when it is asked for the first time."""

    def __init__(self) -> None:
        self._asked: list[str] = []

    def check(self, address: str, host: str) -> Decision:
        self._asked.append(address)
        return Decision(self._asked.count(address) == 1, "address", "address test", address)


@pytest.fixture
def scrapys_resolver(runner: Runner) -> Iterator[None]:
    """Have names looked up as in a crawl: in threads that know nothing of who asks."""
    before = runner.reactor.nameResolver
    CachingThreadedResolver(runner.reactor, 0, 10).install_on_reactor()
    yield
    runner.reactor.installNameResolver(before)


@pytest.mark.usefixtures("scrapys_resolver")
def test_p1_what_a_name_was_found_to_be_is_checked_when_it_is_connected_to(
    runner: Runner, serve: Any
) -> None:
    server = serve(b"")

    async def connect() -> Decision:
        from twisted.internet.endpoints import HostnameEndpoint
        from twisted.internet.protocol import Factory, Protocol

        guard_reactor()
        attempt = ConnectionAttempt(Once(), "localhost")
        with attempt.current():
            connecting = HostnameEndpoint(runner.reactor, "localhost", server.port).connect(
                Factory.forProtocol(Protocol)
            )
        connecting.addBoth(lambda _: None)
        return await asyncio.wait_for(attempt.refused, 60)

    assert runner.run(connect()).rule == "address test"
    assert server.connections == 0


def test_p1_a_peer_that_is_another_gets_no_byte(runner: Runner) -> None:
    server = socket.create_server((OWN, 0))

    async def connect() -> Decision:
        from twisted.internet.protocol import ClientFactory, Protocol

        class Speaking(Protocol):
            def connectionMade(self) -> None:
                self.transport.write(b"GET / HTTP/1.1\r\n\r\n")

        guard_reactor()
        attempt = ConnectionAttempt(Once(), "localhost")
        with attempt.current():
            runner.reactor.connectTCP(OWN, server.getsockname()[1], ClientFactory.forProtocol(Speaking))
        return await asyncio.wait_for(attempt.refused, 60)

    assert runner.run(connect()).reason == OWN
    with server, server.accept()[0] as connection:
        connection.settimeout(10)
        assert connection.recv(100) == b""


@pytest.mark.parametrize("host", [OWN, "localhost"])
def test_p1_what_connects_past_endpoints_is_checked_too(runner: Runner, serve: Any, host: str) -> None:
    server = serve(b"")

    async def connect() -> Decision:
        from twisted.internet.protocol import ClientFactory, Protocol

        guard_reactor()
        attempt = ConnectionAttempt(AddressPolicy(), "localhost")
        with attempt.current(), suppress(ConnectionRefusedError):
            runner.reactor.connectTCP(host, server.port, ClientFactory.forProtocol(Protocol))
        return await asyncio.wait_for(attempt.refused, 60)

    assert runner.run(connect()).rule == "address loopback"
    assert server.connections == 0


@pytest.mark.parametrize("allowed_first", [True, False])
def test_p1_names_of_requests_at_once_are_checked_for_each(
    runner: Runner, serve: Any, allowed_first: bool
) -> None:
    """Twisted runs what is due at once in the context of the first; each name has to be that of its own request."""
    allowed, forbidden = serve(b""), serve(b"")

    async def connect() -> Decision:
        from twisted.internet.protocol import ClientFactory, Protocol

        guard_reactor()
        connected = asyncio.get_running_loop().create_future()

        class Connected(Protocol):
            def connectionMade(self) -> None:
                connected.set_result(None)

        attempts = [
            (ConnectionAttempt(AddressPolicy((ip_network(OWN), ip_network("::1"))), "localhost"), allowed),
            (ConnectionAttempt(AddressPolicy(), "localhost"), forbidden),
        ]
        for attempt, server in attempts if allowed_first else reversed(attempts):
            with attempt.current():
                runner.reactor.connectTCP("localhost", server.port, ClientFactory.forProtocol(Connected))
        await asyncio.wait_for(connected, 60)
        await until_on_loop(lambda: allowed.connections)  # its thread takes it when it comes to it
        return await asyncio.wait_for(attempts[1][0].refused, 60)

    assert runner.run(connect()).rule == "address loopback"
    assert (allowed.connections, forbidden.connections) == (1, 0)


def test_connections_of_others_pass(runner: Runner, serve: Any) -> None:
    server = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    async def get() -> Response:
        from scrapy import Request, Spider
        from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
        from scrapy.crawler import Crawler

        guard_reactor()
        crawler = Crawler(Spider)
        crawler.spider = Spider("s")
        handler = HTTP11DownloadHandler(crawler)
        try:
            return await handler.download_request(Request(server.url))
        finally:
            await handler.close()

    assert runner.run(get()).body == b"ok"


@pytest.mark.parametrize("kind", ["http11"])
def test_p1_the_address_of_a_proxy_is_checked(way_of: Callable[..., Way], serve: Any, kind: str) -> None:
    server = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    way = way_of(kind)
    for host in (OWN, "localhost"):
        for target in ("http", "https"):
            request = way.request(
                f"{target}://{host}.example.test/", meta={"proxy": f"http://{host}:{server.port}"}
            )
            with pytest.raises(AddressRefusedError):
                way.get(request)
    assert server.connections == 0
