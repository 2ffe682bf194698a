"""A document's text as the index holds it: its words, and the stems that its language adds."""

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

_SAYING_NOTHING = frozenset(("html", "htm", "php", "asp", "aspx", "jsp", "index", "default"))
_NAMED = re.compile(r"[^\W\d_]{3}")
"""In the name of a part that a person gave; programs number them (`id-1.5.4`)."""
_BETWEEN_LETTERS = re.compile(r"[\W_]+")


def address_words(url: str) -> list[str]:
    """Return the words in the path of a URL, without those that say nothing about the document."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return []
    return [word for word in words(unquote(path)) if word not in _SAYING_NOTHING]


@dataclass(frozen=True, slots=True)
class AnalysedText:
    """The words of a document by field, and the stem terms (`en:tabl`) of words that differ from theirs.

    A field has a list of words for each of its texts by itself: no phrase goes from one to the next.
    """

    language: str
    words: Mapping[str, list[list[str]]]
    stems: Mapping[str, list[str]]
    """By the names of the fields whose words they are of; empty if the language has no stemmer."""


def analyse(document: IndexDocument) -> AnalysedText:
    """Cut a document into words, and find stems if its language has a stemmer."""
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
    """Return the texts of each field whose words have stems."""
    return {
        "title": (document.title,),
        "text": (document.text,),
        "headings": list(_headings(document.sections)),
        "anchors": document.anchors,
        "section_anchors": list(dict.fromkeys(text for _, text in document.section_anchors)),
    }


def _headings(sections: Iterable[Section]) -> Iterator[str]:
    """Yield the titles of parts, and what fragments call them where that says something else."""
    for section in sections:
        if section.title:
            yield section.title
        if _NAMED.search(section.anchor):
            title, anchor = (
                _BETWEEN_LETTERS.sub("", text).lower() for text in (section.title, section.anchor)
            )
            if anchor not in title:
                yield section.anchor
