"""Which of several URLs with the same content stands for it: a total order that knows no time."""

from __future__ import annotations

from ultracrawl.model import UrlRecord

NAMES_ITSELF, NAMES_NONE, NAMES_OTHER = 0, 1, 2
"""What the canonical link of a page says about the page's own URL."""

Rank = tuple[bool, int, bool, bool, int, str]
"""Compares as the order of `rank`; the lowest survives."""


def preference(url: str, canonical: str) -> int:
    """Return what a page says about its own URL by its canonical link (both canonical; empty: it has none)."""
    if not canonical:
        return NAMES_NONE
    return NAMES_ITSELF if canonical == url else NAMES_OTHER


def rank(url: str, own: int, seeds: frozenset[str]) -> Rank:
    """Return the place of a URL among those of equal content.

    Start URLs come first, then pages that name themselves as canonical, pages that name none, and pages that
    name another; among these https before others, no query before a query, the shorter, the first by alphabet. `own`
    is the `preference` of the page.
    """
    return (url not in seeds, own, not url.startswith("https:"), "?" in url, len(url), url)


def rank_of(record: UrlRecord, seeds: frozenset[str]) -> Rank:
    """Return the place of a known URL; see `rank`."""
    return rank(record.url, record.preference, seeds)
