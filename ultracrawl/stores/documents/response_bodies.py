"""Stores of responses: the interface, its implementation with one file per response, and the serialization."""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from ultracrawl.errors import StateError
from ultracrawl.model.answer import StoredAnswer
from ultracrawl.system.files import cause_and_remedy

_LEVEL = 3


class DocumentStore(Protocol):
    """Responses by the key of their URL. Writes are atomic, also if the process is killed. Raises `StateError`."""

    @property
    def renewed(self) -> str:
        """Message about a damaged store that this new one replaces; empty if there was none."""

    @property
    def size(self) -> int:
        """Total size of the stored bodies, in bytes."""

    def put_answer(self, key: int, answer: StoredAnswer, *, compress: bool) -> None:
        """Store a response in place of an earlier one."""

    def get(self, key: int) -> StoredAnswer | None:
        """Return the response of a key, or None. Raises `StateError` if it is damaged."""

    def stored_keys(self) -> list[int]:
        """Return the keys of all responses in ascending order."""

    def discard(self, keys: Iterable[int]) -> None:
        """Delete responses; keys without one are ignored."""

    def retain(self, keys: frozenset[int]) -> int:
        """Delete the responses of all other keys; returns their number. Compacts files; called at the end of a run."""

    def close(self) -> None:
        """Close the files."""


class FileStore:
    """Stores each response in a file of its own, in 256 folders: one line of JSON, then the body (`form: files`)."""

    renewed = ""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "files"
        with translated_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
        self._size: int | None = None

    @property
    def size(self) -> int:
        """Total size of all files, in bytes; the first call looks at each of them."""
        if self._size is None:
            with translated_errors(self._folder):
                self._size = sum(path.stat().st_size for path in self._paths())
        return self._size

    def put_answer(self, key: int, answer: StoredAnswer, *, compress: bool) -> None:
        """Store a response in place of an earlier one."""
        head, body = pack_answer(answer, compress)
        data = head.encode() + b"\n" + body
        path = self._path(key)
        draft = path.with_suffix(".new")
        with translated_errors(path):
            path.parent.mkdir(exist_ok=True)
            before = path.stat().st_size if path.exists() else 0
            draft.write_bytes(data)
            draft.replace(path)
        if self._size is not None:
            self._size += len(data) - before

    def get(self, key: int) -> StoredAnswer | None:
        """Return the response of a key, or None."""
        path = self._path(key)
        with translated_errors(path):
            if not path.exists():
                return None
            head, _, body = path.read_bytes().partition(b"\n")
            return unpack_answer(head.decode(), body)

    def stored_keys(self) -> list[int]:
        """Return the keys of all responses in ascending order."""
        with translated_errors(self._folder):
            return sorted(_signed(int(path.stem, 16)) for path in self._paths())

    def discard(self, keys: Iterable[int]) -> None:
        """Delete responses."""
        with translated_errors(self._folder):
            for path in map(self._path, keys):
                path.unlink(missing_ok=True)
        self._size = None

    def retain(self, keys: frozenset[int]) -> int:
        """Delete the responses of all other keys, and leftover drafts; returns their number."""
        gone = [key for key in self.stored_keys() if key not in keys]
        with translated_errors(self._folder):
            for draft in self._folder.glob("*/*.new"):
                draft.unlink()  # left by a killed process
        self.discard(gone)
        return len(gone)

    def close(self) -> None:
        """Do nothing: no file stays open."""

    def _path(self, key: int) -> Path:
        name = f"{key % (1 << 64):016x}"
        return self._folder / name[:2] / f"{name}.doc"

    def _paths(self) -> Iterable[Path]:
        return self._folder.glob("*/*.doc")


def _signed(key: int) -> int:
    return key - (1 << 64) if key >> 63 else key


def pack_answer(answer: StoredAnswer, compress: bool) -> tuple[str, bytes]:
    """Return the stored form of a response: metadata as a line of JSON, and the body."""
    body = zlib.compress(answer.body, _LEVEL) if compress else answer.body
    is_compressed = compress and len(body) < len(answer.body)
    head = {
        "url": answer.url,
        "fetched": answer.fetched,
        "headers": answer.headers,
        "truncated": answer.truncated,
        "compressed": is_compressed,
    }
    return json.dumps(head), body if is_compressed else answer.body


def unpack_answer(head: str, body: bytes) -> StoredAnswer:
    """Return the response of its stored form. Raises `ValueError`, `KeyError` or `zlib.error` if it is damaged."""
    metadata = json.loads(head)
    headers = tuple((name, value) for name, value in metadata["headers"])
    content = zlib.decompress(body) if metadata["compressed"] else body
    return StoredAnswer(metadata["url"], metadata["fetched"], headers, content, metadata["truncated"])


@contextlib.contextmanager
def translated_errors(place: Path) -> Iterator[None]:
    """Turn errors of files and of their contents in a block into a `StateError` that names `place`."""
    try:
        yield
    except OSError as error:
        raise StateError(f"the stored documents in {place}: {cause_and_remedy(error)}") from error
    except (zlib.error, ValueError, KeyError) as error:
        raise StateError(f"the stored documents in {place} cannot be used: {error}") from error
