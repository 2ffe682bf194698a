"""A store of responses that is split into several parts (FAST 5.1, 106)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path

from ultracrawl.model.answer import StoredAnswer
from ultracrawl.stores.documents.response_bodies import DocumentStore

_PART = "c"


def clusters_of(folder: Path) -> int:
    """Return the number of parts of a store on disk, 0 if there is no store yet."""
    parts = sum(1 for path in folder.glob(f"{_PART}[0-9]*") if path.is_dir())
    whole = (folder / "documents.sqlite").exists() or (folder / "files").exists()
    return 1 if whole else parts


def open_clusters(folder: Path, clusters: int, open_part: Callable[[Path], DocumentStore]) -> DocumentStore:
    """Open a store with the parts that it has; a new store gets `clusters` parts. Raises `StateError`."""
    number = clusters_of(folder) or clusters
    if number == 1:
        return open_part(folder)
    return ClusteredStore([open_part(folder / f"{_PART}{part}") for part in range(number)])


class ClusteredStore:
    """A store of several parts; the key modulo their number selects the part."""

    def __init__(self, parts: Sequence[DocumentStore]) -> None:
        self._parts = tuple(parts)

    @property
    def renewed(self) -> str:
        """Messages about damaged parts that were replaced."""
        return "; ".join(filter(None, (part.renewed for part in self._parts)))

    @property
    def size(self) -> int:
        """Bytes of all parts."""
        return sum(part.size for part in self._parts)

    def _part(self, key: int) -> DocumentStore:
        return self._parts[key % len(self._parts)]

    def put_answer(self, key: int, answer: StoredAnswer, *, compress: bool) -> None:
        """Store a response in place of an earlier one."""
        self._part(key).put_answer(key, answer, compress=compress)

    def get(self, key: int) -> StoredAnswer | None:
        """Return the response of a key, or None."""
        return self._part(key).get(key)

    def stored_keys(self) -> list[int]:
        """Return the keys of all responses in ascending order."""
        return sorted(key for part in self._parts for key in part.stored_keys())

    def discard(self, keys: Iterable[int]) -> None:
        """Delete responses."""
        number = len(self._parts)
        for part, group in groupby(sorted(keys, key=lambda key: key % number), key=lambda key: key % number):
            self._parts[part].discard(group)

    def retain(self, keys: frozenset[int]) -> int:
        """Delete the responses of all other keys; returns their number."""
        return sum(part.retain(keys) for part in self._parts)

    def close(self) -> None:
        """Close the files."""
        for part in self._parts:
            part.close()
