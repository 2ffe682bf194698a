"""Which URL stands for a document that several have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from sys import maxsize

NAMES_ITSELF, NAMES_NONE, NAMES_OTHER = 0, 1, 2
"""What the canonical link of a page says about the page's own URL."""

Rank = tuple[bool, int, bool, bool, int, int, str]
"""Compares as the order of `UrlRanking`; the lowest survives."""


def preference(url: str, canonical: str) -> int:
    """Return what a page says about its own URL by its canonical link (both canonical; empty: it has none)."""
    if not canonical:
        return NAMES_NONE
    return NAMES_ITSELF if canonical == url else NAMES_OTHER


class UrlRanking:
    """Orders the URLs of equal content.

    Start URLs come first, then pages that name themselves as canonical, pages that name none, and pages that
    name another; among these https before others, no query before a query, the nearest to a start URL, the shorter,
    the first by alphabet. `landings` are what start URLs redirect to: what is near them is near the start, too.

    All of that stands in the URLs and pages themselves, unlike the number of links that lead there: which of two
    ways was found first depends on the pace of servers.
    """

    def __init__(self, seeds: Iterable[str], landings: Iterable[str] = ()) -> None:
        self._seeds = frozenset(seeds)
        self._up: dict[str, int] = {}
        """Folders that start URLs lie in or below, and how far above the nearest of them."""
        for folder in {_folder(url) for url in (*self._seeds, *landings)}:
            for up, above in enumerate(_upwards(folder)):
                self._up[above] = min(up, self._up.get(above, up))

    def rank(self, url: str, own: int) -> Rank:
        """Return the place of a URL; `own` is the `preference` of its page."""
        secure, steps = url.startswith("https:"), self.steps_from_start(url)
        return (url not in self._seeds, own, not secure, "?" in url, steps, len(url), url)

    def steps_from_start(self, url: str) -> int:
        """Return the steps, up or down a folder, from the nearest start URL; very many from one of another host."""
        ways = (
            down + self._up[above] for down, above in enumerate(_upwards(_folder(url))) if above in self._up
        )
        return min(ways, default=maxsize)


def _folder(url: str) -> str:
    """Return host and path of a URL up to the last slash, without the slash."""
    location = url.partition("://")[2].partition("?")[0]
    return location.rpartition("/")[0] or location


def _upwards(folder: str) -> Iterator[str]:
    """Yield a folder and those above it, up to the host."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
