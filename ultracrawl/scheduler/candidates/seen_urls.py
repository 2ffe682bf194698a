"""The URLs that were met lately, so that the document table is not asked for each link."""

from __future__ import annotations

from ultracrawl.rules.urls.canonical import url_key

REJECTED = -1
"""Stands for the depth of a URL that is excluded, which no depth is."""
GENERATION = 200_000
"""Keys of one generation, about 20 MB."""

KEYS_KEPT = 20_000
"""URLs whose keys are remembered at most, about 4 MB."""


class UrlKeys(dict[str, int]):
    """The keys of URLs met lately: most links of a page are those of the page before."""

    def __missing__(self, url: str) -> int:
        """Compute a key and remember it; a full memory is emptied."""
        if len(self) >= KEYS_KEPT:
            self.clear()
        key = self[url] = url_key(url)
        return key


class SeenUrls:
    """The keys met lately, with their depth or `REJECTED`: spares the document table a look-up per link.

    Bounded: two generations of at most `GENERATION` keys (about 20 MB each); the older one is forgotten when
    the younger one is full.
    """

    def __init__(self) -> None:
        self._young: dict[int, int] = {}
        self._old: dict[int, int] = {}

    def get(self, key: int) -> int | None:
        """Return the depth of a key, `REJECTED`, or None if it was not met lately."""
        depth = self._young.get(key)
        if depth is None:
            depth = self._old.get(key)
            if depth is not None:
                self.add_key(key, depth)
        return depth

    def add_key(self, key: int, depth: int) -> None:
        """Remember a key."""
        if len(self._young) >= GENERATION:
            self._old = self._young
            self._young = {}
        self._young[key] = depth

    def drop(self, key: int) -> None:
        """Forget a key."""
        self._young.pop(key, None)
        self._old.pop(key, None)
