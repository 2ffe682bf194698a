"""Completes a partially typed query with titles of documents and sections."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ultracrawl.index.engine import Hit, IndexDocument
from ultracrawl.index.query.scoring import HEADINGS
from ultracrawl.index.query.tree import NOTHING, ConstantScore, Node, Prefix, Word, all_of, any_of
from ultracrawl.index.words.analysis import fold_all, is_bigram, tokenise
from ultracrawl.model.page import Section

MAX_WORDS = 10
"""Words of the input that are used, the last ones."""
_TITLE_SCORE = 2.0


class Completion(NamedTuple):
    """A completion: the title of a document or section, and its URL."""

    text: str
    url: str


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


def completions(text: str, hits: Iterable[Hit], limit: int) -> list[Completion]:
    """Return the titles of hits, or of their sections, that complete a text, without duplicates.

    Titles that begin with the text come first, then shorter ones; otherwise they keep their order.
    """
    wanted = parse_partial_query(text)
    if wanted is None:
        return []
    found: dict[tuple[str, ...], Completion] = {}
    for hit in hits:
        title = " ".join((hit.title if hit.section is None else hit.section.title).split())
        if wanted.matches(title):
            found.setdefault(tuple(fold_all(tokenise(title))), Completion(title, hit.section_url))
    ordered = sorted(found.items(), key=lambda one: (not wanted.is_prefix_of(one[1].text), len(one[1].text)))
    return [completion for _, completion in ordered[:limit]]
