"""Caches of recently seen URLs, which spare the document table a look-up per link."""

from __future__ import annotations

from ultracrawl.rules.urls.canonical import url_key

REJECTED = -1
"""Stored in place of the depth of an excluded URL."""
GENERATION_SIZE = 200_000
"""Keys of one generation, about 20 MB."""

MAX_CACHED_KEYS = 20_000
"""Limit of URLs whose keys are cached, about 4 MB."""


class UrlKeys(dict[str, int]):
    """A cache of URL keys: most links of a page also occur in the previous page."""

    def __missing__(self, url: str) -> int:
        """Compute and cache the key of a URL; a full cache is cleared first."""
        if len(self) >= MAX_CACHED_KEYS:
            self.clear()
        key = self[url] = url_key(url)
        return key


class SeenUrls:
    """Recently seen keys with their depth, or `REJECTED`.

    Bounded: two generations of at most `GENERATION_SIZE` keys (about 20 MB each); the older one is dropped when the
    younger one is full.
    """

    def __init__(self) -> None:
        self._young: dict[int, int] = {}
        self._old: dict[int, int] = {}

    def get(self, key: int) -> int | None:
        """Return the depth of a key, `REJECTED`, or None if it was not seen recently."""
        depth = self._young.get(key)
        if depth is None:
            depth = self._old.get(key)
            if depth is not None:
                self.add_key(key, depth)
        return depth

    def add_key(self, key: int, depth: int) -> None:
        """Remember a key."""
        if len(self._young) >= GENERATION_SIZE:
            self._old = self._young
            self._young = {}
        self._young[key] = depth

    def drop(self, key: int) -> None:
        """Forget a key."""
        self._young.pop(key, None)
        self._old.pop(key, None)
