"""Folds copies of one page under several addresses of a source, such as `/en/` and `/current/`, into one hit.

Copies have the same own name, the last part of their path, and differ in one place of the folders before it. Their
titles agree, apart from what differs there, and their texts nearly. Pages that a generator made for different things
may be as much alike (`Weak in std::rc`, `Weak in std::sync`): if the folder right around a page differs, it may be the
name of the thing, so that titles must be equal, apart from numbers of versions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from itertools import islice
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from ultracrawl.index.engine import IndexDocument, SearchQuery
from ultracrawl.index.hits.ties import RERANK_LIMIT
from ultracrawl.index.words.analysis import words
from ultracrawl.index.words.text import address_words

MIN_WORDS = 50
"""Different words of a text; shorter ones say too little."""
_TEXT_LENGTH = 20_000
"""Characters of a text that are compared."""
ALIKE = 0.8
"""Share of the words of two texts that both have, without those that differ in the addresses."""
ALIKE_NEIGHBOURS = 0.97
"""The same of pages whose folders have different names."""
_MOST_FOLDERS = 2
"""Folders in a row that may differ."""

Place = TypeVar("Place")
Folders = tuple[tuple[str, ...], ...]


class _Page(NamedTuple):
    """A document among the hits, with the number of its hit."""

    number: int
    document: IndexDocument
    folders: Folders
    """The words of the names of the folders around it."""


def folds_copies(query: SearchQuery) -> bool:
    """Whether copies are folded: not of documents that are sorted by an attribute, or similar to another one."""
    return query.fold_copies and not query.sort and not query.like


def shown_matches(
    query: SearchQuery, ranked: Iterable[tuple[float, Place]], read: Callable[[Place], IndexDocument]
) -> tuple[list[tuple[float, Place, tuple[str, ...]]], int]:
    """Return the matches that are shown, each with the URLs of its copies, and the number of copies up to the last one.

    `ranked` are the best matches, at least those shown and `RERANK_LIMIT` more; only so many are compared.
    """
    start = min(max(0, query.offset), sys.maxsize)
    end = min(start + max(0, query.limit), sys.maxsize)
    if not folds_copies(query):
        return [(score, place, ()) for score, place in islice(ranked, start, end)], 0
    kept: list[tuple[float, Place, list[str]]] = []
    pages: dict[tuple[str, tuple[str, ...]], list[_Page]] = {}
    matches = enumerate(ranked)
    while len(kept) < end and (match := next(matches, None)) is not None:
        rank, (score, place) = match
        if rank < RERANK_LIMIT:
            document = read(place)
            *folders, name = _address(document.url)
            known = pages.setdefault((document.source, name), [])
            page = _Page(len(kept), document, tuple(folders))
            original = next((one for one in known if _is_copy(one, page)), None) if name else None
            if original is not None:
                kept[original.number][2].append(document.url)
                continue
            known.append(page)
        kept.append((score, place, []))
    folded = sum(len(copies) for *_, copies in kept)
    return [(score, place, tuple(copies)) for score, place, copies in kept[start:]], folded


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
    texts = [frozenset(words(page.document.text[:_TEXT_LENGTH])) - differing for page in (one, other)]
    if min(map(len, texts)) < MIN_WORDS:
        return False
    alike = len(texts[0] & texts[1]) / len(texts[0] | texts[1])
    return alike >= (ALIKE_NEIGHBOURS if has_neighbours else ALIKE)


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
