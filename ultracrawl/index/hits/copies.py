"""Folds hits that say the same into one: copies of a page under several addresses, and one-page versions of a manual.

Copies have the same own name, the last part of their path, and differ in one place of the folders before it, such as
`/en/` and `/current/`. Their titles agree, apart from what differs there, and their texts nearly. Pages that a
generator made for different things may be as much alike (`Weak in std::rc`, `Weak in std::sync`): if the folder right
around a page differs, it may be the name of the thing, so that titles must be equal, apart from numbers of versions.

A one-page version is a page whose best passage is all of another page, see `hits.passages`. The page of its own is the
hit, also if it is up to `_AHEAD` ranks behind.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit

from ultracrawl.dataclass import dataclass, field
from ultracrawl.index.engine import IndexDocument, SearchQuery
from ultracrawl.index.hits.passages import (
    ALIKE,
    TEXT_LENGTH,
    PassageFinder,
    are_alike,
    may_have_parts,
)
from ultracrawl.index.hits.ties import RERANK_LIMIT
from ultracrawl.index.stored_fields import STORED_TEXT_LIMIT
from ultracrawl.index.words.analysis import words
from ultracrawl.index.words.text import address_words

MIN_WORDS = 50
"""Different words of a text; shorter ones say too little."""
ALIKE_NEIGHBOURS = 0.97
"""Share of the words of two texts that both have, if their folders have different names."""
_MOST_FOLDERS = 2
"""Folders in a row that may differ."""
_AHEAD = 5
"""Ranks behind a one-page version in which the page of its own is still shown in its place."""
_LONG = 1.5
"""A one-page version has at least so many times the text of the hits before it, on average."""

_UNREAD = IndexDocument("", "", "", "")
"""Stands for the documents behind the matches that are compared."""
Place = TypeVar("Place")
Folders = tuple[tuple[str, ...], ...]


class _Page(NamedTuple):
    """A document among the hits, with the number of its hit."""

    number: int
    document: IndexDocument
    folders: Folders
    """The words of the names of the folders around it."""


@dataclass(slots=True)
class _Kept(Generic[Place]):
    """A hit that is shown, with what was folded into it."""

    rank: int
    score: float
    place: Place
    document: IndexDocument = _UNREAD
    characters: int = 0
    has_parts: bool = False
    """Whether it may be a one-page version."""
    copies: list[str] = field(default_factory=list)


def folds_copies(query: SearchQuery) -> bool:
    """Whether copies are folded: not of documents that are sorted by an attribute, or similar to another one."""
    return query.fold_copies and not query.sort and not query.like


def shown_matches(
    query: SearchQuery,
    ranked: Iterable[tuple[float, Place]],
    read: Callable[[Place], IndexDocument],
    passages: PassageFinder[Place],
) -> tuple[list[tuple[float, Place, tuple[str, ...]]], int]:
    """Return the matches that are shown, each with the URLs of its copies, and the number of copies up to the last one.

    `ranked` are the best matches, at least those shown and `RERANK_LIMIT` more; only so many are compared. The URL of a
    copy that is a part of a page has a fragment.
    """
    start = min(max(0, query.offset), sys.maxsize)
    end = min(start + max(0, query.limit), sys.maxsize)
    if not folds_copies(query):
        return [(score, place, ()) for score, place in islice(ranked, start, end)], 0
    folding, matches = _Folding(read, passages), iter(ranked)
    while folding.needs_more(end) and (match := next(matches, None)) is not None:
        folding.add(*match)
    kept = folding.kept[:end]
    folded = sum(len(one.copies) for one in kept)
    return [(one.score, one.place, tuple(one.copies)) for one in kept[start:]], folded


class _Folding(Generic[Place]):
    """Folds the matches of one query, which are added in their order."""

    def __init__(self, read: Callable[[Place], IndexDocument], passages: PassageFinder[Place]) -> None:
        self._read, self._passages = read, passages
        self._pages: dict[tuple[str, tuple[str, ...]], list[_Page]] = {}
        self._rank, self._characters = -1, 0
        self.kept: list[_Kept[Place]] = []

    def needs_more(self, end: int) -> bool:
        """Whether further matches may change the first `end` hits."""
        if len(self.kept) < end:
            return True
        if self._rank + 1 >= RERANK_LIMIT:
            return False
        return any(one.has_parts and self._rank - one.rank < _AHEAD for one in self.kept[:end])

    def add(self, score: float, place: Place) -> None:
        """Add the next match: as a hit, or to one of those before it."""
        self._rank += 1
        if self._rank >= RERANK_LIMIT:
            self.kept.append(_Kept(self._rank, score, place))
            return
        document = self._read(place)
        length = min(len(document.text), STORED_TEXT_LIMIT)  # the same with every engine
        has_parts = may_have_parts(document) and length * len(self.kept) >= _LONG * self._characters
        new = _Kept(self._rank, score, place, document, length, has_parts)
        if not (self._is_copy(document) or self._is_folded_part(new)):
            self.kept.append(new)
            self._characters += length

    def _is_copy(self, document: IndexDocument) -> bool:
        """Add a document to the hit of which it is a copy, if there is one."""
        *folders, name = _address(document.url)
        known = self._pages.setdefault((document.source, name), [])
        page = _Page(len(self.kept), document, tuple(folders))
        original = next((one for one in known if _is_copy(one, page)), None) if name else None
        if original is None:
            known.append(page)
            return False
        self.kept[original.number].copies.append(document.url)
        return True

    def _is_folded_part(self, new: _Kept[Place]) -> bool:
        """Fold a document whose best passage is the page of a hit, or that is the best passage of a hit."""
        for one in self.kept:
            if new.has_parts and (part := self._part(new, one)):
                one.copies.append(part)
                return True
            if one.has_parts and (part := self._part(one, new)):
                if new.rank - one.rank <= _AHEAD:
                    one.copies.insert(0, part)
                    self._characters += new.characters - one.characters
                    one.document, one.place, one.characters = new.document, new.place, new.characters
                    one.has_parts = False
                else:
                    one.copies.append(new.document.url)
                return True
        return False

    def _part(self, one: _Kept[Place], page: _Kept[Place]) -> str:
        return self._passages.part_of(one.document, one.place, page.document)


def _address(url: str) -> list[tuple[str, ...]]:
    """Return the words of each part of the path that has any; the last one is empty if there is none, or a query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return [()]
    if parts.query:
        return [()]
    named = (tuple(address_words(f"/{part}")) for part in parts.path.split("/"))
    return list(filter(None, named)) or [()]


def _is_copy(one: _Page, other: _Page) -> bool:
    own, foreign, around = _difference(one.folders, other.folders)
    if max(len(own), len(foreign)) > _MOST_FOLDERS:
        return False
    has_neighbours = bool(own and foreign) and not around
    differing = _words(own) ^ _words(foreign)
    ignored = frozenset(filter(str.isdecimal, differing)) if has_neighbours else differing
    first, second = (
        [word for word in words(page.document.title) if word not in ignored] for page in (one, other)
    )
    if not first or first != second:
        return False
    own_text, other_text = (
        frozenset(words(page.document.text[:TEXT_LENGTH])) - differing for page in (one, other)
    )
    if min(len(own_text), len(other_text)) < MIN_WORDS:
        return False
    return are_alike(own_text, other_text, ALIKE_NEIGHBOURS if has_neighbours else ALIKE)


def _difference(one: Folders, other: Folders) -> tuple[Folders, Folders, int]:
    """Return where the folders of two pages differ, and the number of equal folders behind that."""
    before = _equal(one, other)
    one, other = one[before:], other[before:]
    behind = _equal(one[::-1], other[::-1])
    return one[: len(one) - behind], other[: len(other) - behind], behind


def _equal(one: Folders, other: Folders) -> int:
    """Return how many folders are equal from the first on."""
    number = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        number += 1
    return number


def _words(folders: Iterable[Iterable[str]]) -> frozenset[str]:
    return frozenset(word for folder in folders for word in folder)
