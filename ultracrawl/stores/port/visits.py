"""Each URL over time: when it was seen, how often it changed, how often it failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from ultracrawl.rules.recrawl.adaptive import ChangeHistory, KnownPage, Observation, SiteSize


class KnownUrl(NamedTuple):
    """A known URL that something led to for the first time in a cycle."""

    key: int
    url: str
    site: str
    depth: int
    display_url: str


class UnseenUrl(NamedTuple):
    """A known URL that nothing led to for a while, and that was not fetched either."""

    key: int
    url: str
    shown_url: str
    has_document: bool
    is_gone: bool


class Advice(NamedTuple):
    """What a sitemap says about a URL."""

    key: int
    changefreq: str = ""
    priority: float | None = None
    changed: float = 0.0
    """When it changed last, seconds since the epoch; 0 if it does not say, or is not believed."""


class VisitPart(Protocol):
    """The part of a `Store` about visits over time."""

    cycle: int
    """The number of the present cycle."""

    def enter_cycle(self, number: int) -> None:
        """Count what is seen for a cycle."""

    # ---- one visit

    def note_seen(self, keys: Iterable[int]) -> None:
        """Note that URLs were seen in this cycle: fetched, or led to."""

    def note_met(self, keys: Iterable[int]) -> list[KnownUrl]:
        """Note that URLs were seen; returns, in order, the known ones that were not, in this cycle.

        Sitemaps are not among them, nor what somebody removed.
        """

    def note_visit(self, observation: Observation) -> None:
        """Store what a visit shows about the changes of a page."""

    def note_advice(self, advice: Iterable[Advice]) -> None:
        """Note what a sitemap says about URLs."""

    def count_failure(self, key: int, rule: str) -> int:
        """Count one more error of a URL under a rule that deletes after several; returns how many there are now."""

    def forget_failures(self, key: int) -> None:
        """Set the errors of a URL to 0, because it answered well."""

    # ---- many; they see what was flushed

    def history_of(self, key: int) -> ChangeHistory:
        """Return the change history of a page, from all visits to it."""

    def unseen_urls(self, cycles: int) -> list[UnseenUrl]:
        """Return the known URLs, sitemaps apart, not seen for at least so many cycles."""

    def known_pages(self, keys: Sequence[int] | None = None) -> Iterator[KnownPage]:
        """Yield all known URLs, sitemaps and removed ones apart, or those of some keys."""

    def site_sizes(self) -> dict[str, SiteSize]:
        """Return how many URLs of each site are known, sitemaps and removed ones apart."""

    def fetched_since(self, at: float) -> dict[str, int]:
        """Return how many pages of each site were fetched since a time, sitemaps apart."""

    def path_sizes(self, limit: int) -> dict[str, int]:
        """Return how many URLs with a query are known of each path (the URL up to the `?`).

        At most `limit` paths, those with most URLs.
        """
