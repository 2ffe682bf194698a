"""Keeps decoded documents and folded texts for later searches: half of the time of a search is spent on making them."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from ultracrawl.index.engine import IndexDocument
from ultracrawl.index.words.folded_text import padded_text

DOCUMENT_CACHE_BYTES = 64_000_000
"""Bytes of the documents that a searcher keeps by default."""
_DOCUMENT_BYTES = 1500
"""Memory of a document without its texts and sections."""
_SECTION_BYTES = 350
"""Memory of a section, or of the texts of a link to one."""
_FOLDED_BYTES = 200
"""Memory of a folded text without the text."""
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class _Recent(Generic[Key, Value]):
    """The values that were used last, up to a size in bytes."""

    def __init__(self, size: int) -> None:
        self._room = size
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()

    def find(self, key: Key) -> Value | None:
        found = self._kept.get(key)
        if found is None:
            return None
        self._kept.move_to_end(key)
        return found[0]

    def keep(self, key: Key, value: Value, size: int) -> None:
        self._room -= size
        self._kept[key] = value, size
        while self._room < 0:
            self._room += self._kept.popitem(last=False)[1][1]


class DocumentCache:
    """Documents by their place in an index, and folded texts, used last, up to a size in bytes. Not thread-safe.

    A place, a segment and a number in it, always has the same document: a changed document gets another place, and the
    place of a deleted one is never found again. Two thirds of the size are for documents.
    """

    def __init__(self, size: int = DOCUMENT_CACHE_BYTES) -> None:
        self._documents = _Recent[Hashable, IndexDocument](size - size // 3)
        self._folded = _Recent[str, tuple[bytes, bool]](size // 3)

    def document(self, place: Hashable, decode: Callable[[], IndexDocument]) -> IndexDocument:
        """Return the document at a place; `decode` reads it from the index."""
        found = self._documents.find(place)
        if found is None:
            found = decode()
            self._documents.keep(place, found, _size_of(found))
        return found

    def folded(self, text: str) -> tuple[bytes, bool]:
        """Return `padded_text(text)`."""
        found = self._folded.find(text)
        if found is None:
            found = padded_text(text)
            self._folded.keep(text, found, len(found[0]) + _FOLDED_BYTES)
        return found


def _size_of(document: IndexDocument) -> int:
    """Return about the memory of a document."""
    parts = len(document.sections) + len(document.section_anchors) + len(document.anchors)
    values = sum(map(len, document.attributes.values()))
    return sys.getsizeof(document.text) + _DOCUMENT_BYTES + _SECTION_BYTES * parts + 100 * values
