"""Stored documents that are spread over several parts of one form (FAST 5.1, 106)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path

from ultracrawl.model.answer import StoredAnswer
from ultracrawl.stores.documents.response_bodies import DocumentStore

_PART = "c"


def clusters_of(folder: Path) -> int:
    """Return the number of parts that a store has on disk, 0 if there is none yet."""
    parts = sum(1 for path in folder.glob(f"{_PART}[0-9]*") if path.is_dir())
    whole = (folder / "documents.sqlite").exists() or (folder / "files").exists()
    return 1 if whole else parts


def open_clusters(folder: Path, clusters: int, open_part: Callable[[Path], DocumentStore]) -> DocumentStore:
    """Open a store with as many parts as it has; one that is new gets `clusters` parts. Raises `StateError`."""
    number = clusters_of(folder) or clusters
    if number == 1:
        return open_part(folder)
    return ClusteredStore([open_part(folder / f"{_PART}{part}") for part in range(number)])


class ClusteredStore:
    """A store of several parts; the key says in which of them an answer lies."""

    def __init__(self, parts: Sequence[DocumentStore]) -> None:
        self._parts = tuple(parts)

    @property
    def renewed(self) -> str:
        """What became of parts that were damaged."""
        return "; ".join(filter(None, (part.renewed for part in self._parts)))

    @property
    def size(self) -> int:
        """Bytes of all parts."""
        return sum(part.size for part in self._parts)

    def _of(self, key: int) -> DocumentStore:
        return self._parts[key % len(self._parts)]

    def put_answer(self, key: int, answer: StoredAnswer, *, compress: bool) -> None:
        """Keep an answer in place of an earlier one."""
        self._of(key).put_answer(key, answer, compress=compress)

    def get(self, key: int) -> StoredAnswer | None:
        """Return the answer of a key."""
        return self._of(key).get(key)

    def stored_keys(self) -> list[int]:
        """Return the keys of all answers in ascending order."""
        return sorted(key for part in self._parts for key in part.stored_keys())

    def discard(self, keys: Iterable[int]) -> None:
        """Remove answers."""
        number = len(self._parts)
        for part, group in groupby(sorted(keys, key=lambda key: key % number), key=lambda key: key % number):
            self._parts[part].discard(group)

    def retain(self, keys: frozenset[int]) -> int:
        """Remove all other answers; returns how many."""
        return sum(part.retain(keys) for part in self._parts)

    def close(self) -> None:
        """Release the files."""
        for part in self._parts:
            part.close()
