"""What is known of sites: their clocks, their robots.txt, their sitemaps and feeds."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ultracrawl.rules.recrawl.feed_links import FeedLink


@dataclass(frozen=True, slots=True)
class StoredSite:
    """The state of one site; times are seconds since the epoch, 0 is never."""

    site: str
    next_at: float = 0.0
    """When the next request may begin."""
    why: str = ""
    """Why not earlier: the delay with its origin, or a server that asked to be left alone."""
    own_delay: float | None = None
    """The delay that robots.txt asks for."""
    errors: int = 0
    """Network errors that were not made good by answers."""
    slowed: float = 0.0
    """The delay of back-off, in seconds."""
    last_error: str = ""
    error_at: float = 0.0
    given_up: int = 0
    """The run in which the site was given up, 0 for none."""
    robots: str = ""
    """What its robots.txt is like, in a few words; empty if it is not known."""
    stand_in: str = ""  # word: the key of `status SITE`
    """The copy of the site that is asked instead in this run, since the site itself was given up."""


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
class StoredSitemap:
    """What is known of a sitemap beside its record, whose `links` are the keys of its entries."""

    run: int
    """The run that asked for it last."""
    is_index: bool = False
    """Its entries are sitemaps."""
    dates: bytes = b""
    """When each entry changed, in the order of `links`: 8 bytes each, whole seconds since the epoch, 0 for unknown."""

    def entries(self, links: bytes) -> Iterator[tuple[int, int]]:
        """Yield key and date of each entry; `links` are those of the record."""
        return zip(array("q", links), array("q", self.dates), strict=False)


class SitePart(Protocol):
    """The part of a `Store` about sites."""

    # ---- clocks

    def get_site(self, site: str) -> StoredSite | None:
        """Return what is remembered of a site (host and port)."""

    def put_site(self, row: StoredSite, *, at_once: bool = False) -> None:
        """Remember a site; durable with the next flush of the store, or before this returns."""

    def delayed_sites(self, now: float) -> list[StoredSite]:
        """Return the sites that may not be asked yet at a time, or have errors or a delay of their own.

        Sees what was flushed.
        """

    # ---- robots.txt

    def get_robots(self, origin: str) -> StoredRobots | None:
        """Return the last answer of an origin (`scheme://host:port`)."""

    def put_robots(self, row: StoredRobots) -> None:
        """Keep an answer in place of the one before."""

    # ---- sitemaps

    def sitemap_keys(self) -> frozenset[int]:
        """Return the keys of all URLs that are sitemaps."""

    def get_sitemap(self, key: int) -> StoredSitemap | None:
        """Return what is known of a sitemap, None for other URLs."""

    def put_sitemap(self, key: int, sitemap: StoredSitemap) -> None:
        """Keep what is known of a sitemap."""

    def announce_dates(self, dates: Iterable[tuple[int, int]]) -> None:
        """Note when URLs (by key) changed by the word of a sitemap; of several sitemaps the latest date counts.

        What was noted holds until the next run begins.
        """

    @property
    def dates_announced(self) -> bool:
        """Whether any date was noted in this run."""

    def announced_dates(self, keys: Sequence[int]) -> dict[int, int]:
        """Return the noted date of those of the keys that have one; sees what was flushed."""

    # ---- feeds

    def feed_keys(self) -> frozenset[int]:
        """Return the keys of the feeds that have a list."""

    def feed_links(self, feed: int) -> list[FeedLink]:
        """Return the list of a feed."""

    def put_feed_links(self, feed: int, links: Iterable[FeedLink]) -> None:
        """Replace the list of a feed."""

    def all_feed_links(self) -> Iterator[tuple[int, FeedLink]]:
        """Yield all links of feeds, each with its feed; sees what was flushed."""
