"""Expands query terms with synonyms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ultracrawl.index.query.readings import Term
from ultracrawl.index.query.scoring import SYNONYM_FACTOR
from ultracrawl.index.query.tree import AllOf, AnyOf, Boosted, FromSource, Node, Phrase, Word, all_of
from ultracrawl.index.words.analysis import fold_all, tokenise, words
from ultracrawl.index.words.plurals import other_forms
from ultracrawl.index.words.stemming import stems

Synonyms = Mapping[tuple[str, ...], Sequence[tuple[str, str]]]
"""Synonyms by folded words: other texts, each with the source to whose documents it applies (empty for all)."""
MAX_SYNONYM_WORDS = 5
"""Words of the longest text that may have synonyms."""
_MAX_SYNONYMS = 100
"""Synonyms of one text."""


def synonym_table(entries: Iterable[tuple[str, str, Iterable[str]]]) -> Synonyms:
    """Return the synonym table of entries (source, text, synonyms)."""
    found: dict[tuple[str, ...], dict[tuple[str, str], None]] = {}
    for source, sought, others in entries:
        found.setdefault(tuple(words(sought)), {}).update(dict.fromkeys((other, source) for other in others))
    return {sought: tuple(others)[:_MAX_SYNONYMS] for sought, others in found.items()}


def with_synonyms(terms_in: Sequence[Term], synonyms: Synonyms, *, is_english: bool) -> list[Term]:
    """Return the terms with synonyms added as alternatives; the longest match wins.

    Other forms of an irregular noun are synonyms of it, unless the query is in another language than English.
    """
    terms: list[Term] = []
    at = 0
    while at < len(terms_in):
        size, others = _longest_match(terms_in[at : at + MAX_SYNONYM_WORDS], synonyms)
        if size == 1 and is_english and not terms_in[at].is_quoted_word and len(terms_in[at].words) == 1:
            others = (*others, *((form, "") for form in other_forms(terms_in[at].words[0])))
        found = terms_in[at : at + size]
        if others:
            nodes = (all_of([term.node for term in found]), *map(_synonym_node, others))
            parts = found[0].parts if size == 1 else ()
            is_required = any(term.is_required for term in found)
            terms.append(replace(found[0], node=AnyOf(nodes), parts=parts, is_required=is_required))
        else:
            terms += found
        at += size
    return terms


def _longest_match(terms_in: Sequence[Term], synonyms: Synonyms) -> tuple[int, Sequence[tuple[str, str]]]:
    """Return the number of leading terms that have synonyms together, and these; 1 and none if there are none."""
    for size in range(len(terms_in), 0, -1):
        if all(term.words for term in terms_in[:size]):
            others = synonyms.get(tuple(word for term in terms_in[:size] for word in term.words), ())
            if others:
                return size, others
    return 1, ()


def _synonym_node(synonym: tuple[str, str]) -> Node:
    text, source = synonym
    found = tokenise(text)
    folded = fold_all(found)
    node: Node = Word(folded[0], stems=stems(found[0])) if len(folded) == 1 else Phrase(tuple(folded))
    node = Boosted(node, SYNONYM_FACTOR)
    return AllOf((node, FromSource(source))) if source else node
