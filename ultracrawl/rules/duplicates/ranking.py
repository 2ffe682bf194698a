"""The ranking of URLs with equal content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from sys import maxsize

NAMES_ITSELF, NAMES_NONE, NAMES_OTHER, ALIAS = 0, 1, 2, 3
"""Whether the canonical link of a page names the page's own URL, is missing, names another one, or is followed."""

Rank = tuple[bool, bool, int, bool, bool, int, int, str]
"""Sort key of `UrlRanking`; the lowest URL is indexed."""


def preference(url: str, canonical: str) -> int:
    """Compare a page's URL with its canonical link (both canonical; empty: it has none)."""
    if not canonical:
        return NAMES_NONE
    return NAMES_ITSELF if canonical == url else NAMES_OTHER


class UrlRanking:
    """Orders the URLs of equal content.

    Start URLs come first, then pages that name themselves as canonical, pages that name none, and pages that
    name another; within these, https before others, no query before a query, the nearest to a start URL, the shorter
    URL, alphabetical order. An alias comes last, even one that is a start URL. `landings` are the targets of
    redirects of start URLs and count as start URLs for the distance.

    The order depends only on URLs and pages, not on links: which of two links is found first depends on the speed
    of servers.
    """

    def __init__(self, seeds: Iterable[str], landings: Iterable[str] = ()) -> None:
        self._seeds = frozenset(seeds)
        self._steps_up: dict[str, int] = {}
        """Folders of start URLs and those above them, with the steps up from the nearest start URL."""
        for folder in {_folder(url) for url in (*self._seeds, *landings)}:
            for steps, parent in enumerate(_with_parents(folder)):
                self._steps_up[parent] = min(steps, self._steps_up.get(parent, steps))

    def rank(self, url: str, preference: int) -> Rank:
        """Return the sort key of a URL; `preference` is that of its page."""
        secure, steps = url.startswith("https:"), self.steps_from_start(url)
        is_alias, is_seed = preference == ALIAS, url in self._seeds
        return (is_alias, not is_seed, preference, not secure, "?" in url, steps, len(url), url)

    def steps_from_start(self, url: str) -> int:
        """Return the steps up and down folders from the nearest start URL; `sys.maxsize` on another host."""
        paths = (
            steps + self._steps_up[folder]
            for steps, folder in enumerate(_with_parents(_folder(url)))
            if folder in self._steps_up
        )
        return min(paths, default=maxsize)


def _folder(url: str) -> str:
    """Return host and path of a URL up to the last slash, without that slash."""
    location = url.partition("://")[2].partition("?")[0]
    return location.rpartition("/")[0] or location


def _with_parents(folder: str) -> Iterator[str]:
    """Yield a folder and those above it, up to the host."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
