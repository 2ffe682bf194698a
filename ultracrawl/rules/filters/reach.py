"""How many link steps are left at each URL of a site whose starting points have different depths."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from ultracrawl.rules.urls.canonical import url_key

LinksOf = Callable[[int], Iterable[int]]
"""Returns the keys of the known links of a URL, by its key."""


class LinkReach:
    """The link steps left at URLs of some sites: the most that any starting point of the site allows.

    `site_of` returns the number of the site that covers a URL, None if its starting points all have one depth.
    """

    def __init__(self, site_of: Callable[[str], int | None]) -> None:
        self.site_of = site_of
        self._sites: dict[int, int] = {}
        self._left: dict[int, int] = {}

    def begin_run(self) -> None:
        """Forget all URLs."""
        self._sites.clear()
        self._left.clear()

    def note_url(self, url: str) -> int | None:
        """Note to which site a URL belongs, and return its number; None if the site is none of these."""
        site = self.site_of(url)
        if site is not None:
            self._sites[url_key(url)] = site
        return site

    def site(self, key: int) -> int | None:
        """Return the number of the site of a noted URL."""
        return self._sites.get(key)

    def left(self, key: int) -> int | None:
        """Return the link steps left at a URL, negative if it is too far, None if nothing has led to it."""
        return self._left.get(key)

    def is_beyond(self, url: str) -> bool:
        """Return whether a URL is too far from each starting point that leads to it."""
        return self._left.get(url_key(url), 0) < 0

    def lead_to(self, routes: Iterable[tuple[int, int]], links_of: LinksOf) -> list[int]:
        """Take routes to noted URLs, given as key and link steps left there, and follow their links within the site.

        Returns the keys that came within reach.
        """
        waiting, reached = deque(routes), list[int]()
        while waiting:
            key, left = waiting.popleft()
            before = self._left.get(key)
            if before is not None and before >= left:
                continue
            self._left[key] = left
            if left >= 0 and (before is None or before < 0):
                reached.append(key)
            site = self._sites.get(key)
            waiting.extend((link, left - 1) for link in links_of(key) if self._sites.get(link) == site)
        return reached
