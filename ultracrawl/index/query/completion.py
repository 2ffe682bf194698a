"""What somebody who is still typing may be going to ask: titles, and titles of parts, that have the words so far."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ultracrawl.index.engine import Hit, IndexDocument
from ultracrawl.index.query.scoring import HEADINGS
from ultracrawl.index.query.tree import NOTHING, ConstantScore, Node, Prefix, Word, all_of, any_of
from ultracrawl.index.words.analysis import fold_all, is_bigram, tokenise
from ultracrawl.model.page import Section

MOST_WORDS = 10
"""Words of what was typed that count, the last ones."""
_TITLE_FIRST = 2.0


class Completion(NamedTuple):
    """What may be meant by what was typed: the title of a document or of a part of it, and where it is."""

    text: str
    url: str


class PartialQuery(NamedTuple):
    """The words typed so far, folded; the last one may go on."""

    words: tuple[str, ...]
    beginning: str

    def is_in(self, text: str) -> bool:
        """Whether a title has all of the words."""
        found = fold_all(tokenise(text))
        return set(self.words) <= set(found) and any(word.startswith(self.beginning) for word in found)

    def begins(self, text: str) -> bool:
        """Whether a title begins with the words."""
        found = tuple(fold_all(tokenise(text))[: len(self.words) + 1])
        return (
            len(found) > len(self.words) and found[:-1] == self.words and found[-1].startswith(self.beginning)
        )


def parse_partial_query(text: str) -> PartialQuery | None:
    """Return what was typed; None if there is no word in it."""
    found = fold_all(tokenise(text))
    if len(found) > 1 and is_bigram(found[-1]) and found[-2][1:] == found[-1]:
        del found[-1]
    return PartialQuery(tuple(found[:-1][-MOST_WORDS:]), found[-1]) if found else None


def completion_node(text: str) -> Node:
    """Return what finds documents in whose title, or titles of parts, the words of a text stand."""
    wanted = parse_partial_query(text)
    if wanted is None:
        return NOTHING
    places = (
        all_of([*(Word(word, place) for word in wanted.words), Prefix(wanted.beginning, place)])
        for place in ("Title", HEADINGS)
    )
    in_title, in_headings = places
    return any_of([ConstantScore(in_title, _TITLE_FIRST), ConstantScore(in_headings, 1.0)])


def completing_section(text: str, document: IndexDocument) -> Section | None:
    """Return the first part of a document whose title has the words, if that of the document has not.

    Of a text that may not be shown there is none.
    """
    wanted = parse_partial_query(text)
    if wanted is None or document.secret_text or wanted.is_in(document.title):
        return None
    return next((one for one in document.sections if wanted.is_in(one.title)), None)


def completions(text: str, hits: Iterable[Hit], limit: int) -> list[Completion]:
    """Return the titles of hits, or of their parts, that complete a text, each once.

    Those that begin with it come first, then shorter ones; of equals the first.
    """
    wanted = parse_partial_query(text)
    if wanted is None:
        return []
    found: dict[tuple[str, ...], Completion] = {}
    for hit in hits:
        title = " ".join((hit.title if hit.section is None else hit.section.title).split())
        if wanted.is_in(title):
            found.setdefault(tuple(fold_all(tokenise(title))), Completion(title, hit.section_url))
    ordered = sorted(found.items(), key=lambda one: (not wanted.begins(one[1].text), len(one[1].text)))
    return [completion for _, completion in ordered[:limit]]
