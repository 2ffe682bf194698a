"""Bodies of fetched documents with their headers, durable: the interface of such stores, and one of plain files."""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from ultracrawl.errors import StateError
from ultracrawl.model.answer import StoredAnswer

_LEVEL = 3


class DocumentStore(Protocol):
    """Answers by the key of their URL. A write is whole or not at all, also after a kill. Raises `StateError`."""

    @property
    def renewed(self) -> str:
        """What was done with a damaged store that this new one replaces; empty if there was none."""

    @property
    def size(self) -> int:
        """Bytes of all bodies as they are stored."""

    def put_answer(self, key: int, answer: StoredAnswer, *, compress: bool) -> None:
        """Keep an answer in place of an earlier one."""

    def get(self, key: int) -> StoredAnswer | None:
        """Return the answer of a key, None if none is kept. Raises `StateError` if it is damaged."""

    def stored_keys(self) -> list[int]:
        """Return the keys of all answers in ascending order."""

    def discard(self, keys: Iterable[int]) -> None:
        """Remove answers; no error for keys that have none."""

    def retain(self, keys: frozenset[int]) -> int:
        """Remove all other answers; returns how many. Called when a run ends: files are compacted then."""

    def close(self) -> None:
        """Release the files."""


class FileStore:
    """Each answer in a file of its own: one line of JSON, then the body. 256 folders."""

    renewed = ""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "files"
        with translated_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._size = sum(path.stat().st_size for path in self._paths())

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return self._size

    def put_answer(self, key: int, answer: StoredAnswer, *, compress: bool) -> None:
        """Keep an answer in place of an earlier one."""
        head, body = pack_answer(answer, compress)
        data = head.encode() + b"\n" + body
        path = self._path(key)
        draft = path.with_suffix(".new")
        with translated_errors(path):
            path.parent.mkdir(exist_ok=True)
            before = path.stat().st_size if path.exists() else 0
            draft.write_bytes(data)
            draft.replace(path)
        self._size += len(data) - before

    def get(self, key: int) -> StoredAnswer | None:
        """Return the answer of a key."""
        path = self._path(key)
        with translated_errors(path):
            if not path.exists():
                return None
            head, _, body = path.read_bytes().partition(b"\n")
            return unpack_answer(head.decode(), body)

    def stored_keys(self) -> list[int]:
        """Return the keys of all answers."""
        with translated_errors(self._folder):
            return sorted(_signed(int(path.stem, 16)) for path in self._paths())

    def discard(self, keys: Iterable[int]) -> None:
        """Remove answers."""
        with translated_errors(self._folder):
            for path in map(self._path, keys):
                if path.exists():
                    self._size -= path.stat().st_size
                    path.unlink()

    def retain(self, keys: frozenset[int]) -> int:
        """Remove all other answers."""
        gone = [key for key in self.stored_keys() if key not in keys]
        with translated_errors(self._folder):
            for draft in self._folder.glob("*/*.new"):
                draft.unlink()  # of a process that was killed
        self.discard(gone)
        return len(gone)

    def close(self) -> None:
        """There is nothing to release."""

    def _path(self, key: int) -> Path:
        name = f"{key % (1 << 64):016x}"
        return self._folder / name[:2] / f"{name}.doc"

    def _paths(self) -> Iterable[Path]:
        return self._folder.glob("*/*.doc")


def _signed(key: int) -> int:
    return key - (1 << 64) if key >> 63 else key


def pack_answer(answer: StoredAnswer, compress: bool) -> tuple[str, bytes]:
    """Return what is stored of an answer: a line of JSON about it, and its body."""
    body = zlib.compress(answer.body, _LEVEL) if compress else answer.body
    packed = compress and len(body) < len(answer.body)
    head = {
        "url": answer.url,
        "fetched": answer.fetched,
        "headers": answer.headers,
        "truncated": answer.truncated,
        "compressed": packed,
    }
    return json.dumps(head), body if packed else answer.body


def unpack_answer(head: str, body: bytes) -> StoredAnswer:
    """Return the answer of which this is stored. Raises `ValueError`, `KeyError` or `zlib.error` for a damaged one."""
    known = json.loads(head)
    headers = tuple((name, value) for name, value in known["headers"])
    whole = zlib.decompress(body) if known["compressed"] else body
    return StoredAnswer(known["url"], known["fetched"], headers, whole, known["truncated"])


@contextlib.contextmanager
def translated_errors(place: Path) -> Iterator[None]:
    """Let errors of files, and of what they hold, be `StateError`s that name a place."""
    try:
        yield
    except OSError as error:
        raise StateError(f"the stored documents in {place}: {error.strerror}") from error
    except (zlib.error, ValueError, KeyError) as error:
        raise StateError(f"the stored documents in {place} cannot be used: {error}") from error
