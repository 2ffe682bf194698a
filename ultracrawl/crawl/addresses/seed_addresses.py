"""The addresses of the start URLs: an intranet that a source starts in may be reached without naming its network."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, wait

from ultracrawl.rules.urls import host_of

MOST_HOSTS = 200
SECONDS = 10.0


def seed_addresses(seeds: Iterable[str]) -> list[str]:
    """Look up the hosts of the start URLs, at most `MOST_HOSTS`; those without an answer in time are left out.

    Looked up once, at the start: a name that changes its address during the crawl is judged by the rules
    for every other address.
    """
    hosts = list(dict.fromkeys(map(host_of, seeds)))[:MOST_HOSTS]
    if not hosts:
        return []
    pool = ThreadPoolExecutor(max_workers=min(16, len(hosts)))
    lookups = [pool.submit(_addresses, host) for host in hosts]
    done, _ = wait(lookups, timeout=SECONDS)
    pool.shutdown(wait=False, cancel_futures=True)
    return sorted({address for lookup in done for address in lookup.result()})


def _addresses(host: str) -> list[str]:
    try:
        found = socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return [str(address[0]).partition("%")[0] for *_, address in found]
