"""Look-ups of hosts for address masks: remembered, together, and never for long."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future

import pytest

from ultracrawl.run.transport import host_addresses
from ultracrawl.run.transport.host_addresses import HostAddresses


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, int]]:
    """A resolver that answers at once, but for `slow...` hosts, and counts."""
    asked: dict[str, int] = {}
    release = threading.Event()

    def getaddrinfo(host: str, *_: object, **__: object) -> list[tuple[int, int, int, str, tuple[str, int]]]:
        asked[host] = asked.get(host, 0) + 1
        if host.startswith("slow"):
            release.wait(10)
        if host.startswith("none"):
            raise socket.gaierror(-2, "unknown")
        return [(2, 1, 6, "", ("192.0.2.7", 0)), (2, 1, 6, "", ("192.0.2.7", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(host_addresses, "LOOK_UP_TIMEOUT", 0.2)
    yield asked
    release.set()


def test_each_host_is_looked_up_once(answers: dict[str, int]) -> None:
    hosts = HostAddresses()
    hosts.look_up(["a", "b", "a"])
    assert [list(hosts("a")), list(hosts("none")), list(hosts("[::1]"))] == [["192.0.2.7"], [], ["192.0.2.7"]]
    assert list(hosts("a")) == ["192.0.2.7"]
    assert answers == {"a": 1, "b": 1, "none": 1, "::1": 1}
    hosts.close()


def test_many_slow_hosts_cost_one_wait(answers: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    def wait(lookups: Sequence[Future[tuple[str, ...]]], timeout: float) -> None:
        waited.append(timeout)

    monkeypatch.setattr(host_addresses, "wait", wait)
    hosts = HostAddresses()
    hosts.look_up(f"slow{number}" for number in range(50))
    assert waited == [host_addresses.LOOK_UP_TIMEOUT]
    assert [list(hosts(f"slow{number}")) for number in range(50)] == [[]] * 50
    assert len(waited) == 1, "who waited once does not wait again"
    hosts.close()
