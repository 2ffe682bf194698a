"""Name servers of a host, asked of a resolver of the test's own."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest
from dns.resolver import Resolver
from twisted.names import dns

from ultracrawl.service.probing.probe import name_servers

ZONES = {b"siroe.com": ["ns2.siroe.com", "ns1.siroe.com"]}


def resolver_at(address: tuple[str, int], seconds: float = 30.0) -> Resolver:
    made = Resolver(configure=False)
    (made.nameservers, made.port), made.lifetime = ([address[0]], address[1]), seconds
    return made


@pytest.fixture
def resolver() -> Iterator[Resolver]:
    channel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    channel.bind(("127.0.0.1", 0))

    def answer() -> None:
        while True:
            data, sender = channel.recvfrom(4096)
            if data == b"end":
                return
            asked = dns.Message()
            asked.fromStr(data)
            told = dns.Message(id=asked.id, answer=1)
            told.queries = asked.queries
            name = asked.queries[0].name.name
            for server in ZONES.get(name, []):
                told.answers.append(dns.RRHeader(name, dns.NS, payload=dns.Record_NS(server)))
            channel.sendto(told.toStr(), sender)

    thread = threading.Thread(target=answer)
    thread.start()
    address: tuple[str, int] = channel.getsockname()
    yield resolver_at(address)
    channel.sendto(b"end", address)
    thread.join()
    channel.close()


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("siroe.com", ["ns1.siroe.com", "ns2.siroe.com"]),
        ("www.dept.siroe.com", ["ns1.siroe.com", "ns2.siroe.com"]),
        ("www.example.org", []),
        ("127.0.0.1", []),
        ("[::1]", []),
    ],
    ids=["portal_robot_148 the zone itself", "a host below it", "nobody says it", "an address", "IPv6"],
)
def test_name_servers(resolver: Resolver, host: str, expected: list[str]) -> None:
    assert name_servers(host, resolver) == expected


def test_without_a_resolver_there_are_none() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        free.connect(("127.0.0.1", 53))  # what comes from elsewhere is refused, and nobody else gets the port
        assert name_servers("siroe.com", resolver_at(free.getsockname(), 0.1)) == []
