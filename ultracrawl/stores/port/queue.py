"""The queue of a source: what waits for its turn, and the numbers that decide about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ultracrawl.rules.recrawl.cycle import ON_DEMAND, CyclePlace, CycleRule

Choose = Callable[[CyclePlace], Iterable[int]]
"""Returns the keys that an adaptive cycle begins with, best first; asked while the cycle begins."""


class QueueEntry(NamedTuple):
    """A URL that waits for its turn; entries of a site and level go by rank, depth, then in order of discovery."""

    key: int
    """`urls.url_key` of the URL: identifies it within its source."""
    url: str
    site: str
    depth: int
    seq: int
    hops: int = 0
    """Redirects that led here, one after the other."""
    display_url: str = ""
    rank: int = 0
    """Lower ranks go first within a site; 0 but for what stood in the queue when the cycle began."""
    level: int = 1
    """Its priority; level 1 is the highest."""


class QueuedUrl(NamedTuple):
    """A URL that waits, or that a cycle would begin with, for people who look at the queue."""

    key: int
    url: str
    site: str
    depth: int
    rank: int
    last_fetched: float
    """Seconds since the epoch, 0 for never."""
    seen: int
    """The cycle in which it was fetched or led to last, 0 for none."""


@dataclass(frozen=True, slots=True)
class QueueStart:
    """How the queue of a new run is made: by which cycles, with which URLs, on which levels."""

    rule: CycleRule = ON_DEMAND
    choose: Choose | None = None
    level_of: Callable[[str], int] | None = None
    """Gives the level of a URL; without it all are on level 1."""
    listed: bool = False
    """A lister says what is asked for: nothing is because it is known, whatever changed."""


AS_KNOWN = QueueStart()
"""All known URLs, on one level."""


class QueuePart(Protocol):
    """The part of a `Store` with the queue. New URLs enter it by `RecordPart`, finished ones leave it there."""

    # ---- entries

    def requeue_url(self, entry: QueueEntry) -> None:
        """Put a known URL, that does not wait, into the queue again, with the depth of the entry."""

    def entries_of(self, site: str, limit: int, levels: range | None = None) -> list[QueueEntry]:
        """Return the first `limit` waiting URLs of a site by level, rank, depth and order; or those of some levels."""

    def is_waiting(self, key: int) -> bool:
        """Whether a known URL is in the queue; looks through it."""

    def waiting_sites(self) -> list[tuple[str, int]]:
        """Return every site with waiting URLs and their number."""

    def left_over_sites(self) -> list[str]:
        """Return the sites that go on with entries which the cycle before left over."""

    def next_seq(self) -> int:
        """Return a number higher than that of every entry so far."""

    def dequeue_urls(self, keys: Iterable[int]) -> None:
        """Take URLs out of the queue, durably; they stay known."""

    def dequeue_removed(self) -> None:
        """Take the URLs that a person removed (status 955) out of the queue, durably; they stay known."""

    # ---- shares and hops

    def put_allowance(self, site: str, left: int) -> None:
        """Note how many new URLs of a site an adaptive cycle may still fetch (FAST 5.23).

        A new run begins without any; one that is resumed finds what the run before left.
        """

    def allowances(self) -> dict[str, int]:
        """Return what is left, by site; sees what was flushed."""

    def hops_to(self, keys: Sequence[int]) -> dict[int, int]:
        """Return how many documents in other languages lead to those of the URLs that have any (focused crawling)."""

    def put_hops(self, key: int, hops: int) -> None:
        """Store how many documents in other languages lead to a URL."""

    def reset_hops(self, hops: int) -> None:
        """Set the hops of every known URL but the start URLs, until a link to it is met again; seen after `flush`."""

    # ---- for people who look at it; sees what was flushed

    def first_waiting(self, limit: int) -> list[QueuedUrl]:
        """Return the first waiting URLs in the order of level, rank, depth and age; sites take turns meanwhile."""

    def first_known(self, limit: int) -> list[QueuedUrl]:
        """Return the first of all known URLs, sitemaps and removed ones apart, in the order of depth and age."""

    def queued_urls(self, keys: Sequence[int]) -> list[QueuedUrl]:
        """Return the known ones of some keys, waiting or not, in their order."""

    def number_waiting(self) -> int:
        """Return how many URLs wait."""

    def number_by_level(self, site: str) -> dict[int, int]:
        """Return how many URLs of a site wait, by level; sees what was not flushed, too."""
