"""Recognises a hit whose best passage is the page of another hit: one-page versions of a manual, all news in one page.

Such a page has the other one as a part, a section with its sub-sections, among parts of its own. The part is called as
the page is, and has its words, apart from those that most pages have around their texts. A text of many pages, as a
licence or a navigation, is no part that has a page: each of its words is on as many pages.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator
from math import inf, isqrt
from operator import attrgetter
from typing import Generic, NamedTuple, TypeVar

from ultracrawl.index.engine import IndexDocument, url_of_section
from ultracrawl.index.hits.sections import named_section
from ultracrawl.index.query.query_builder import IndexStatistics
from ultracrawl.index.stored_fields import STORED_TEXT_LIMIT
from ultracrawl.index.words.analysis import words

MIN_WORDS = 25
"""Different words of a part; shorter ones say too little."""
TEXT_LENGTH = 20_000
"""Characters of a text that are compared."""
ALIKE = 0.8
"""Share of the words of two texts that both have."""
_PERHAPS_ALIKE = 0.5
"""The same before words are left out that most pages have."""
_FRAME_SHARE = 4
"""A word is around the texts of most pages, if it is on more than this part of them."""
_LARGEST_PART = 0.75
"""Of a page with several parts, the share that one of them has at most."""
_SAMPLE_LENGTH = 40
"""Characters from the middle of a page that must be in another text before words are compared."""
_RAREST = 20
"""Words that are looked up in the index: long ones, because these are rare."""

Place = TypeVar("Place")


class _Part(NamedTuple):
    """A part of a document in which its best passage is; its title, and its text, by their different words."""

    url: str
    title: frozenset[str]
    text: frozenset[str]


class PassageFinder(Generic[Place]):
    """Finds the part of a hit that is the page of another hit. Only documents that the searcher may see come here."""

    def __init__(
        self,
        statistics: IndexStatistics,
        whole: Callable[[Place], IndexDocument],
        best_section: Callable[[IndexDocument], int | None],
    ) -> None:
        """Take the statistics of an index, what reads all of a document, and what finds its best section."""
        self._statistics, self._whole, self._best_section = statistics, whole, best_section
        self._parts: dict[tuple[str, str], list[_Part]] = {}
        self._known: dict[str, int] = {}
        """In how many documents words are."""

    def part_of(self, document: IndexDocument, place: Place, page: IndexDocument) -> str:
        """Return the URL of the part of the document at a place that is `page`; empty if its best passage is not."""
        title = frozenset(words(page.title))
        if not _may_hold(document, page, title):
            return ""
        key = document.source, document.url
        if key not in self._parts:
            self._parts[key] = list(self._parts_of(self._whole(place)))
        for part in self._parts[key]:
            if _are_called_alike(part.title, title):
                return part.url if self._is_page(part.text, frozenset(words(page.text[:TEXT_LENGTH]))) else ""
        return ""

    def _parts_of(self, document: IndexDocument) -> Iterator[_Part]:
        """Yield the best section of a document and those around it, each with its sub-sections."""
        text, number = document.text, self._best_section(document)
        for at in _sections_around(document, number):
            end = _end_of(document, at)
            if end - document.sections[at].offset > len(text) * _LARGEST_PART:
                return
            if section := named_section(document, at):
                title = frozenset(words(document.sections[at].title))
                found = frozenset(words(text[document.sections[at].offset : end][:TEXT_LENGTH]))
                yield _Part(url_of_section(document.url, section), title, found)

    def _is_page(self, part: frozenset[str], page: frozenset[str]) -> bool:
        """Whether the text of a part is that of a page, and one of few pages: at most the root of their number."""
        common, all_words = part & page, part | page
        if len(common) < max(MIN_WORDS, _PERHAPS_ALIKE * len(all_words)):
            return False
        documents = self._statistics.document_count
        if not are_alike(common, all_words, ALIKE):
            most = max(2, documents // _FRAME_SHARE)
            others = self._frequencies(all_words - common)
            own = {word for word, frequency in others.items() if frequency <= most}
            if not are_alike(common, common | own, ALIKE):
                return False
        rare = sorted(common, key=lambda word: (-len(word), word))[:_RAREST]
        return min(self._frequencies(rare).values()) <= max(2, isqrt(documents))

    def _frequencies(self, sought: Collection[str]) -> dict[str, int]:
        unknown = [word for word in sought if word not in self._known]
        self._known.update(self._statistics.document_frequencies(unknown) if unknown else {})
        return {word: self._known[word] for word in sought}


def may_have_parts(document: IndexDocument) -> bool:
    """Whether a document may have another one as a part."""
    return len(document.sections) > 1


def are_alike(one: frozenset[str], other: frozenset[str], share: float) -> bool:
    """Whether two texts, given by their different words, have at least this share of all of these in common."""
    return len(one & other) >= share * len(one | other)


def _are_called_alike(part: frozenset[str], page: frozenset[str]) -> bool:
    """Whether one of two titles has all words of the other one: `3.8.3 (2014)`, `Release 3.8.3 of 2014`."""
    return bool(part and page) and (part <= page or page <= part)


def _may_hold(document: IndexDocument, page: IndexDocument, title: frozenset[str]) -> bool:
    """Whether a document may have a page with this title as a part; answers for nearly all pairs by a sample."""
    if not may_have_parts(document) or page.secret_text or document.source != page.source:
        return False
    length, text = len(page.text), document.text
    if not 0 < length < len(text):
        return False
    middle = length // 2
    found = text.find(page.text[middle : middle + _SAMPLE_LENGTH])
    if found < 0:
        return len(text) == STORED_TEXT_LIMIT  # it may be in the part of the text that is not stored with it
    number = bisect_right(document.sections, found, key=attrgetter("offset")) - 1
    around = _sections_around(document, number if number >= 0 else None)
    return any(_are_called_alike(frozenset(words(document.sections[at].title)), title) for at in around)


def _sections_around(document: IndexDocument, number: int | None) -> Iterator[int]:
    """Yield the number of a section and of those around it."""
    level = inf
    for at in range(-1 if number is None else number, -1, -1):
        if document.sections[at].level < level:
            level = document.sections[at].level
            yield at


def _end_of(document: IndexDocument, number: int) -> int:
    """Return where a section and its sub-sections end."""
    level, further = document.sections[number].level, document.sections[number + 1 :]
    return next((one.offset for one in further if one.level <= level), len(document.text))
