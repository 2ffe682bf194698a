"""What the sources of a project know together of the sites they crawl, and which crawl may ask a site now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SiteClock:
    """How a site (host and port), or an address, may be asked; times are seconds since the epoch, 0 is never."""

    site: str
    next_at: float = 0.0
    """When the next request may begin."""
    asked: float = 0.0
    """When the latest request began."""
    delay: float = 0.0
    """The delay of the source that asked it last; after a crash so much time passes before the next request."""
    why: str = ""
    """Where that delay comes from, for people to read."""
    on_hold: bool = False
    """Whether `next_at` is the wish of the server, or of a further attempt, and not the end of a delay."""
    errors: int = 0
    """Network errors that were not made good by answers."""
    slowed: float = 0.0
    """The delay of back-off, in seconds."""
    last_error: str = ""
    error_at: float = 0.0


@dataclass(frozen=True, slots=True)
class LeaseHolder:
    """The crawl that may ask a site, for people to read."""

    source: str
    machine: str
    pid: int
    since: float
    until: float
    """Until when it may ask unless it says again that it lives; seconds since the epoch."""
    waiting: tuple[str, ...] = ()
    """The sources whose crawls wait for the site, the next one first."""


@dataclass(frozen=True, slots=True)
class StoredRobots:
    """The answer for one robots.txt, before anything was concluded from it; times are seconds since the epoch."""

    origin: str
    asked: float = 0.0
    """When the answer came."""
    status: int = 0
    """Its status after redirects, 0 if there was none."""
    body: bytes = b""
    error: str = ""
    """Why there was no answer, in a few words."""
    timed_out: bool = False
    failed: float = 0.0
    """When it was asked for last in vain, so that the answer is still the one before; 0 for never."""
    guessed: float = 0.0
    """When there was no sitemap at the usual place of the origin; 0 if that is not known."""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """The session of a log-in, sealed by whoever keeps it."""

    since: float
    """When the log-in was, in seconds since the epoch."""
    sealed: bytes


class SiteStore(Protocol):
    """The sites of a project; crawls of several sources, in processes of their own, use it at a time.

    A crawl enlists, and gets a number that no other one ever has: the fencing token of its leases. It asks for a site
    before its first request to it and says from time to time that it lives. One that does not is struck off when its
    time is over: its leases end, its clocks stand as if it had asked until then, and what it writes later is refused.
    Every method is durable when it returns. Raises `StateError` if the store cannot be read or written.
    """

    renewed: str
    """What became of a damaged store in whose place this one was begun; empty without."""

    # ---- leases

    def enlist_crawl(self, source: str, now: float, until: float) -> int:
        """Begin a crawl of a source, and return its number; an earlier crawl of the same source is over."""

    def renew_leases(self, crawl: int, until: float) -> bool:
        """Keep all leases of a crawl until a time; False if it was struck off, and holds nothing any more."""

    def ask_sites(
        self, crawl: int, wanted: Mapping[str, Sequence[str]], now: float
    ) -> dict[str, list[SiteClock]]:
        """Give a crawl what no other one has; the answer has the clocks of those of the names that it got.

        For each name all sites (and addresses) that it stands for, or none of them. Who did not get them waits for
        them from then on, and is served in the order of waiting.
        """

    def stop_waiting(self, crawl: int, sites: Iterable[str]) -> None:
        """Wait for sites no more."""

    def waited_sites(self, crawl: int) -> frozenset[str]:
        """Return the sites of a crawl for which others wait."""

    def put_clocks(self, crawl: int, clocks: Iterable[SiteClock]) -> None:
        """Store the clocks of sites; those that the crawl does not hold are left as they are."""

    def release_sites(self, crawl: int, clocks: Iterable[SiteClock]) -> None:
        """Give sites back, with the clocks by which the next crawl goes on."""

    def strike_off(self, crawl: int) -> None:
        """End a crawl that has given its sites back."""

    # ---- looking

    def get_clock(self, site: str) -> SiteClock | None:
        """Return what is known of a site."""

    def holder(self, site: str, now: float) -> LeaseHolder | None:
        """Return who may ask a site at a time, None if nobody has it."""

    # ---- robots.txt

    def get_robots(self, origin: str, shown: str) -> StoredRobots | None:
        """Return the last answer of an origin (`scheme://host:port`) to those who show it the same of themselves."""

    def put_robots(self, row: StoredRobots, shown: str) -> None:
        """Keep an answer in place of an older one."""

    # ---- log-ins

    def get_session(self, name: str) -> StoredSession | None:
        """Return the session that is kept under a name."""

    def put_session(self, name: str, session: StoredSession) -> None:
        """Keep a session in place of an older one."""

    # ---- what sources knew before

    def forgive_sites(self, sites: Iterable[str]) -> None:
        """Forget the errors of sites that nobody asks just now: a new run begins afresh with them."""

    def take_over(self, clocks: Iterable[SiteClock], robots: Iterable[StoredRobots], shown: str) -> None:
        """Take what one source knew in an older version; what is known already stays, the later time counts."""

    def close(self) -> None:
        """Release the store."""
