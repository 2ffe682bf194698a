"""Cached DNS look-ups in threads with a time limit, for rules about addresses."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from ultracrawl.rules.urls.canonical import host_of
from ultracrawl.run.hooks import Feature

logger = logging.getLogger(__name__)

LOOK_UP_TIMEOUT = 2.0
"""Seconds that a page (or redirect) waits for the addresses of all its new hosts."""
MAX_CACHED_HOSTS = 20_000
"""Limit of cached hosts; beyond it the cache is cleared."""
THREADS = 16
"""Concurrent look-ups: each blocks its thread until the resolver answers."""
MAX_SEED_HOSTS = 200
"""Limit of start hosts that are looked up before a crawl begins; more would delay it."""
SEED_TIMEOUT = 10.0
"""Seconds for the addresses of all start hosts."""


class HostAddresses(Feature):
    """Callable that returns the addresses of a host; none if the resolver does not answer in time.

    A look-up that exceeds `LOOK_UP_TIMEOUT` continues in its thread; later calls get its result.
    """

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._known: dict[str, Future[tuple[str, ...]]] = {}

    def __call__(self, host: str) -> Iterable[str]:
        """Return the addresses of a host; waits at most `LOOK_UP_TIMEOUT` seconds."""
        self.look_up([host])
        addresses = self._known[host]
        if addresses.done():
            return addresses.result()
        logger.warning(
            "%s was not resolved within %g s; no address mask applies to it", host, LOOK_UP_TIMEOUT
        )
        return ()

    def begin_look_up(self, host: str) -> Future[tuple[str, ...]]:
        """Return the look-up of a host without waiting; a running one is reused."""
        if host not in self._known:
            self._submit([host])
        return self._known[host]

    def look_up(self, hosts: Iterable[str]) -> None:
        """Look up all hosts concurrently; waits at most `LOOK_UP_TIMEOUT` seconds in all."""
        new = [host for host in dict.fromkeys(hosts) if host not in self._known]
        if not new:
            return
        self._submit(new)
        wait([self._known[host] for host in new], timeout=LOOK_UP_TIMEOUT)

    def _submit(self, hosts: Iterable[str]) -> None:
        if len(self._known) >= MAX_CACHED_HOSTS:
            self._known.clear()
        pool = self._pool = self._pool or ThreadPoolExecutor(THREADS, thread_name_prefix="look-up")
        self._known.update((host, pool.submit(addresses_of, host)) for host in hosts)

    async def fetching_ended(self) -> None:
        """Stop the threads with the crawl."""
        self.close()

    def close(self) -> None:
        """Stop the threads; look-ups that have not begun are cancelled."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


def addresses_of(host: str) -> tuple[str, ...]:
    """Return the addresses of a host; none if it cannot be resolved."""
    try:
        addresses = socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return ()
    return tuple(dict.fromkeys(str(address[0]).partition("%")[0] for *_, address in addresses))


def seed_addresses(seeds: Iterable[str]) -> list[str]:
    """Return the addresses of the first start hosts; those without an answer in time are left out.

    A source may start in an intranet without naming its network. Addresses are looked up once, at the start: if a name
    changes its address during the crawl, the rules for all other addresses apply.
    """
    hosts = list(dict.fromkeys(map(host_of, seeds)))[:MAX_SEED_HOSTS]
    if not hosts:
        return []
    pool = ThreadPoolExecutor(max_workers=min(THREADS, len(hosts)))
    lookups = [pool.submit(addresses_of, host) for host in hosts]
    done, _ = wait(lookups, timeout=SEED_TIMEOUT)
    pool.shutdown(wait=False, cancel_futures=True)
    return sorted({address for lookup in done for address in lookup.result()})
