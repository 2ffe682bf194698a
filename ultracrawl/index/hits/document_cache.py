"""Keeps what takes most of the time of a search: decoded documents, folded texts, scores of words."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, TypeVar

from ultracrawl.index.engine import IndexDocument, WordScores
from ultracrawl.index.words.folded_text import padded_text

DOCUMENT_CACHE_BYTES = 64_000_000
"""Bytes that a searcher keeps by default."""
_DOCUMENT_BYTES = 1500
"""Memory of a document without its texts and sections."""
_SECTION_BYTES = 350
"""Memory of a section, or of the texts of a link to one."""
_FOLDED_BYTES = 200
"""Memory of a folded text without the text."""
_SCORE_BYTES = 100
"""Memory of the score of a document for a word."""
_SHARE = 4
"""Nothing is kept that takes more than this part of the size."""
Value = TypeVar("Value")


class DocumentCache:
    """What was computed for earlier searches and used last, up to a size in bytes. Not thread-safe."""

    def __init__(self, size: int = DOCUMENT_CACHE_BYTES) -> None:
        self._room = size
        self._largest = size // _SHARE
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()

    def document(self, place: Hashable, decode: Callable[[], IndexDocument]) -> IndexDocument:
        """Return the document at a place; `decode` reads it from the index.

        A place, a segment and a number in it, always has the same document: a changed document gets another place, and
        the place of a deleted one is never found again.
        """
        return self._found(("document", place), decode, _size_of)

    def folded(self, text: str) -> tuple[bytes, bool]:
        """Return `padded_text(text)`."""
        return self._found(text, partial(padded_text, text), lambda one: len(one[0]) + _FOLDED_BYTES)

    def scores(self, key: Hashable, compute: Callable[[], WordScores]) -> WordScores:
        """Return the scores of a word; `key` names the snapshot of the index, too."""
        return self._found(("scores", key), compute, _size_of_scores)

    def _found(self, key: Hashable, make: Callable[[], Value], size_of: Callable[[Value], int]) -> Value:
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            value: Value = found[0]
            return value
        value = make()
        size = size_of(value)
        if size <= self._largest:
            self._kept[key] = value, size
            self._room -= size
            while self._room < 0:
                self._room += self._kept.popitem(last=False)[1][1]
        return value


def _size_of(document: IndexDocument) -> int:
    """Return about the memory of a document."""
    parts = len(document.sections) + len(document.section_anchors) + len(document.anchors)
    values = sum(map(len, document.attributes.values()))
    return sys.getsizeof(document.text) + _DOCUMENT_BYTES + _SECTION_BYTES * parts + 100 * values


def _size_of_scores(scores: WordScores) -> int:
    return sum(_FOLDED_BYTES + _SCORE_BYTES * len(found) for found in scores.values())
