"""A document's text as the index holds it: its words, and the stems that its language adds."""

from __future__ import annotations

from dataclasses import dataclass

from ultracrawl.index.address import address_words
from ultracrawl.index.analysis import clean, cut, fold_all
from ultracrawl.index.engine import IndexDocument
from ultracrawl.index.stemming import language_of, stem_terms


@dataclass(frozen=True, slots=True)
class AnalysedText:
    """The words of title, text and address, and the stem terms (`en:tabl`) of words that differ from theirs."""

    title: list[str]
    text: list[str]
    address: list[str]
    language: str
    title_stems: list[str]
    text_stems: list[str]


def analyse(document: IndexDocument) -> AnalysedText:
    """Cut a document into words, and find stems if its language has a stemmer."""
    language = language_of(str(next(iter(document.attributes.get("Language", ())), "")))
    title, text = cut(clean(document.title)), cut(clean(document.text))
    address = address_words(clean(document.url))
    folded_title, folded_text = _folded(document.title, title), _folded(document.text, text)
    if not language:
        return AnalysedText(folded_title, folded_text, address, "", [], [])
    term_of = stem_terms(language).__getitem__
    title_stems, text_stems = (list(filter(None, map(term_of, found))) for found in (title, text))
    return AnalysedText(folded_title, folded_text, address, language, title_stems, text_stems)


def _folded(text: str, found: list[str]) -> list[str]:
    return found if text.isascii() else fold_all(found)
