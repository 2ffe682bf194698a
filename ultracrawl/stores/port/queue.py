"""Interface of the request queue of a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from ultracrawl.dataclass import dataclass
from ultracrawl.rules.recrawl.cycle import ON_DEMAND, CyclePlace, CycleRule

Choose = Callable[[CyclePlace], Iterable[int]]
"""Returns the keys that an adaptive cycle starts with, best first; called while the cycle begins."""


class QueueEntry(NamedTuple):
    """A URL in the queue; entries of a site and level are ordered by rank, depth, then discovery (`seq`)."""

    key: int
    """`urls.url_key` of the URL: identifies it within its source."""
    url: str
    site: str
    depth: int
    seq: int
    hops: int = 0
    """Number of consecutive redirects that led here."""
    display_url: str = ""
    rank: int = 0
    """Lower ranks go first within a site; 0 except for entries that were queued when the cycle began."""
    level: int = 1
    """Priority; level 1 is the highest."""


class QueuedUrl(NamedTuple):
    """A URL that is queued, or that a cycle would start with, for display."""

    key: int
    url: str
    site: str
    depth: int
    rank: int
    last_fetched: float
    """Seconds since the epoch, 0 for never."""
    seen: int
    """The cycle in which it was last fetched or linked to, 0 for none."""


@dataclass(frozen=True, slots=True)
class QueueStart:
    """How the queue of a new run is filled: cycle rule, URLs, levels."""

    rule: CycleRule = ON_DEMAND
    choose: Choose | None = None
    level_of: Callable[[str], int] | None = None
    """Returns the level of a URL; without it all are on level 1."""
    listed: bool = False
    """A lister names what is requested; known URLs are not requested again after a change of the definition."""


ALL_KNOWN_URLS = QueueStart()
"""All known URLs, on one level."""


class QueuePart(Protocol):
    """The part of a `Store` with the request queue. `RecordPart` adds new URLs and removes finished ones."""

    # ---- entries

    def requeue_url(self, entry: QueueEntry) -> None:
        """Queue a known URL again that is not in the queue, with the depth of the entry."""

    def entries_of(self, site: str, limit: int, levels: range | None = None) -> list[QueueEntry]:
        """Return the first `limit` entries of a site by level, rank, depth and `seq`; `levels` restricts them."""

    def expect_urls(self, keys: Sequence[int]) -> None:
        """Have what is stored of URLs that are about to be looked at in this order read together, queued or not."""

    def is_waiting(self, key: int) -> bool:
        """Whether a known URL is in the queue; scans the whole queue."""

    def waiting_sites(self) -> list[tuple[str, int]]:
        """Return every site with queued URLs and their number; sees flushed changes only."""

    def sites_with_leftovers(self) -> list[str]:
        """Return the sites with entries left over from the previous cycle."""

    def next_seq(self) -> int:
        """Return a `seq` higher than that of every entry so far."""

    def dequeue_urls(self, keys: Iterable[int]) -> None:
        """Take URLs out of the queue, durably; they stay known."""

    def dequeue_removed(self) -> None:
        """Take the URLs that a person removed (status 955) out of the queue, durably; they stay known."""

    # ---- allowances and hops

    def put_allowance(self, site: str, left: int) -> None:
        """Store how many new URLs of a site an adaptive cycle may still fetch (FAST 5.23).

        A new run begins without any; a resumed run continues with the stored ones.
        """

    def allowances(self) -> dict[str, int]:
        """Return the remaining allowance by site; sees flushed changes only."""

    def hops_to(self, keys: Sequence[int]) -> dict[int, int]:
        """Return, by key, the off-focus hops that led to a URL, without zeros (focused crawling)."""

    def put_hops(self, key: int, hops: int) -> None:
        """Store how many off-focus documents in a row led to a URL."""

    def reset_hops(self, hops: int) -> None:
        """Set the hops of all known URLs except start URLs, until a link to them is met again; seen after `flush`."""

    # ---- for display; sees flushed changes only

    def first_waiting(self, limit: int) -> list[QueuedUrl]:
        """Return the first queued URLs by level, rank, depth and age; a crawl interleaves their sites."""

    def first_known(self, limit: int) -> list[QueuedUrl]:
        """Return the first known URLs by depth and age, without sitemaps and removed ones."""

    def queued_urls(self, keys: Sequence[int]) -> list[QueuedUrl]:
        """Return those of the keys that are known, queued or not, in the order of `keys`."""

    def number_waiting(self) -> int:
        """Return how many URLs are queued."""

    def number_by_level(self, site: str) -> dict[int, int]:
        """Return the number of queued URLs of a site by level."""
