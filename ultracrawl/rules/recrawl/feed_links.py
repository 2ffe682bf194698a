"""The list of a feed: what it brought, since when, and what of it is over (FAST 5.29)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class FeedLink:
    """One page that a feed brought; times are seconds since the epoch."""

    key: int
    seen: float
    """When the feed brought it first."""
    date: float = 0.0
    """The date that the feed gives it; 0 for none."""
    place: int = 0
    """Where in the feed it stood when it came first; feeds put the newest first."""
    expired: bool = False
    """Its time is over; it is kept in mind for as long as the feed goes on naming it."""
    only: bool = False
    """Nothing but the feed had led to it when it came."""

    @property
    def age_order(self) -> tuple[float, float, int]:
        """Sorts links from the oldest to the newest."""
        return (self.seen, self.date or self.seen, -self.place)


@dataclass(frozen=True, slots=True)
class FeedRule:
    """When links of a feed are over: after `max_age` seconds, or when more than `max_links` came; None is no limit."""

    expires: bool = False
    max_age: float | None = None
    max_links: int | None = 128

    def expire(self, links: Iterable[FeedLink], now: float) -> list[FeedLink]:
        """Return the links of a feed, those that are over marked; first in, first out."""
        every = sorted(links, key=lambda link: link.age_order)
        if not self.expires:
            return every
        live = [link for link in every if not link.expired]
        surplus = len(live) - self.max_links if self.max_links is not None else 0
        over = {link.key for link in live[: max(surplus, 0)]}
        if self.max_age is not None:
            over.update(link.key for link in live if now - link.seen > self.max_age)
        return [replace(link, expired=True) if link.key in over else link for link in every]


def renewed(
    known: Iterable[FeedLink], named: dict[int, float], new: Iterable[int], now: float
) -> list[FeedLink]:
    """Return the list of a feed that names pages now, by key with their dates, in its order.

    What it named before stays in the list until it is over. `new` are the keys of pages that nothing else led to.
    """
    links = {link.key: link for link in known}
    fresh = set(new)
    for place, (key, date) in enumerate(named.items()):
        if key not in links:
            links[key] = FeedLink(key, now, date, place, only=key in fresh)
    return list(links.values())
