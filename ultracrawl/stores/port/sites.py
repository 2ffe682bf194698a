"""What a source knows of its sites: their pace, the sites that it gave up, its sitemaps and feeds."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ultracrawl.rules.recrawl.feed_links import FeedLink
from ultracrawl.stores.port.site_store import SiteClock, StoredRobots


@dataclass(frozen=True, slots=True)
class StoredSite:
    """What one source has found about a site, or decided; its clock is that of the project (`SiteStore`)."""

    site: str
    seen: float = 0.0
    """When it was asked last, about; seconds since the epoch."""
    own_delay: float | None = None
    """The delay that robots.txt asks for."""
    given_up: int = 0
    """The run in which the site was given up, 0 for none."""
    robots: str = ""
    """What its robots.txt is like, in a few words; empty if it is not known."""
    stand_in: str = ""  # word: the key of `status SITE`
    """The copy of the site that is asked instead in this run, since the site itself was given up."""


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

    renewed: tuple[str, ...]
    """The sites that begin afresh in this run, because the run before gave them up or had copies stand in for them."""

    # ---- sites

    def get_site(self, site: str) -> StoredSite | None:
        """Return what is remembered of a site (host and port)."""

    def put_site(self, row: StoredSite) -> None:
        """Remember a site; durable with the next flush of the store."""

    def special_sites(self) -> list[StoredSite]:
        """Return the sites that have a delay of their own or a copy, or were given up.

        Sees what was flushed.
        """

    def former(self) -> tuple[list[SiteClock], list[StoredRobots]]:
        """Return what a store of an older version knew that belongs to the project now."""

    def forget_former(self) -> None:
        """Take note that the project knows it now."""

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
