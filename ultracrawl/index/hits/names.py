"""Recognises the place that documents a name: a title, heading or anchor that is the name itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ultracrawl.index.query import tree
from ultracrawl.index.query.completion import TITLE_END
from ultracrawl.index.words.analysis import WORD_PATTERN, fold, words
from ultracrawl.index.words.stopwords import stop_words
from ultracrawl.model.page import Section

_AFTER_SEPARATOR = re.compile(r"[^.:#/]*\Z")
_MOST_WORDS_BEFORE = 6
"""Words before a name in a signature: `public static final int`, `class logging.handlers`."""


class NameFinder:
    """Finds the places of documents that are called by the name of one query; none if the query is no name."""

    def __init__(self, node: tree.Node, text: str = "") -> None:
        """Take the name from the tree of a query, and its capitals from the text."""
        named = tree.named(node)
        self._words = frozenset(named.words if named else ())
        self._names = frozenset(named.names if named else ())
        typed = re.findall(WORD_PATTERN, text) if named else ()
        own = self._names if self.is_clear else frozenset[str]()
        self._addresses = own | {rest for name in own if (rest := name.partition("_")[2])}
        """Own names of pages, the last parts of addresses: those of the name, also without its first part."""
        self._capitals = {name: word for word in typed if (name := fold(word.lower())) in self._names}

    def __bool__(self) -> bool:
        return bool(self._names)

    @property
    def has_qualifier(self) -> bool:
        """Whether it is clear which words of the name are what it belongs to; of two plain words it is not."""
        return bool(self._words - self._names)

    @property
    def is_clear(self) -> bool:
        """Whether it is clear which word is the name; of two plain words one is, and the other what it belongs to."""
        return len(self._names) == 1

    def is_title(self, title: str) -> bool:
        """Whether the title of a page is the name: `HashMap (Java SE 17)`, `HashMap in std::collections - Rust`."""
        found = words(TITLE_END.split(title, 1)[0])
        before = (word for word in found[:-1] if not word.isdecimal())
        return bool(found) and found[-1] in self._names and self._words.issuperset(before)

    def is_page(self, title: str, url: str) -> bool:
        """Whether address and title of a page are the name: `allocator.html`, `Class template allocator`.

        The own name of the page may lack the first part of the name: `deserialize.html`, `Deserialize a database`.
        """
        path = url.partition("#")[0].partition("?")[0].rstrip("/")
        own = path.rpartition("/")[2].partition(".")[0]
        if own.lower() not in self._addresses:
            return False
        found, sought = words(TITLE_END.split(title, 1)[0]), words(own)
        return len(found) <= _MOST_WORDS_BEFORE and sought in (found[: len(sought)], found[-len(sought) :])

    def has_other_capitals(self, text: str) -> bool:
        """Whether a text has the name, but only in other capitals than the query: `EntrySet`, not `entrySet`.

        A name that is typed or written without capitals may be any of them.
        """
        lower = text.lower()
        return any(
            name != typed and name in lower and name not in text and typed not in text
            for name, typed in self._capitals.items()
        )

    def sections(self, sections: Sequence[Section], candidates: set[int]) -> Iterator[tuple[int, list[str]]]:
        """Yield the sections that are called by the name, each with the words of its anchor.

        `candidates` are those whose titles have a word of the name; of the others only anchors are looked at.
        """
        for number, section in enumerate(sections):
            if own_name(section.anchor) in self._names or (
                number in candidates and self._is_heading(section.title)
            ):
                yield number, words(section.anchor)

    def _is_heading(self, title: str) -> bool:
        """Whether a heading is the name: `entrySet()`, `<Files> Directive`, `class logging.Handler(level=0)`."""
        signature, parenthesis, _ = title.partition("(")
        before = words(signature)
        if not before:
            return False
        if before[-1] in self._names and (parenthesis or self._words.issuperset(before)):
            # A signature has no words like `for`, a heading about the name has: `Flags for open()`.
            return len(before) <= _MOST_WORDS_BEFORE and stop_words("en").isdisjoint(before[:-1])
        return before[0] in self._names and len(before) <= 2

    def is_own(self, section: Section) -> bool:
        """Whether the anchor of a section is the name: `method.fmt`, not `method.fmt-1`."""
        return own_name(section.anchor) in self._names


def own_name(anchor: str) -> str:
    """Return the last part of an anchor: `insert` of `method.insert`, `entryset` of `entrySet()`."""
    found = _AFTER_SEPARATOR.search(anchor.partition("(")[0])
    return found[0].lower().replace("-", "_") if found else ""
