"""Completes a partially typed query with names, and with titles of documents and sections."""

from __future__ import annotations

import re
from itertools import chain, zip_longest
from typing import NamedTuple

from ultracrawl.index.engine import Completion, IndexDocument, SearchResult
from ultracrawl.index.query.scoring import HEADINGS
from ultracrawl.index.query.tree import NOTHING, ConstantScore, Node, Prefix, Word, all_of, any_of
from ultracrawl.index.words.analysis import fold_all, is_bigram, tokenise
from ultracrawl.model.page import Section

MAX_WORDS = 10
"""Words of the input that are used, the last ones."""
_TITLE_SCORE = 2.0
TITLE_END = re.compile(r"\s(?:in|[-\u2013\u2014|:\u00b7])\s|\s?\(")
"""What separates a name in a title from what it belongs to, or from how it is used: `entrySet()`, `HashMap - Rust`."""


class PartialQuery(NamedTuple):
    """The folded words typed so far; the last one is a prefix."""

    words: tuple[str, ...]
    prefix: str

    def matches(self, text: str) -> bool:
        """Whether a title contains all of the words."""
        found = fold_all(tokenise(text))
        return set(self.words) <= set(found) and any(word.startswith(self.prefix) for word in found)

    def is_prefix_of(self, text: str) -> bool:
        """Whether a title begins with the words."""
        found = tuple(fold_all(tokenise(text))[: len(self.words) + 1])
        return len(found) > len(self.words) and found[:-1] == self.words and found[-1].startswith(self.prefix)


def parse_partial_query(text: str) -> PartialQuery | None:
    """Return the words of the input; None if there are none."""
    found = fold_all(tokenise(text))
    if len(found) > 1 and is_bigram(found[-1]) and found[-2][1:] == found[-1]:
        del found[-1]
    return PartialQuery(tuple(found[:-1][-MAX_WORDS:]), found[-1]) if found else None


def completion_node(text: str) -> Node:
    """Return the node of documents whose title, or section titles, contain the words of a text."""
    wanted = parse_partial_query(text)
    if wanted is None:
        return NOTHING
    places = (
        all_of([*(Word(word, place) for word in wanted.words), Prefix(wanted.prefix, place)])
        for place in ("Title", HEADINGS)
    )
    in_title, in_headings = places
    return any_of([ConstantScore(in_title, _TITLE_SCORE), ConstantScore(in_headings, 1.0)])


def completing_section(text: str, document: IndexDocument) -> Section | None:
    """Return the first section whose title contains the words, unless the title of the document does.

    None for documents with hidden text.
    """
    wanted = parse_partial_query(text)
    if wanted is None or document.secret_text or wanted.matches(document.title):
        return None
    return next((one for one in document.sections if wanted.matches(one.title)), None)


def completions(text: str, result: SearchResult, limit: int) -> list[Completion]:
    """Return the names, titles of hits, and titles of their sections that complete a text, without duplicates.

    Behind one word, names and titles take turns; behind several, titles that begin with them come first. Titles that
    begin with the text come before others, then those of documents, then shorter ones; otherwise they keep their
    order. A title that says no more than a name takes its place.
    """
    wanted = parse_partial_query(text)
    if wanted is None:
        return []
    found: dict[tuple[str, ...], tuple[bool, Completion]] = {}
    for hit in result.hits:
        title = " ".join((hit.title if hit.section is None else hit.section.title).split())
        if wanted.matches(title):
            made = hit.section is not None, Completion(title, hit.section_url)
            found.setdefault(tuple(fold_all(tokenise(title))), made)
    ordered = sorted(
        found.values(), key=lambda one: (not wanted.is_prefix_of(one[1].text), one[0], len(one[1].text))
    )
    titles = [title for _, title in ordered]
    called: dict[tuple[str, ...], Completion] = {}
    for one in titles:
        called.setdefault(_name_words(one.text), one)
    names = dict.fromkeys(called.get(_name_words(one.text), one) for one in result.names)
    first = [one for one in titles if wanted.words and wanted.is_prefix_of(one.text)]
    return list(dict.fromkeys(filter(None, chain(first, *zip_longest(names, titles)))))[:limit]


def _name_words(title: str) -> tuple[str, ...]:
    """Return the folded words of what a title is called, without a number before it and what stands behind it.

    It is `wal_level` for "20.5.1. wal_level (enum)".
    """
    return tuple(fold_all(tokenise(TITLE_END.split(re.sub(r"^[\d.]+\s+", "", title), 1)[0])))
