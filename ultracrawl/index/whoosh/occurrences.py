"""Where a word, and other forms of it, stand in the documents of a segment, and how often."""

from __future__ import annotations

from typing import NamedTuple

from ultracrawl.index.query.scoring import ADDRESS_BOOST, ANCHOR_BOOST, TITLE_BOOST, combined
from ultracrawl.index.query.tree import Word
from ultracrawl.index.whoosh.fields import word_field
from ultracrawl.index.whoosh.segments import OpenSegment


class SearchedField(NamedTuple):
    """A field in which words are sought; `stems` names the field with the stems of its words, if it has one.

    With `damped`, a match counts less the longer the field is. Anchor texts are not: who links to a page does not
    make it worse.
    """

    name: str
    boost: float
    stems: str = ""
    has_positions: bool = True
    damped: bool = True


_MAIN_FIELDS = (
    SearchedField("title", TITLE_BOOST, "title_stems"),
    SearchedField("text", 1.0, "text_stems"),
    SearchedField("anchors", ANCHOR_BOOST, "anchor_stems", damped=False),
    SearchedField("address", ADDRESS_BOOST, has_positions=False, damped=False),
)


def searched_fields(attribute: str) -> tuple[SearchedField, ...]:
    """Return the fields with the words of an attribute; without one those of title, text, anchors and address."""
    return (SearchedField(word_field(attribute), 1.0),) if attribute else _MAIN_FIELDS


def occurrences(
    segment: OpenSegment, field: SearchedField, word: Word, languages: frozenset[str]
) -> dict[int, float]:
    """Return the documents with the word and how often it occurs there; other forms of it count for less."""
    exact = segment.postings(field.name, word.word)
    found = dict(zip(exact.ids, exact.weights, strict=True))
    if not field.stems:
        return found
    changed: dict[int, float] = {}
    for language, stem in word.stems:
        if language in languages:
            for docnum, frequency in _forms(segment, field, word.word, language, stem, found).items():
                changed[docnum] = combined(found.get(docnum, 0.0), frequency)
    found.update(changed)
    return found


def _forms(
    segment: OpenSegment, field: SearchedField, word: str, language: str, stem: str, exact: dict[int, float]
) -> dict[int, float]:
    """Return how often words with this stem occur in the documents of the language that have any.

    Words that differ from their stem are in the field of stems; a word that is its own stem is itself in
    the text.
    """
    inflected = segment.postings(field.stems, f"{language}:{stem}")
    forms = dict(zip(inflected.ids, inflected.weights, strict=True))
    if stem == word:
        for docnum in forms.keys() & exact.keys():
            forms[docnum] += exact[docnum]
        return forms
    plain = segment.postings(field.name, stem)
    if plain.ids:
        members = segment.in_language(language)
        for docnum, frequency in zip(plain.ids, plain.weights, strict=True):
            if docnum in members:
                forms[docnum] = forms.get(docnum, 0.0) + frequency
    return forms
