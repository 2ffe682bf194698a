"""Interface of the sites, sitemaps and feeds of one source."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from ultracrawl.dataclass import dataclass
from ultracrawl.rules.recrawl.feed_links import FeedLink


@dataclass(frozen=True, slots=True)
class StoredSite:
    """What one source knows of a site; the politeness clock of a site is in the shared `SiteStore`."""

    site: str
    seen: float = 0.0
    """Approximate time of the last request; seconds since the epoch."""
    own_delay: float | None = None
    """Crawl delay of its robots.txt, in seconds."""
    given_up: int = 0
    """The run in which the site was given up, 0 for none."""
    robots: str = ""
    """Summary of its robots.txt in a few words, empty if unknown."""
    stand_in: str = ""
    """The mirror that is crawled instead in this run because the site was given up."""


@dataclass(frozen=True, slots=True)
class StoredSitemap:
    """A sitemap, in addition to its record, whose `links` are the keys of its entries."""

    run: int
    """The run that fetched it last."""
    is_index: bool = False
    """Its entries are sitemaps."""
    dates: bytes = b""
    """`lastmod` of each entry in the order of `links`: 8 bytes each, seconds since the epoch, 0 for unknown."""

    def entries(self, links: bytes) -> Iterator[tuple[int, int]]:
        """Yield (key, date) of each entry; `links` are those of the record."""
        return zip(array("q", links), array("q", self.dates), strict=False)


class SitePart(Protocol):
    """The part of a `Store` with sites, sitemaps and feeds."""

    renewed: tuple[str, ...]
    """Sites whose state was reset in this run, because the previous run gave them up or used mirrors for them."""

    # ---- sites

    def get_site(self, site: str) -> StoredSite | None:
        """Return what is stored of a site (host and port), or None."""

    def put_site(self, row: StoredSite) -> None:
        """Store a site; durable with the next flush."""

    def special_sites(self) -> list[StoredSite]:
        """Return the sites with a delay of their own or a mirror, or that were given up; sees flushed changes only."""

    # ---- sitemaps

    def sitemap_keys(self) -> frozenset[int]:
        """Return the keys of all URLs that are sitemaps."""

    def get_sitemap(self, key: int) -> StoredSitemap | None:
        """Return a sitemap, None for other URLs."""

    def put_sitemap(self, key: int, sitemap: StoredSitemap) -> None:
        """Store a sitemap."""

    def announce_dates(self, dates: Iterable[tuple[int, int]]) -> None:
        """Store the `lastmod` dates of sitemap entries as (key, date); the latest date of a URL counts.

        They are kept until the next run begins.
        """

    @property
    def dates_announced(self) -> bool:
        """Whether any date was stored in this run."""

    def announced_dates(self, keys: Sequence[int]) -> dict[int, int]:
        """Return the `lastmod` date by key, for keys that have one."""

    # ---- feeds

    def feed_keys(self) -> frozenset[int]:
        """Return the keys of the feeds with stored links."""

    def feed_links(self, feed: int) -> list[FeedLink]:
        """Return the links of a feed."""

    def put_feed_links(self, feed: int, links: Iterable[FeedLink]) -> None:
        """Replace the links of a feed."""

    def all_feed_links(self) -> Iterator[tuple[int, FeedLink]]:
        """Yield (feed key, link) for all links of feeds; sees flushed changes only."""
