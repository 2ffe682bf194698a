"""The addresses of hosts, for rules about addresses: looked up in threads, remembered, bounded in time."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from ultracrawl.rules.urls.canonical import host_of

logger = logging.getLogger(__name__)

WAIT = 2.0
"""Seconds that one page (or one redirect) waits for all the hosts it names that were not met before."""
KEPT = 20_000
"""Hosts whose addresses are remembered; when there are more, all are forgotten."""
THREADS = 16
"""Look-ups that run at once: each blocks its thread until the resolver answers."""
MOST_SEED_HOSTS = 200
"""Start hosts whose addresses are looked up before a crawl begins; further ones would delay it."""
SEED_WAIT = 10.0
"""Seconds for the addresses of all start hosts."""


class HostAddresses:
    """Callable that gives the addresses of a host; none for a host without an answer in time.

    A look-up that takes longer than `WAIT` goes on in its thread; who asks again later gets its answer.
    """

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._known: dict[str, Future[tuple[str, ...]]] = {}

    def __call__(self, host: str) -> Iterable[str]:
        """Return the addresses of a host; waits at most `WAIT` seconds."""
        self.look_up([host])
        found = self._known[host]
        if found.done():
            return found.result()
        logger.warning("No address of %s after %g s; it counts as covered by no mask", host, WAIT)
        return ()

    def begin_look_up(self, host: str) -> Future[tuple[str, ...]]:
        """Return the look-up of a host, the one that runs already if there is one; does not wait."""
        if host not in self._known:
            self._begin([host])
        return self._known[host]

    def look_up(self, hosts: Iterable[str]) -> None:
        """Look up all hosts at once and wait for them, at most `WAIT` seconds together."""
        new = [host for host in dict.fromkeys(hosts) if host not in self._known]
        if not new:
            return
        self._begin(new)
        wait([self._known[host] for host in new], timeout=WAIT)

    def _begin(self, hosts: Iterable[str]) -> None:
        if len(self._known) >= KEPT:
            self._known.clear()
        pool = self._pool = self._pool or ThreadPoolExecutor(THREADS, thread_name_prefix="look-up")
        self._known.update((host, pool.submit(addresses_of, host)) for host in hosts)

    def close(self) -> None:
        """End the threads; look-ups that have not begun are given up."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


def addresses_of(host: str) -> tuple[str, ...]:
    """Look up one host; none if it has no address."""
    try:
        found = socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return ()
    return tuple(dict.fromkeys(str(address[0]).partition("%")[0] for *_, address in found))


def seed_addresses(seeds: Iterable[str]) -> list[str]:
    """Look up the hosts of the start URLs, the first of them; those without an answer in time are left out.

    An intranet that a source starts in may be reached without naming its network. Looked up once, at the start: a name
    that changes its address during the crawl is judged by the rules for every other address.
    """
    hosts = list(dict.fromkeys(map(host_of, seeds)))[:MOST_SEED_HOSTS]
    if not hosts:
        return []
    pool = ThreadPoolExecutor(max_workers=min(THREADS, len(hosts)))
    lookups = [pool.submit(addresses_of, host) for host in hosts]
    done, _ = wait(lookups, timeout=SEED_WAIT)
    pool.shutdown(wait=False, cancel_futures=True)
    return sorted({address for lookup in done for address in lookup.result()})
