"""Fields, weights and formulas of BM25 scoring, and the forms by which a word is found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

HEADINGS = "titles of parts"
"""Pseudo attribute for words in section titles; no attribute has a name with blanks."""


class SearchedField(NamedTuple):
    """A searched field; its terms are made by `words.text.analyse`."""

    name: str
    weight: float
    """Factor of the score of a match."""
    stems: str = ""
    """The field with the stems of its words, if there is one."""
    has_positions: bool = True
    """Whether the field has positions, for phrase queries."""
    is_length_normalised: bool = True
    """Whether longer fields lower the score; anchor texts do not, because more links do not make a page worse.

    With tantivy and OpenSearch, whose scores agree, longer fields always do.
    """
    since: int = 1
    """The first schema version that has the field."""


FIELDS = (
    SearchedField("title", 3.0, "title_stems"),
    SearchedField("text", 1.0, "text_stems"),
    SearchedField("headings", 1.5, "heading_stems", is_length_normalised=False, since=3),
    SearchedField("anchors", 2.0, "anchor_stems", is_length_normalised=False, since=2),
    SearchedField("section_anchors", 1.5, "section_anchor_stems", is_length_normalised=False, since=3),
    SearchedField("address", 1.0, has_positions=False, is_length_normalised=False),
    SearchedField("parts", 0.2, has_positions=False, is_length_normalised=False, since=4),
)
"""The fields searched for words without an attribute; every engine has these fields and weights."""

BUILT_IN_FIELDS = {"Title": "title", HEADINGS: "headings"}
"""Fields of attributes that have no word field of their own."""

STATISTICS_FIELDS = ("title", "text", "parts")
"""The fields whose document frequencies are used for idf and spelling."""
_STEM_STATISTICS_FIELDS = tuple(one.stems for one in FIELDS if one.name in STATISTICS_FIELDS and one.stems)


def statistics_fields(term: str) -> tuple[str, ...]:
    """Return the fields whose document frequencies count for a word, or for a stem (`en:tabl`)."""
    return _STEM_STATISTICS_FIELDS if ":" in term else STATISTICS_FIELDS


INFLECTION_FACTOR = 0.7
"""Factor applied to the frequency of an inflected form."""
SYNONYM_FACTOR = 0.7
"""Factor applied to the score of a synonym match."""
PINNED_SCORE = 1e9
"""Score of the last pinned document; the one before it has twice as much, and so on. Scores of words never reach it,
not even those of a pasted page, each of whose words may count `MAX_VERBATIM_FACTOR` times."""
STOP_WORD_FACTOR = 0.1
"""Factor applied to a stop word beside other words; it is matched in titles only."""
VERBATIM_FACTOR, MAX_VERBATIM_FACTOR = 3.0, 1000.0
"""Factor, for each word, of a document with all words of the query in a row; and its maximum."""
SAME_LANGUAGE_FACTOR = 1.5
"""Factor applied to the score of a document in the preferred language."""
K1 = 1.2
B = 0.75


_COORDINATION_STEPS = 3
"""Steps of the coordination factor above the smallest one that are distinguished."""


def fields_of(version: int) -> list[SearchedField]:
    """Return the fields of an index of a schema version."""
    return [field for field in FIELDS if field.since <= version]


def coordination_factor(matched: int, words: int) -> float:
    """Return the factor for the score of a document that matches `matched` of `words` words.

    It selects candidates; proximity and position are considered later, by `hits.reranking`.
    """
    return float((matched / words) ** 3)


def coordination_steps(least: int, words: int) -> list[int]:
    """Return the numbers of matching words, from `least` to all, that are scored differently, in ascending order.

    An engine repeats the query for each step, so of many words not every number is one.
    """
    further = words - least
    return sorted({least + further * step // _COORDINATION_STEPS for step in range(_COORDINATION_STEPS + 1)})


class WordForm(NamedTuple):
    """A term that matches a word, only in documents of `language` if given; `documents` is its document frequency."""

    field: str
    term: str
    language: str
    documents: int


def word_forms(
    field: SearchedField, word: str, stems: Iterable[tuple[str, str]], frequency: Callable[[str, str], int]
) -> list[WordForm]:
    """Return the forms of a word in a field with their document frequencies, the word itself first.

    `stems` are its languages and stems; `frequency` returns the document frequency of a term in a field.
    """
    terms = [(field.name, word, "")]
    for language, stem in stems if field.stems else ():
        terms.append((field.stems, f"{language}:{stem}", ""))
        if stem != word:
            # A word that equals its stem represents the stem only in documents of the language.
            terms.append((field.name, stem, language))
    return [WordForm(name, term, language, frequency(name, term)) for name, term, language in terms]


def matching_documents(forms: list[WordForm], documents: int) -> int:
    """Return the approximate number of the documents with one of the forms."""
    stemmed = sum(form.documents for form in forms if form.field != forms[0].field)
    return min(documents, max(stemmed, *(form.documents for form in forms)))


def combined_frequency(exact: float, all_forms: float) -> float:
    """Return the term frequency of a word: its own occurrences, and those of inflected forms for less."""
    return exact + INFLECTION_FACTOR * max(0.0, all_forms - exact)


def idf(documents: int, matching: int) -> float:
    """Return the inverse document frequency, positive for every term.

    `matching` may exceed `documents`: it may include deleted documents.
    """
    matching = min(matching, documents)
    return math.log(1.0 + (documents - matching + 0.5) / (matching + 0.5))


def length_norm(length: float, average: float) -> float:
    """Return the length norm: the part of BM25's denominator that depends on the field length (in words)."""
    return K1 * (1.0 - B + B * length / average) if average else K1
