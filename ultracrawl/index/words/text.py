"""A document's text as the index holds it: its words, and the stems that its language adds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from urllib.parse import unquote, urlsplit

from ultracrawl.index.engine import IndexDocument
from ultracrawl.index.words.analysis import clean, cut_and_folded, words
from ultracrawl.index.words.stemming import language_of, stem_terms

_SAYING_NOTHING = frozenset(("html", "htm", "php", "asp", "aspx", "jsp", "index", "default"))


def address_words(url: str) -> list[str]:
    """Return the words in the path of a URL, without those that say nothing about the document."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return []
    return [word for word in words(unquote(path)) if word not in _SAYING_NOTHING]


@dataclass(frozen=True, slots=True)
class AnalysedText:
    """The words of title, text and address, and the stem terms (`en:tabl`) of words that differ from theirs.

    `anchors` are the words of each anchor text by itself: no phrase goes from one to the next.
    """

    title: list[str]
    text: list[str]
    address: list[str]
    language: str
    title_stems: list[str]
    text_stems: list[str]
    anchors: list[list[str]]
    anchor_stems: list[str]


def analyse(document: IndexDocument) -> AnalysedText:
    """Cut a document into words, and find stems if its language has a stemmer."""
    language = language_of(str(next(iter(document.attributes.get("Language", ())), "")))
    title, folded_title = cut_and_folded(clean(document.title))
    text, folded_text = cut_and_folded(clean(document.text))
    address = address_words(clean(document.url))
    both = [cut_and_folded(clean(anchor)) for anchor in document.anchors]
    anchors, folded_anchors = [cut for cut, _ in both], [folded for _, folded in both]
    if not language:
        return AnalysedText(folded_title, folded_text, address, "", [], [], folded_anchors, [])
    term_of = stem_terms(language).__getitem__
    stems = (list(filter(None, map(term_of, found))) for found in (title, text, chain(*anchors)))
    title_stems, text_stems, anchor_stems = stems
    return AnalysedText(
        folded_title, folded_text, address, language, title_stems, text_stems, folded_anchors, anchor_stems
    )
