"""The addresses of sites, for sources whose hosts share a clock by address."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from ipaddress import ip_address

from ultracrawl.crawl.transport.host_addresses import HostAddresses
from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.urls.canonical import host_of
from ultracrawl.stores import QueueEntry


class AddressResolver:
    """Looks up the sites that the frontier names, in threads, and tells it what they are.

    Of several addresses the lowest counts, IPv4 before IPv6, so that hosts with the same addresses share one clock
    whatever the order of an answer. A site without an address has a clock of its own.
    """

    def __init__(
        self, hosts: HostAddresses, frontier: Frontier[QueueEntry], wake: Callable[[float], None]
    ) -> None:
        self._hosts = hosts
        self._frontier = frontier
        self._wake = wake

    def attend(self) -> None:
        """Begin to look up every site that waits for its address."""
        while self._frontier.unlocated:
            site = self._frontier.unlocated.pop()
            loop = asyncio.get_running_loop()
            found = self._hosts.begin_look_up(host_of(f"http://{site}/"))
            found.add_done_callback(partial(self._pass_on, loop, site))

    def _pass_on(self, loop: asyncio.AbstractEventLoop, site: str, found: Future[tuple[str, ...]]) -> None:
        if not (found.cancelled() or loop.is_closed()):
            loop.call_soon_threadsafe(self._found, site, found.result())

    def _found(self, site: str, addresses: Iterable[str]) -> None:
        self._frontier.clocks.set_address(site, lowest(addresses))
        self._wake(0.0)


def lowest(addresses: Iterable[str]) -> str:
    """Return the lowest address, IPv4 before IPv6; empty for none."""
    known = [ip_address(address) for address in addresses]
    return str(min(known, key=lambda one: (one.version, int(one)))) if known else ""
