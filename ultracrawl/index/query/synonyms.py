"""What else is sought beside the words of a query: what they are also called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ultracrawl.index.query.readings import Term
from ultracrawl.index.query.scoring import SYNONYM_FACTOR
from ultracrawl.index.query.tree import AllOf, AnyOf, Boosted, FromSource, Node, Phrase, Word, all_of
from ultracrawl.index.words.analysis import fold_all, tokenise, words
from ultracrawl.index.words.stemming import stems

Synonyms = Mapping[tuple[str, ...], Sequence[tuple[str, str]]]
"""By folded words other texts, each with the source in whose documents it counts, or an empty text for all."""
LONGEST = 5
"""Words of a text for which there may be others."""
_MOST = 100
"""Texts that stand for one."""


def synonym_table(said: Iterable[tuple[str, str, Iterable[str]]]) -> Synonyms:
    """Return synonyms by what is sought; given are source, text, and what it is called as well."""
    found: dict[tuple[str, ...], dict[tuple[str, str], None]] = {}
    for source, sought, others in said:
        found.setdefault(tuple(words(sought)), {}).update(dict.fromkeys((other, source) for other in others))
    return {sought: tuple(others)[:_MOST] for sought, others in found.items()}


def with_synonyms(row: Sequence[Term], synonyms: Synonyms) -> list[Term]:
    """Return a row in which words that have synonyms are found by these as well; of several the longest text counts."""
    terms: list[Term] = []
    at = 0
    while at < len(row):
        size, others = _longest(row[at : at + LONGEST], synonyms)
        found = row[at : at + size]
        if others:
            nodes = (all_of([term.node for term in found]), *map(_other, others))
            parts = found[0].parts if size == 1 else ()
            is_required = any(term.is_required for term in found)
            terms.append(replace(found[0], node=AnyOf(nodes), parts=parts, is_required=is_required))
        else:
            terms += found
        at += size
    return terms


def _longest(row: Sequence[Term], synonyms: Synonyms) -> tuple[int, Sequence[tuple[str, str]]]:
    """Return how many of the first terms have synonyms together, and these; one and none if none have."""
    for size in range(len(row), 0, -1):
        if all(term.words for term in row[:size]):
            others = synonyms.get(tuple(word for term in row[:size] for word in term.words), ())
            if others:
                return size, others
    return 1, ()


def _other(synonym: tuple[str, str]) -> Node:
    text, source = synonym
    found = tokenise(text)
    folded = fold_all(found)
    node: Node = Word(folded[0], stems=stems(found[0])) if len(folded) == 1 else Phrase(tuple(folded))
    node = Boosted(node, SYNONYM_FACTOR)
    return AllOf((node, FromSource(source))) if source else node
