"""Names that complete a partially typed query: what titles, sections, links, addresses and code are called."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from math import log1p
from operator import itemgetter
from typing import NamedTuple
from urllib.parse import unquote

from ultracrawl.index.engine import Completion, IndexDocument, SearchQuery, url_of_section
from ultracrawl.index.query.completion import TITLE_END, parse_partial_query
from ultracrawl.index.query.parser import parse_query
from ultracrawl.index.query.query_builder import IndexStatistics
from ultracrawl.index.query.tree import Word, all_of
from ultracrawl.index.words.analysis import WORD_PATTERN, fold, is_bigram
from ultracrawl.model.page import Section
from ultracrawl.rules.attributes.schema import SearchAttribute
from ultracrawl.rules.urls.shown import harmless

SHORTEST = 2
"""Letters of a word from which names that begin so are looked for; too many begin with one letter."""
_MOST_WORDS = 500
"""Words that begin so, of each field of each part of an index."""
_LOOKED_FOR, _READ = 48, 24
"""Words for which a document is looked for, and documents that are read."""
_NAMING = {"title": 4.0, "headings": 3.0, "section_anchors": 3.0, "anchors": 2.0, "address": 2.0}
"""Fields whose words are names rather than prose, with what one counts."""
_IN_CODE = 2.0
"""What an underscore or a digit in a word counts."""
_JOINTS = (".", ":", "#", "/", "$", "\\", "->")
"""What joins a name to what it belongs to: `os.path`, `Vec::new`, `HashMap#entrySet`."""


def completing_names(
    query: SearchQuery, attributes: Mapping[str, SearchAttribute], statistics: IndexStatistics
) -> tuple[Completion, ...]:
    """Return the names that begin with the last word of a text that is still being typed, the best first.

    A plain word is a name if a title, section, link or address is called so; others, such as `wal_level`, are
    wherever they stand. For each a document is found that has all words of the text and that is visible to the
    principals, so no name comes from others; none comes from a hidden text.
    """
    wanted = parse_partial_query(query.text) if query.completing else None
    if wanted is None or len(wanted.prefix) < SHORTEST or is_bigram(wanted.prefix):
        return ()
    *_, last = re.finditer(WORD_PATTERN, query.text)
    before, typed = query.text[: last.start()], query.text[last.start() :]
    if typed[-1].isspace() or fold(last[0].lower()) != wanted.prefix:
        return ()  # the word is whole, or is part of a run of several scripts
    conditions = parse_query(replace(query, text="", completing=False), attributes)
    counts = statistics.words_beginning_with(wanted.prefix, (*_NAMING, "text"), _MOST_WORDS)
    promising = sorted(counts, key=lambda word: (-_promise(word, counts[word]), word))
    having = (
        (word, statistics.find_document(all_of([*map(Word, (*wanted.words, word)), conditions])))
        for word in promising[:_LOOKED_FOR]
    )
    found = []
    for word, document in islice((one for one in having if one[1] is not None), _READ):
        assert document is not None
        name = _Namesake(word, document).find()
        if name is not None:
            is_as_typed = typed.islower() or name.text.startswith(typed)
            order = not is_as_typed, _is_plain(name.text), not name.is_its_own
            found.append((order, Completion(before + name.text, _place(document, name))))
    found.sort(key=itemgetter(0))
    return tuple(completion for _, completion in found)


def _place(document: IndexDocument, name: _Name) -> str:
    url = harmless(document.url)
    return url if name.section is None else url_of_section(url, name.section)


def _promise(word: str, counts: Mapping[str, int]) -> float:
    """Return how probably a word is a name that somebody is going to type."""
    in_text = counts.get("text", 0)
    naming = max((counts.get(field, 0) for field in _NAMING), default=0)
    points = log1p(in_text) + sum(weight for field, weight in _NAMING.items() if counts.get(field))
    points += 3.0 * min(1.0, naming / max(1, in_text))
    return points + (_IN_CODE if not word.isalpha() else 0.0)


class _Name(NamedTuple):
    """A name as it is written, and the section that has it."""

    text: str
    section: Section | None
    is_its_own: bool
    """Whether the section, or the document, is called so."""


class _Namesake:
    """Finds how a document writes a word, and what in it is called so."""

    def __init__(self, word: str, document: IndexDocument) -> None:
        self._word = word
        self._document = document

    def find(self) -> _Name | None:
        """Return the word as a name; None if the document shows none."""
        document = self._document
        if (shown := self._called(document.title)) or (shown := self._called(_last_part(document.url))):
            return _Name(shown, None, True)
        for text in document.anchors:
            if shown := self._called(text):
                return _Name(shown, None, True)
        if document.secret_text:
            return None
        for section in document.sections:
            if shown := self._called(section.title):
                return _Name(shown, section, True)
        for fragment, text in document.section_anchors:
            if shown := self._called(text):
                return _Name(shown, self._section(fragment), True)
        for section in document.sections:
            if shown := self._called(section.anchor):
                return _Name(shown, section, True)
        shown = self._written(document.text)
        return _Name(shown, None, False) if shown and not _is_plain(shown) else None

    def _section(self, fragment: str) -> Section | None:
        wanted = unquote(fragment)
        return next((one for one in self._document.sections if one.anchor == wanted), None)

    def _called(self, text: str) -> str:
        """Return the word as a text writes it if it is the name of what the text is the title of; else nothing."""
        if self._word.isascii() and self._word not in text.lower():
            return ""
        title = TITLE_END.split(text, 1)[0]
        alone, joined, end = True, False, len(title.rstrip("()<>,;:. "))
        for match in re.finditer(WORD_PATTERN, title):
            shown = match[0]
            if fold(shown.lower()) == self._word and (
                not _is_plain(shown) or (match.end() == end and (alone or joined))
            ):
                return shown
            alone = alone and shown.isdecimal()
            joined = title.startswith(_JOINTS, match.end())
        return ""

    def _written(self, text: str) -> str:
        """Return the word as a text has it, in small letters if it has it so; nothing if it is not found."""
        size = len(self._word)
        for searched in (text, text.lower()):
            at = searched.find(self._word) if len(searched) == len(text) else -1
            while at >= 0:
                around = searched[max(0, at - 1) : at] + searched[at + size : at + size + 1]
                # A pattern that looks around would look at every character.
                if not re.search(r"\w", around):
                    return text[at : at + size]
                at = searched.find(self._word, at + size)
        return ""


def _is_plain(word: str) -> bool:
    """Whether a word is made as those of prose are: of letters, without capitals behind the first unless all are."""
    return word.isalpha() and (word[1:].islower() or word.isupper() or not word[1:])


def _last_part(url: str) -> str:
    """Return the last part of the path of a URL, without an extension."""
    path = url.partition("#")[0].partition("?")[0].rstrip("/")
    return unquote(path.rpartition("/")[2]).partition(".")[0]
