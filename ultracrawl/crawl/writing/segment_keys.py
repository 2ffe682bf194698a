"""The keys of the documents in the segments of a cache that wait for the primary index."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from pathlib import Path

from ultracrawl.index import IndexDocument, NewAnchors
from ultracrawl.index.writing.cache import DocumentCache

KEYS_KEPT = 8
"""Segments whose URLs are kept in memory; those of further ones are read again when their commit comes."""


class SegmentKeys:
    """The URLs of documents by their keys, empty for removals, for the open segment and each sealed one that waits.

    A commit says what an index has of a document only if no later segment changes it again. So the keys of all that
    waits are kept, of segments beyond the first ones in 8 bytes each.
    """

    def __init__(self, cache: DocumentCache) -> None:
        self._cache = cache
        self.open: dict[int, str] = {}
        """Those of the open segment."""
        self._kept: dict[str, Mapping[int, str]] = {}
        self._further: dict[str, array[int]] = {}

    def seal(self, path: Path) -> None:
        """Take note that the open segment is sealed; another one is open from now on."""
        self.note_sealed(path, self.open)
        self.open = {}

    def note_sealed(self, path: Path, urls: Mapping[int, str]) -> None:
        """Take note of a segment that waits from now on."""
        if len(self._kept) < KEYS_KEPT:
            self._kept[path.name] = urls
        else:
            self._further[path.name] = array("q", urls)

    def urls_of(self, path: Path) -> Mapping[int, str]:
        """Return what a segment changes. Raises `IndexStoreError` if it has to be read and cannot be."""
        kept = self._kept.get(path.name)
        if kept is not None:
            return kept
        return {
            key: change.url if isinstance(change, IndexDocument) else ""
            for key, change in self._cache.read(path)
            if key and not isinstance(change, NewAnchors)
        }

    def changed_later(self, path: Path, urls: Mapping[int, str]) -> set[int]:
        """Return the keys of a segment that a later one, which still waits or is open, has too."""
        found = urls.keys() & self.open.keys()
        for name, later in self._kept.items():  # names are numbers of equal length
            if name > path.name:
                found |= urls.keys() & later.keys()
        for name, keys in self._further.items():
            if name > path.name:
                found.update(key for key in keys if key in urls)
        return found

    def forget(self, path: Path) -> None:
        """Take note that the primary index has a segment, and that the store was told."""
        self._kept.pop(path.name, None)
        self._further.pop(path.name, None)
