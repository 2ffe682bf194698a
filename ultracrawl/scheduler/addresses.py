"""IP addresses of sites, for sources that keep one politeness clock per address (`politeness.per_address`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from ipaddress import ip_address

from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.urls.canonical import host_of
from ultracrawl.run.transport.host_addresses import HostAddresses
from ultracrawl.stores import QueueEntry


class AddressResolver:
    """Looks up the addresses of the sites that the frontier lists as `unlocated`, in threads.

    The lowest of several addresses counts, IPv4 before IPv6: hosts with the same addresses share one clock whatever
    the order of a DNS answer. A site without an address has its own clock. `wake` schedules the next look for a
    request.
    """

    def __init__(
        self, hosts: HostAddresses, frontier: Frontier[QueueEntry], wake: Callable[[float], None]
    ) -> None:
        self._hosts = hosts
        self._frontier = frontier
        self._wake = wake

    def start_look_ups(self) -> None:
        """Start the look-up of every site whose address is not known."""
        while self._frontier.unlocated:
            site = self._frontier.unlocated.pop()
            loop = asyncio.get_running_loop()
            look_up = self._hosts.begin_look_up(host_of(f"http://{site}/"))
            look_up.add_done_callback(partial(self._hand_to_loop, loop, site))

    def _hand_to_loop(
        self, loop: asyncio.AbstractEventLoop, site: str, look_up: Future[tuple[str, ...]]
    ) -> None:
        if not (look_up.cancelled() or loop.is_closed()):
            loop.call_soon_threadsafe(self._set_address, site, look_up.result())

    def _set_address(self, site: str, addresses: Iterable[str]) -> None:
        self._frontier.set_address(site, lowest_address(addresses))
        self._wake(0.0)


def lowest_address(addresses: Iterable[str]) -> str:
    """Return the lowest address, IPv4 before IPv6; the empty string if there is none."""
    known = [ip_address(address) for address in addresses]
    return str(min(known, key=lambda address: (address.version, int(address)))) if known else ""
