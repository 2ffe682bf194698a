"""How relevant a document is: BM25 per field, a match in the title counting more."""

from __future__ import annotations

import math
from typing import NamedTuple

HEADINGS = "titles of parts"
"""What stands for an attribute where words are sought in the titles of parts; no attribute has a name with blanks."""


class SearchedField(NamedTuple):
    """A field in which words are sought; `words.text.analyse` says what they are."""

    name: str
    weight: float
    """What a match counts."""
    stems: str = ""
    """The field with the stems of its words, if it has one."""
    has_positions: bool = True
    """Whether phrases are sought in it."""
    is_length_normalised: bool = True
    """Whether a match counts less the longer the field is: who links to a page does not make it worse."""
    since: int = 1
    """The first schema version of an index that has it."""


FIELDS = (
    SearchedField("title", 3.0, "title_stems"),
    SearchedField("text", 1.0, "text_stems"),
    SearchedField("headings", 1.5, "heading_stems", is_length_normalised=False, since=3),
    SearchedField("anchors", 2.0, "anchor_stems", is_length_normalised=False, since=2),
    SearchedField("section_anchors", 1.5, "section_anchor_stems", is_length_normalised=False, since=3),
    SearchedField("address", 1.0, has_positions=False, is_length_normalised=False),
    SearchedField("parts", 0.2, has_positions=False, is_length_normalised=False, since=4),
)
"""Where words are sought that no attribute is named for; every engine has these fields and weights."""

BUILT_IN_FIELDS = {"Title": "title", HEADINGS: "headings"}
"""The fields with the words of attributes that have none of their own."""

STATISTICS_FIELDS = ("title", "text", "parts")
"""The fields in which words are counted that a query may have been meant to have."""

INFLECTION_FACTOR = 0.7
"""An inflected form of a sought word counts so much of the word itself."""
SYNONYM_FACTOR = 0.7
"""A synonym of a sought word counts so much of the word itself."""
PINNED_SCORE = 1e9
"""The score of the last pinned document; the one before it has twice as much, and so on. Words never reach it, not even
those of a pasted page, each of which may count `MAX_VERBATIM_FACTOR` times."""
STOP_WORD_FACTOR = 0.1
"""A stop word beside others counts in titles alone, and so much of what a word of the text counts there."""
VERBATIM_FACTOR, MAX_VERBATIM_FACTOR = 3.0, 1000.0
"""What a document counts more, for each word, in which all words of a query stand in a row; and the most of it."""
SAME_LANGUAGE_FACTOR = 1.5
"""By so much the score of a document in the language of who asks is multiplied."""
K1 = 1.2
B = 0.75


def fields_of(version: int) -> list[SearchedField]:
    """Return the fields that an index of a schema version has."""
    return [field for field in FIELDS if field.since <= version]


def coordination_factor(held: int, asked: int) -> float:
    """Return by what the score of a document is multiplied that holds so many of the words that are asked for.

    What is close together, and where, is looked at afterwards (`hits.ranking`): here it is about finding candidates.
    """
    return float((held / asked) ** 3)


def combined_frequency(exact: float, all_forms: float) -> float:
    """Return the frequency of a word in a field: its own occurrences, and those of its other forms for less."""
    return exact + INFLECTION_FACTOR * max(0.0, all_forms - exact)


def idf(documents: int, matching: int) -> float:
    """Return the inverse document frequency; positive for every word."""
    return math.log(1.0 + (documents - matching + 0.5) / (matching + 0.5))


def damping(length: float, average: float) -> float:
    """Return the part of BM25's denominator that depends on the length of a field (in words)."""
    return K1 * (1.0 - B + B * length / average) if average else K1
