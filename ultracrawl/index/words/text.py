"""Analyses the texts of a document: terms by field, and stems of its language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from urllib.parse import unquote, urlsplit

from ultracrawl.index.engine import IndexDocument
from ultracrawl.index.words.analysis import replace_surrogates, tokenise_and_fold, words
from ultracrawl.index.words.identifiers import identifier_terms
from ultracrawl.index.words.stemming import language_of, stem_terms
from ultracrawl.model.page import Section

_IGNORED_ADDRESS_WORDS = frozenset(("html", "htm", "php", "asp", "aspx", "jsp", "index", "default"))
_MEANINGFUL = re.compile(r"[^\W\d_]{3}")
"""Part of an anchor name that a person chose; generated ones are numbers (`id-1.5.4`)."""
_BETWEEN_LETTERS = re.compile(r"[\W_]+")


def address_words(url: str) -> list[str]:
    """Return the terms of the path of a URL, without file extensions and names of start pages."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return []
    return [word for word in words(unquote(path)) if word not in _IGNORED_ADDRESS_WORDS]


@dataclass(frozen=True, slots=True)
class AnalysedText:
    """The terms of a document by field, and the stem terms (`en:tabl`) of words that differ from their stems.

    Each text of a field has a list of its own: phrases do not match across texts.
    """

    language: str
    words: Mapping[str, list[list[str]]]
    stems: Mapping[str, list[str]]
    """Stem terms by the field of their words; empty if the language has no stemmer."""


def analyse(document: IndexDocument) -> AnalysedText:
    """Return the terms of a document, with stems if its language has a stemmer."""
    language = language_of(str(next(iter(document.attributes.get("Language", ())), "")))
    texts_of = {
        name: list(map(replace_surrogates, texts)) for name, texts in _texts(document).items() if texts
    }
    both = {name: list(map(tokenise_and_fold, texts)) for name, texts in texts_of.items()}
    found = {name: [folded for _, folded in pairs] for name, pairs in both.items()}
    stems: dict[str, list[str]] = {}
    if language:
        term_of = stem_terms(language).__getitem__
        for name, pairs in both.items():
            stems[name] = list(filter(None, map(term_of, chain.from_iterable(cut for cut, _ in pairs))))
    url = replace_surrogates(document.url)
    found["address"] = [address_words(url)]
    found["parts"] = [identifier_terms("\n".join(chain(*texts_of.values(), (url,))))]
    return AnalysedText(language, found, stems)


def _texts(document: IndexDocument) -> dict[str, Sequence[str]]:
    """Return the texts of each field that is stemmed."""
    return {
        "title": (document.title,),
        "text": (document.text,),
        "headings": list(_headings(document.sections)),
        "anchors": document.anchors,
        "section_anchors": list(dict.fromkeys(text for _, text in document.section_anchors)),
    }


def _headings(sections: Iterable[Section]) -> Iterator[str]:
    """Yield the section titles, and the anchor names that add something to them."""
    for section in sections:
        if section.title:
            yield section.title
        if _MEANINGFUL.search(section.anchor):
            title, anchor = (
                _BETWEEN_LETTERS.sub("", text).lower() for text in (section.title, section.anchor)
            )
            if anchor not in title:
                yield section.anchor
