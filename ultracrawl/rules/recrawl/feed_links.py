"""The list of pages that a feed has named, and their expiry (FAST 5.29)."""

from __future__ import annotations

from collections.abc import Iterable

from ultracrawl.dataclass import dataclass, replace


@dataclass(frozen=True, slots=True)
class FeedLink:
    """A page that a feed has named; times are seconds since the epoch."""

    key: int
    seen: float
    """When the feed first named it."""
    date: float = 0.0
    """Its date in the feed; 0 for none."""
    place: int = 0
    """Its position in the feed when it was first named; feeds put the newest first."""
    expired: bool = False
    """Whether it has expired; it stays in the list as long as the feed names it."""
    only: bool = False
    """Whether nothing but the feed had linked to it when it was first named."""

    @property
    def age_order(self) -> tuple[float, float, int]:
        """Sort key from the oldest to the newest."""
        return (self.seen, self.date or self.seen, -self.place)


@dataclass(frozen=True, slots=True)
class FeedRule:
    """When links of a feed expire: after `max_age` seconds, or beyond the newest `max_links`; None is no limit."""

    expires: bool = False
    max_age: float | None = None
    max_links: int | None = 128

    def expire(self, links: Iterable[FeedLink], now: float) -> list[FeedLink]:
        """Return the links of a feed, oldest first, with expired ones marked."""
        ordered = sorted(links, key=lambda link: link.age_order)
        if not self.expires:
            return ordered
        live = [link for link in ordered if not link.expired]
        surplus = len(live) - self.max_links if self.max_links is not None else 0
        expired = {link.key for link in live[: max(surplus, 0)]}
        if self.max_age is not None:
            expired.update(link.key for link in live if now - link.seen > self.max_age)
        return [replace(link, expired=True) if link.key in expired else link for link in ordered]


def renewed(
    known: Iterable[FeedLink], named: dict[int, float], new: Iterable[int], now: float
) -> list[FeedLink]:
    """Return the list of a feed after it was read: `named` are the dates of its pages by key, in its order.

    Pages named before stay in the list until they expire. `new` are the keys of pages that nothing else links to.
    """
    links = {link.key: link for link in known}
    fresh = set(new)
    for place, (key, date) in enumerate(named.items()):
        if key not in links:
            links[key] = FeedLink(key, now, date, place, only=key in fresh)
    return list(links.values())
