"""Interface of the shared site store: politeness clocks, leases, robots.txt answers and log-in sessions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from ultracrawl.dataclass import dataclass, replace
from ultracrawl.system.process_name import process_name


@dataclass(frozen=True, slots=True)
class SiteClock:
    """Politeness state of a site (host and port) or an address; times are by the clock of the store, 0 for never."""

    site: str
    next_at: float = 0.0
    """When the next request may begin."""
    requested: float = 0.0
    """When the latest request began."""
    delay: float = 0.0
    """Politeness delay of the source that crawled it last; also the wait after a crash."""
    why: str = ""
    """Origin of the delay, for display."""
    on_hold: bool = False
    """Whether `next_at` was set by the server (`Retry-After`) or a retry, and not by a politeness delay."""
    errors: int = 0
    """Network errors not yet offset by successful responses."""
    slowed: float = 0.0
    """The back-off delay, in seconds."""
    last_error: str = ""
    error_at: float = 0.0

    def without_backoff(self, delay: float) -> SiteClock:
        """Return the clock for a crawl that begins, with a delay: it does not wait for the back-off of earlier ones.

        What the server asked for stays, and a delay that is longer than the back-off.
        """
        if self.on_hold or self.delay > self.slowed:
            return replace(self, slowed=0.0)
        return replace(self, next_at=self.requested + delay, delay=delay, slowed=0.0)


@dataclass(frozen=True, slots=True)
class LeaseHolder:
    """The crawl that holds the lease of a site, for display."""

    source: str
    machine: str
    pid: int
    since: float
    until: float
    """When the lease ends unless it is renewed, by the clock of the store."""
    waiting: tuple[str, ...] = ()
    """The sources whose crawls wait for the site, the next one first."""

    @property
    def process(self) -> str:
        """How its process is named to people."""
        return process_name(self.pid, self.machine)


@dataclass(frozen=True, slots=True)
class StoredRobots:
    """The raw response for one robots.txt or tdmrep.json; times are seconds since the epoch."""

    origin: str
    """The origin of a robots.txt, the URL of a tdmrep.json."""
    received: float = 0.0
    """When the response was received."""
    status: int = 0
    """Its status after redirects, 0 without a response."""
    body: bytes = b""
    error: str = ""
    """Why there was no response, in a few words."""
    timed_out: bool = False
    failed: float = 0.0
    """When the last failed request was, which left the previous response in place; 0 for never."""
    guessed: float = 0.0
    """When the default sitemap location of the origin was found empty; 0 if unknown."""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """The session of a log-in, encrypted by the caller."""

    since: float
    """Time of the log-in, in seconds since the epoch."""
    sealed: bytes


class SiteStore(Protocol):
    """The sites of a project, shared by concurrent crawls of several sources in separate processes.

    A crawl registers and gets a unique number, the fencing token of its leases. It leases a site before its first
    request to it and renews its leases regularly. When its time runs out without a renewal it is closed: its leases
    end, its clocks are set as if it had sent requests until then, and its later writes are refused.
    Callers name durations; what they end at is decided by the clock of the store, since those of machines differ.
    Every method is durable when it returns. Raises `StateError` if the store cannot be read or written.
    """

    renewed: str
    """Message about a damaged store that this new one replaces; empty if there was none."""

    def now(self) -> float:
        """Return the time by the clock of the store, in seconds since the epoch; costs no request."""

    # ---- leases

    def register_crawl(self, source: str, lease: float) -> int:
        """Register a crawl of a source for `lease` seconds and return its number; closes earlier crawls of the source.

        Raises `UserError` if one of them may still run: its lease lives, and its process is not known to have ended.
        """

    def renew_leases(self, crawl: int, lease: float) -> bool:
        """Let all leases of a crawl end in `lease` seconds; returns False if it was closed and holds none."""

    def beside(self) -> SiteStore | None:
        """Return the same sites for another thread, by a connection of its own; None if no other process sees them."""

    def lease_sites(self, crawl: int, wanted: Mapping[str, Sequence[str]]) -> dict[str, list[SiteClock]]:
        """Lease sites that no other crawl holds; returns, by name, the clocks of the leased sites.

        `wanted` maps a name to its sites (and addresses), which are leased all together or not at all. A crawl that
        did not get them is queued for them, first come, first served.
        """

    def stop_waiting(self, crawl: int, sites: Iterable[str]) -> None:
        """Remove a crawl from the waiting lists of sites."""

    def contended_sites(self, crawl: int) -> frozenset[str]:
        """Return the sites leased by a crawl that other crawls wait for."""

    def put_clocks(self, crawl: int, clocks: Iterable[SiteClock]) -> None:
        """Store the clocks of sites; ignores sites that the crawl does not hold."""

    def release_sites(self, crawl: int, clocks: Iterable[SiteClock]) -> None:
        """End the leases of sites, storing the clocks with which the next crawl continues."""

    def close_crawl(self, crawl: int) -> None:
        """Unregister a crawl that has released its sites."""

    # ---- inspection

    def get_clock(self, site: str) -> SiteClock | None:
        """Return the clock of a site, None if it is unknown."""

    def lease_holder(self, site: str) -> LeaseHolder | None:
        """Return the holder of the lease of a site, None if it is free."""

    # ---- robots.txt

    def get_robots(self, origin: str, shown: str) -> StoredRobots | None:
        """Return the last robots.txt response of an origin (`scheme://host:port`); `shown` identifies the client.

        The response for a tdmrep.json is stored in the same way under its URL.
        """

    def put_robots(self, row: StoredRobots, shown: str) -> None:
        """Store a robots.txt response in place of an older one."""

    # ---- log-ins

    def get_session(self, name: str) -> StoredSession | None:
        """Return the session stored under a name, or None."""

    def put_session(self, name: str, session: StoredSession) -> None:
        """Store a session in place of an older one."""

    # ---- start of a run

    def reset_site_errors(self, sites: Iterable[str]) -> None:
        """Reset errors and back-off of sites that are not leased, because a new run starts with them."""

    def close(self) -> None:
        """Release the store."""
