"""Interface of the visit history: when each URL was seen, how often it changed and failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from ultracrawl.rules.recrawl.adaptive import ChangeHistory, KnownPage, Observation, SiteSize


class KnownUrl(NamedTuple):
    """A known URL that was linked to for the first time in a cycle."""

    key: int
    url: str
    site: str
    depth: int
    display_url: str


class LinkedUrl(NamedTuple):
    """A known URL that is linked to."""

    known: KnownUrl
    is_first: bool
    """Whether it was not seen in this cycle before; never for sitemaps and removed URLs."""


class UnseenUrl(NamedTuple):
    """A known URL that was neither linked to nor fetched for some cycles."""

    key: int
    url: str
    shown_url: str
    has_document: bool


class Advice(NamedTuple):
    """`changefreq`, `priority` and `lastmod` of a URL in a sitemap."""

    key: int
    changefreq: str = ""
    priority: float | None = None
    changed: float = 0.0
    """`lastmod` in seconds since the epoch; 0 if it is missing or not trusted."""


class VisitPart(Protocol):
    """The part of a `Store` with the visit history."""

    cycle: int
    """The number of the current cycle."""

    def enter_cycle(self, number: int) -> None:
        """Set the current cycle."""

    # ---- one visit

    def note_seen(self, keys: Iterable[int]) -> None:
        """Record that URLs were fetched or linked to in this cycle."""

    def note_met(self, keys: Iterable[int]) -> list[KnownUrl]:
        """Record that URLs were linked to; returns, in order, the known ones seen for the first time in this cycle.

        Sitemaps and removed URLs are not returned.
        """

    def linked_urls(self, keys: Sequence[int]) -> dict[int, LinkedUrl]:
        """Return what `note_met` would tell about those of the keys that are known and flushed; records nothing."""

    def note_visit(self, observation: Observation) -> None:
        """Add a visit to the change history of a page."""

    def note_advice(self, advice: Iterable[Advice]) -> None:
        """Store what a sitemap says about URLs."""

    def count_failure(self, key: int, rule: str) -> int:
        """Count one more error of a URL under a deletion rule; returns the new count."""

    def forget_failures(self, key: int) -> None:
        """Reset the error counts of a URL after a successful response."""

    # ---- queries; they see flushed changes only

    def history_of(self, key: int) -> ChangeHistory:
        """Return the change history of a page, from all visits to it."""

    def unseen_urls(self, cycles: int) -> list[UnseenUrl]:
        """Return the known URLs, without sitemaps, not seen for at least `cycles` cycles."""

    def known_pages(self, keys: Sequence[int] | None = None) -> Iterator[KnownPage]:
        """Yield all known URLs, or those of `keys`, without sitemaps and removed ones."""

    def site_sizes(self) -> dict[str, SiteSize]:
        """Return the numbers of known URLs by site, without sitemaps and removed ones."""

    def fetched_since(self, at: float) -> dict[str, int]:
        """Return the number of pages fetched since a time by site, without sitemaps."""

    def path_sizes(self, limit: int) -> dict[str, int]:
        """Return the number of known URLs with a query string by path (the URL up to the `?`).

        Only the `limit` paths with the most URLs.
        """
