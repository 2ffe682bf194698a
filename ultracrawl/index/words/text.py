"""Analyses the texts of a document: terms by field, and stems of its language."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from urllib.parse import unquote, urlsplit

from ultracrawl.dataclass import dataclass, replace
from ultracrawl.index.engine import IndexDocument
from ultracrawl.index.words.analysis import replace_surrogates, tokenise_and_fold, words
from ultracrawl.index.words.identifiers import identifier_terms
from ultracrawl.index.words.stemming import language_of, stem_terms
from ultracrawl.index.words.vocabulary import drop_vocabulary, vocabulary
from ultracrawl.model.page import Section
from ultracrawl.rules.attributes.schema import SearchAttribute
from ultracrawl.system.compiled_core import Words, usable_core

logger = logging.getLogger(__name__)

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
    words: Mapping[str, list[Words]]
    stems: Mapping[str, Words]
    """Stem terms by the field of their words; empty if the language has no stemmer."""


def analyse(document: IndexDocument, attributes: Iterable[SearchAttribute] = ()) -> AnalysedText:
    """Return the terms of a document, with stems if its language has a stemmer.

    The values of searched `attributes` are texts of the field `text`.
    """
    language = language_of(str(next(iter(document.attributes.get("Language", ())), "")))
    texts_of = {
        name: list(map(replace_surrogates, texts))
        for name, texts in _texts(document, attributes).items()
        if texts
    }
    url = replace_surrogates(document.url)
    code = "\n".join(chain(*texts_of.values(), (url,)))
    analysed = _by_core(texts_of, code, language) or _by_python(texts_of, code, language)
    return replace(analysed, words={**analysed.words, "address": [address_words(url)]})


def index_words(text: str) -> Words:
    """Return what `analysis.words` returns, by the core if there is one."""
    known = vocabulary()
    return words(text) if known is None else known.analyse((text,), "")[0][0]


def _by_core(texts_of: Mapping[str, Sequence[str]], code: str, language: str) -> AnalysedText | None:
    """Return the terms that the core finds; None without a core, or after a fault of it."""
    core, known = usable_core(), vocabulary()
    if core is None or known is None:
        return None
    try:
        both = {name: known.analyse(texts, language) for name, texts in texts_of.items()}
        found = {name: texts for name, (texts, _) in both.items()} | {"parts": [known.identifiers(code)]}
    except core.CoreError as error:
        logger.warning("the compiled core has a fault, a document is analysed without it: %s", error)
        drop_vocabulary()
        return None
    return AnalysedText(language, found, {name: stems for name, (_, stems) in both.items()})


def _by_python(texts_of: Mapping[str, Sequence[str]], code: str, language: str) -> AnalysedText:
    both = {name: list(map(tokenise_and_fold, texts)) for name, texts in texts_of.items()}
    found: dict[str, list[Words]] = {name: [folded for _, folded in pairs] for name, pairs in both.items()}
    found["parts"] = [identifier_terms(code)]
    stems: dict[str, Words] = {}
    if language:
        term_of = stem_terms(language).__getitem__
        for name, pairs in both.items():
            stems[name] = list(filter(None, map(term_of, chain.from_iterable(cut for cut, _ in pairs))))
    return AnalysedText(language, found, stems)


def _texts(document: IndexDocument, attributes: Iterable[SearchAttribute]) -> dict[str, Sequence[str]]:
    """Return the texts of each field that is stemmed."""
    searched = (
        str(value) for one in attributes if one.searched for value in document.attributes.get(one.name, ())
    )
    return {
        "title": (document.title,),
        "text": (document.text, *searched),
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
