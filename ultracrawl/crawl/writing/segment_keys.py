"""The keys of documents in the cache segments that wait for the primary index."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from pathlib import Path

from ultracrawl.index import IndexDocument, NewAnchors
from ultracrawl.index.writing.cache import DocumentCache

MAX_CACHED_SEGMENTS = 8
"""Segments whose URLs are kept in memory; those of further ones are read again when their commit comes."""


class SegmentKeys:
    """The URLs of documents by key (empty for deletions), for the open segment and each sealed one that waits.

    A commit determines the state of a document only if no later segment changes it again. So the keys of all waiting
    segments are kept, those beyond the first `MAX_CACHED_SEGMENTS` in 8 bytes each.
    """

    def __init__(self, cache: DocumentCache) -> None:
        self._cache = cache
        self.open: dict[int, str] = {}
        """URLs of the open segment."""
        self._kept: dict[str, Mapping[int, str]] = {}
        self._further: dict[str, array[int]] = {}

    def seal(self, path: Path) -> None:
        """Turn the open segment into a sealed one, and start another."""
        self.add_sealed(path, self.open)
        self.open = {}

    def add_sealed(self, path: Path, urls: Mapping[int, str]) -> None:
        """Add a segment that waits for the primary index."""
        if len(self._kept) < MAX_CACHED_SEGMENTS:
            self._kept[path.name] = urls
        else:
            self._further[path.name] = array("q", urls)

    def urls_of(self, path: Path) -> Mapping[int, str]:
        """Return the changes of a segment. Raises `IndexStoreError` if it has to be read and cannot be."""
        kept = self._kept.get(path.name)
        if kept is not None:
            return kept
        return {
            key: change.url if isinstance(change, IndexDocument) else ""
            for key, change in self._cache.read(path)
            if key and not isinstance(change, NewAnchors)
        }

    def changed_later(self, path: Path, urls: Mapping[int, str]) -> set[int]:
        """Return the keys of a segment that a later one changes, which waits or is open."""
        changed = urls.keys() & self.open.keys()
        for name, later in self._kept.items():  # names are numbers of equal length, so they sort by age
            if name > path.name:
                changed |= urls.keys() & later.keys()
        for name, keys in self._further.items():
            if name > path.name:
                changed.update(key for key in keys if key in urls)
        return changed

    def forget(self, path: Path) -> None:
        """Drop a segment that the primary index has committed and the store has recorded."""
        self._kept.pop(path.name, None)
        self._further.pop(path.name, None)
