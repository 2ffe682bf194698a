"""Finds the section of a document that matches a query best."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from math import log
from operator import or_
from typing import NamedTuple
from urllib.parse import unquote

from ultracrawl.content.anchors import LONGEST
from ultracrawl.index.engine import IndexDocument
from ultracrawl.index.hits.matching import Matcher, bits_of
from ultracrawl.index.hits.names import NameFinder, own_name
from ultracrawl.index.query.scoring import INFLECTION_FACTOR
from ultracrawl.index.query.tree import Node, requested_urls, words_of_titles
from ultracrawl.index.words.analysis import words
from ultracrawl.model.page import Section

_IN_TITLE, _IN_NAME, _IN_LINKS, _IN_PARTS = 4.0, 3.0, 3.0, 2.0
"""Scores of a word in the title of a section, in its anchor name, in anchor texts of links to it, in parts of its
title."""
_IN_TEXT = 2.0
"""Maximum score of a word in the text of a section; half of it for one occurrence."""
_IN_PARENT = 0.5
"""Score of a word in the title of a parent section."""
_MISSING_PENALTY = 2.0
"""Exponent of the penalty for missing words."""
_MAX_MATCHES = 1000
"""Matches in a text that are considered."""
_RELATED_SHARE = 0.3
"""Share of the highest score among the sections of a document from which a section counts as one that matches."""
_SHORT_SECTION = 80
"""Sections with less text before their first sub-section are shown with their sub-sections."""

_BETWEEN_PARTS = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])")
_PERMALINK = re.compile(r"[\s\u00b6#\u200b]*")
_NOT_A_LETTER = re.compile(r"[\W_]+")


class BestSection(NamedTuple):
    """The part of a document that matches a query best."""

    number: int | None = None
    """The number of a section; None is the document as a whole."""
    is_named: bool = False
    """Whether its title has all query words, so that all of it answers the query."""
    matching: tuple[tuple[int, bool], ...] = ()
    """The numbers of all sections that match, best first, each with whether its title has all query words."""


class SectionFinder:
    """Finds the best sections for one query.

    A word counts most in the title of a section, then in its anchor name and the anchor texts of links to it, then in
    its text; words that few sections of the document contain count more. No section is chosen if the document as a
    whole matches better: if its title has all words and no section title is exactly the query, or if the words occur
    before the first section.
    """

    def __init__(self, matcher: Matcher, node: Node) -> None:
        """Prepare the query `node`, whose words `matcher` finds."""
        urls = requested_urls(node)
        self._matcher = matcher
        self._names = NameFinder(node)
        self._beside = frozenset(words_of_titles(node))
        """The stop words of the query."""
        self._urls = dict(url.split("#", 1) for url in urls if "#" in url)
        """The fragments of URLs in the query, by URL."""

    def best(self, document: IndexDocument, text: str, language: str) -> BestSection:
        """Return the best section of a document."""
        sections = document.sections
        if not sections:
            return BestSection()
        if fragment := self._urls.get(document.url.partition("#")[0]):
            wanted = _numbers(sections).get(unquote(fragment))
            return BestSection(wanted, True, () if wanted is None else ((wanted, True),))
        in_names = self._name_scores(document, language)
        title_bits = self._bits(document.title, language)
        document_section = _document_section(document)
        if document_section >= 0:
            in_names[document_section] = {
                bit: counts for bit, counts in in_names[document_section].items() if not bit & title_bits
            }
        in_text: list[dict[int, int]] = [{} for _ in range(len(sections) + 1)]
        if not any(
            self._matcher.all_bits & ~title_bits & ~sum(in_name) == 0 for in_name in in_names if in_name
        ):
            self._count_text_matches(in_text, sections, text, language)
        scores = _section_scores(sections, in_names, in_text, title_bits)
        best = max(range(-1, len(sections)), key=scores.__getitem__)
        if self._names.is_clear:
            having = {number for number, in_name in enumerate(in_names) if in_name}
            called = [number for number, _ in self._names.sections(sections, having) if scores[number]]
            best = max(called, key=lambda one: (self._names.is_own(sections[one]), scores[one]), default=best)
        matching = tuple((number, self._has_all(in_names[number])) for number in _ranked(scores[:-1]))
        is_titled = title_bits == self._matcher.all_bits
        if is_titled and self._matcher.has_phrases:
            is_called = self._names.is_title(document.title)
            is_titled = is_called or bool(self._matcher.phrases(document.title, 0, 1))
        called_so = self._called_by_rest(sections, title_bits)
        if called_so is not None:
            return BestSection(called_so, True, ((called_so, True), *matching))
        if best in (-1, document_section) or not scores[best]:
            return BestSection(None, is_titled, matching)
        if is_titled and not self._is_exact_title(sections[best].title, language):
            return BestSection(None, True, matching)
        return BestSection(best, self._has_all(in_names[best]), matching)

    def _called_by_rest(self, sections: Sequence[Section], title_bits: int) -> int | None:
        """Return the section that is called by the one word that the title lacks: `hash` in `SocketAddr`.

        If it lacks none, that may be a stop word: `from` in `BTreeSet`.
        """
        if not title_bits or self._names.has_qualifier or self._matcher.has_phrases:
            return None
        missing = self._matcher.all_bits & ~title_bits
        names = {self._matcher.word_of(missing)} if missing else self._beside
        called = (number for number, section in enumerate(sections) if own_name(section.anchor) in names)
        return next(called, None) if any(names) else None

    def _has_all(self, in_name: Mapping[int, float]) -> bool:
        """Whether the names of a section have all query words."""
        return sum(bit for bit in in_name if bit <= self._matcher.all_bits) == self._matcher.all_bits

    def _name_scores(self, document: IndexDocument, language: str) -> list[dict[int, float]]:
        """Return for each section the scores of the words in its title, anchor name and anchor texts."""
        found: list[dict[int, float]] = [{} for _ in document.sections]
        names = list(_section_names(document))
        starts, length = [], 0
        for _, _, name_text in names:
            starts.append(length)
            length += len(name_text) + 1
        joined = "\n".join(name_text for _, _, name_text in names)
        spans = self._matcher.spans(joined, language, most=_MAX_MATCHES)
        spans += [(place, place, self._matcher.phrase_bit) for place in self._matcher.phrases(joined, 0, 50)]
        for place, end, bits in spans:
            number, counts, _ = names[bisect_right(starts, place) - 1]
            in_name = found[number]
            counts *= 1.0 if self._matcher.is_exact(joined[place:end]) else INFLECTION_FACTOR
            for bit in bits_of(bits):
                in_name[bit] = max(in_name.get(bit, 0.0), counts)
        if self._matcher.has_compounds:
            for in_name, section in zip(found, document.sections, strict=True):
                for bit in bits_of(self._matcher.compounds(f"{section.anchor} {section.title}")):
                    in_name[bit] = max(in_name.get(bit, 0.0), _IN_NAME)
        return found

    def _count_text_matches(
        self, found: list[dict[int, int]], sections: Sequence[Section], text: str, language: str
    ) -> None:
        """Count the words in the text of each section, and before the first one."""
        offsets = [section.offset for section in sections]
        begins = [section.begin_of_text(text) for section in sections]
        spans = self._matcher.spans(text, language, most=_MAX_MATCHES)
        spans += [(place, place, self._matcher.phrase_bit) for place in self._matcher.phrases(text, 0, 50)]
        for place, _, bits in spans:
            number = bisect_right(offsets, place) - 1
            if number < 0 or place >= begins[number]:
                counts = found[number]
                for bit in bits_of(bits):
                    counts[bit] = counts.get(bit, 0) + 1

    def _bits(self, title: str, language: str) -> int:
        """Return the bits of the query words in a title."""
        return reduce(or_, (bits for _, _, bits in self._matcher.spans(title, language)), 0)

    def _is_exact_title(self, title: str, language: str) -> bool:
        """Whether a section title consists of the query words and nothing more."""
        spans = self._matcher.spans(title, language)
        sought = sum(end - start for start, end, _ in spans)
        has_all = reduce(or_, (bits for _, _, bits in spans), 0) == self._matcher.all_bits
        return has_all and sum(map(len, words(title))) <= sought


def named_section(document: IndexDocument, number: int) -> Section | None:
    """Return the section to show for a match: the nearest section at or above it that has an anchor.

    None is the document as a whole; if no parent has an anchor either, the section itself is returned.
    """
    sections = document.sections
    level = sections[number].level
    # A section without an anchor, if others of its level have one, is a box (Note, Warning) in the section before it.
    deeper = 0 if any(one.anchor and one.level == level for one in sections) else 1
    for at in range(number, -1, -1):
        if at == number or sections[at].level <= level - deeper:
            level = sections[at].level
            if sections[at].anchor:
                return None if at == _document_section(document) else sections[at]
    return sections[number]


def text_of(sections: Sequence[Section], number: int, text: str) -> tuple[int, int]:
    """Return start and end of the text of a section behind its title; with its sub-sections if it is short.

    Of a section without any text, such as an entry of a book index, it is the title and what follows.
    """
    section, further = sections[number], sections[number + 1 :]
    start = section.begin_of_text(text)
    if found := _PERMALINK.match(text, start):
        start = found.end()
    end = further[0].offset if further else len(text)
    if end - start < _SHORT_SECTION:
        end = next((one.offset for one in further if one.level <= section.level), len(text))
    if not text[start:end].strip():
        start = section.offset
        end = next((one.offset for one in further if one.level < section.level), len(text))
    return min(start, len(text)), min(end, len(text))


def _section_names(document: IndexDocument) -> Iterator[tuple[int, float, str]]:
    """Yield the names of the sections: section number, score of a word in it, text."""
    titles = [section.title for section in document.sections]
    anchors = [section.anchor for section in document.sections]
    separated = zip(_separated(titles), _separated(anchors), strict=True)
    for number, (title, anchor, parts) in enumerate(zip(titles, anchors, separated, strict=True)):
        yield number, _IN_TITLE, title
        if parts[0] != title:
            yield number, _IN_PARTS, parts[0]
        if anchor:
            if parts[1] != anchor:
                yield number, _IN_PARTS, parts[1]
            yield number, _IN_NAME, anchor
    numbers = _numbers(document.sections)
    for fragment, text in document.section_anchors:
        found = numbers.get(unquote(fragment), numbers.get(fragment))
        if found is not None:
            yield found, _IN_LINKS, text


def _separated(names: Sequence[str]) -> list[str]:
    """Return the names with blanks between their parts; a page may have thousands."""
    separated = _BETWEEN_PARTS.sub(" ", "\n".join(names)).split("\n")
    return separated if len(separated) == len(names) else [_BETWEEN_PARTS.sub(" ", name) for name in names]


def _numbers(sections: Sequence[Section]) -> Mapping[str, int]:
    """Return the numbers of sections by fragment; of a long fragment only the beginning is stored."""
    numbers: dict[str, int] = {}
    for number, section in enumerate(sections):
        if section.anchor:
            numbers.setdefault(section.anchor, number)
            numbers.setdefault(section.anchor[:LONGEST], number)
    return numbers


def _section_scores(
    sections: Sequence[Section],
    in_names: Sequence[Mapping[int, float]],
    in_text: Sequence[Mapping[int, int]],
    title_bits: int,
) -> list[float]:
    """Return the score of each section; the last score, with index -1, is that of the text before the first section.

    `title_bits` are the words in the title of the document, which count for every section.
    """
    rarity = _rarity(in_names, in_text)
    everything = sum(rarity.values()) or 1.0
    scores = []
    around: dict[int, Mapping[int, float]] = {}
    for number, section in enumerate(sections):
        for level in [one for one in around if one >= section.level]:
            del around[level]
        if not (in_names[number] or in_text[number]):
            scores.append(0.0)
            continue
        points = {bit: _IN_PARENT for in_name in around.values() for bit in in_name} | dict(in_names[number])
        if in_names[number]:
            around[section.level] = in_names[number]
        for bit, times in in_text[number].items():
            points[bit] = points.get(bit, 0.0) + _in_text(times)
        missing = sum(rare for bit, rare in rarity.items() if bit not in points and not bit & title_bits)
        named = sum(rarity[bit] for bit, counts in in_names[number].items() if counts == _IN_TITLE)
        total = sum(rarity[bit] * counts for bit, counts in points.items())
        total += named / (1 + len(words(section.title))) if named else 0.0
        scores.append(total * (1 - missing / everything) ** _MISSING_PENALTY)
    before = in_text[-1]
    missing = sum(rare for bit, rare in rarity.items() if bit not in before and not bit & title_bits)
    total = sum(rarity[bit] * _in_text(times) for bit, times in before.items())
    return [*scores, total * (1 - missing / everything) ** _MISSING_PENALTY]


def _rarity(
    in_names: Sequence[Mapping[int, float]], in_text: Sequence[Mapping[int, int]]
) -> dict[int, float]:
    """Return the idf of each word among the sections."""
    having = Counter(bit for found in in_text for bit in found)
    having.update(
        bit for in_name, found in zip(in_names, in_text, strict=False) for bit in in_name if bit not in found
    )
    return {bit: log(1 + len(in_text) / number) for bit, number in having.items()}


def _ranked(scores: Sequence[float]) -> list[int]:
    """Return the numbers of the sections that match, best first; of equal ones the first."""
    least = max(scores) * _RELATED_SHARE
    matching = [number for number, score in enumerate(scores) if score and score >= least]
    return sorted(matching, key=lambda number: -scores[number])


def _in_text(times: int) -> float:
    return _IN_TEXT * times / (times + 1)


def _document_section(document: IndexDocument) -> int:
    """Return the first section of the highest level if its title is that of the document; else -1."""
    levels = [section.level for section in document.sections]
    first = levels.index(min(levels))
    plain, called = (
        _NOT_A_LETTER.sub(" ", title).casefold().strip()
        for title in (document.title, document.sections[first].title)
    )
    return first if called in plain or plain in called else -1
