"""Which part of a document answers a query best."""

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
from ultracrawl.index.query.scoring import INFLECTION_FACTOR
from ultracrawl.index.words.analysis import words
from ultracrawl.model.page import Section

_IN_TITLE, _IN_NAME, _IN_LINKS, _IN_PARTS = 4.0, 3.0, 3.0, 2.0
"""What a word counts in the title of a part, in its anchor name, in a text of links to it, in its title's compounds."""
_IN_TEXT = 2.0
"""What it counts in the text of a part at the most, half of it if it stands there once."""
_ABOVE = 0.5
"""What a word counts in the title of a part around it."""
_LACKING = 2.0
"""How much less a part counts that lacks words."""
_MOST_MATCHES = 1000
"""Matches in a text that are looked at."""
_SHORT = 80
"""Characters of text before its first sub-part with which a part says something by itself."""

_BETWEEN_PARTS = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])")
_PERMALINK = re.compile(r"[\s\u00b6#]*")
_NOT_A_LETTER = re.compile(r"[\W_]+")


class Answer(NamedTuple):
    """What of a document answers best."""

    number: int | None = None
    """That of a part; None is the document as a whole."""
    is_named: bool = False
    """Whether it is called what was sought, so that all of it is the answer."""


class SectionFinder:
    """Finds the parts that answer one query.

    A word counts most in the title of a part, then in its anchor name and in what links to it are called, then in its
    text; words that few parts of the document have count more. No part is chosen where the document as a whole answers:
    where its title has all the words, and no part is called exactly so, or where they stand before its first part.
    """

    def __init__(self, matcher: Matcher, urls: Sequence[str] = ()) -> None:
        self._matcher = matcher
        self._urls = dict(url.split("#", 1) for url in urls if "#" in url)
        """The fragments of URLs that were asked for."""

    def best(self, document: IndexDocument, text: str, language: str) -> Answer:
        """Return what answers best."""
        sections = document.sections
        if not sections:
            return Answer()
        if fragment := self._urls.get(document.url.partition("#")[0]):
            return Answer(_numbers(sections).get(unquote(fragment)), is_named=True)
        heads = self._heads(document, language)
        titled = self._bits(document.title, language)
        whole = _whole(document)
        if whole >= 0:
            heads[whole] = {bit: counts for bit, counts in heads[whole].items() if not bit & titled}
        in_text = [Counter[int]() for _ in range(len(sections) + 1)]
        if not any(self._matcher.all_bits & ~titled & ~sum(head) == 0 for head in heads if head):
            self._count_in(in_text, sections, text, language)
        worth = _worth(sections, heads, in_text, titled)
        best = max(range(-1, len(sections)), key=worth.__getitem__)
        is_titled = titled == self._matcher.all_bits
        if is_titled and self._matcher.has_phrases:
            is_titled = bool(self._matcher.phrases(document.title, 0, 1))
        if best in (-1, whole) or not worth[best]:
            return Answer(is_named=is_titled)
        if is_titled and not self._is_called(sections[best].title, language):
            return Answer(is_named=True)
        named = sum(bit for bit in heads[best] if bit <= self._matcher.all_bits)
        return Answer(best, is_named=named == self._matcher.all_bits)

    def _heads(self, document: IndexDocument, language: str) -> list[dict[int, float]]:
        """Return for each part what the words count that its title, its name and links to it have."""
        found: list[dict[int, float]] = [{} for _ in document.sections]
        pieces = list(_pieces(document))
        starts, length = [], 0
        for _, _, piece in pieces:
            starts.append(length)
            length += len(piece) + 1
        joined = "\n".join(piece for _, _, piece in pieces)
        spans = self._matcher.spans(joined, language, most=_MOST_MATCHES)
        spans += [(place, place, self._matcher.phrase_bit) for place in self._matcher.phrases(joined, 0, 50)]
        for place, end, bits in spans:
            number, counts, _ = pieces[bisect_right(starts, place) - 1]
            head = found[number]
            counts *= 1.0 if self._matcher.is_exact(joined[place:end]) else INFLECTION_FACTOR
            for bit in bits_of(bits):
                head[bit] = max(head.get(bit, 0.0), counts)
        if self._matcher.has_compounds:
            for head, section in zip(found, document.sections, strict=True):
                for bit in bits_of(self._matcher.compounds(f"{section.anchor} {section.title}")):
                    head[bit] = max(head.get(bit, 0.0), _IN_NAME)
        return found

    def _count_in(
        self, found: list[Counter[int]], sections: Sequence[Section], text: str, language: str
    ) -> None:
        """Count for each part, and before the first one, how often its own text has the words."""
        offsets = [section.offset for section in sections]
        spans = self._matcher.spans(text, language, most=_MOST_MATCHES)
        spans += [(place, place, self._matcher.phrase_bit) for place in self._matcher.phrases(text, 0, 50)]
        for place, _, bits in spans:
            number = bisect_right(offsets, place) - 1
            if number < 0 or place >= offsets[number] + len(sections[number].title):
                found[number].update(bits_of(bits))

    def _bits(self, title: str, language: str) -> int:
        """Return which of the words sought a title has."""
        return reduce(or_, (bits for _, _, bits in self._matcher.spans(title, language)), 0)

    def _is_called(self, title: str, language: str) -> bool:
        """Whether the title of a part is what is sought, and nothing more."""
        spans = self._matcher.spans(title, language)
        sought = sum(end - start for start, end, _ in spans)
        has_all = reduce(or_, (bits for _, _, bits in spans), 0) == self._matcher.all_bits
        return has_all and sum(map(len, words(title))) <= sought


def named_section(document: IndexDocument, number: int) -> Section | None:
    """Return the part by which another one is named: the nearest around it that something leads to.

    None is the document as a whole; where nothing leads to any part around it, it is named itself.
    """
    sections = document.sections
    level = sections[number].level
    # What has no anchor where others of its level have one is a box (Note, Warning) in the part before it.
    deeper = 0 if any(one.anchor and one.level == level for one in sections) else 1
    for at in range(number, -1, -1):
        if at == number or sections[at].level <= level - deeper:
            level = sections[at].level
            if sections[at].anchor:
                return None if at == _whole(document) else sections[at]
    return sections[number]


def text_of(sections: Sequence[Section], number: int, text: str) -> tuple[int, int]:
    """Return where the text of a part begins, behind its title, and where it ends; with its sub-parts if need be."""
    section, further = sections[number], sections[number + 1 :]
    start = section.offset
    if text.startswith(section.title, start):
        found = _PERMALINK.match(text, start + len(section.title))
        start = found.end() if found else start
    end = further[0].offset if further else len(text)
    if end - start < _SHORT:
        end = next((one.offset for one in further if one.level <= section.level), len(text))
    return min(start, len(text)), min(end, len(text))


def _pieces(document: IndexDocument) -> Iterator[tuple[int, float, str]]:
    """Yield what the parts are called: the number of a part, what a word counts there, the text."""
    for number, section in enumerate(document.sections):
        yield number, _IN_TITLE, section.title
        for name in (section.title, section.anchor):
            parts = _BETWEEN_PARTS.sub(" ", name)
            if parts != name:
                yield number, _IN_PARTS, parts
        if section.anchor:
            yield number, _IN_NAME, section.anchor
    numbers = _numbers(document.sections)
    for fragment, said in document.section_anchors:
        found = numbers.get(unquote(fragment), numbers.get(fragment))
        if found is not None:
            yield found, _IN_LINKS, said


def _numbers(sections: Sequence[Section]) -> Mapping[str, int]:
    """Return the numbers of parts by what leads to them; of a long fragment only the beginning is known."""
    numbers: dict[str, int] = {}
    for number, section in enumerate(sections):
        if section.anchor:
            numbers.setdefault(section.anchor, number)
            numbers.setdefault(section.anchor[:LONGEST], number)
    return numbers


def _worth(
    sections: Sequence[Section],
    heads: Sequence[Mapping[int, float]],
    in_text: Sequence[Counter[int]],
    titled: int,
) -> list[float]:
    """Return what each part is worth; last, so that its number is -1, what stands before them.

    `titled` are the words that the title of the document has, and so every part.
    """
    rarity = _rarity(heads, in_text)
    everything = sum(rarity.values()) or 1.0
    worth = []
    around: dict[int, Mapping[int, float]] = {}
    for number, section in enumerate(sections):
        for level in [one for one in around if one >= section.level]:
            del around[level]
        if not (heads[number] or in_text[number]):
            worth.append(0.0)
            continue
        points = {bit: _ABOVE for head in around.values() for bit in head} | dict(heads[number])
        if heads[number]:
            around[section.level] = heads[number]
        for bit, times in in_text[number].items():
            points[bit] = points.get(bit, 0.0) + _in_text(times)
        missing = sum(rare for bit, rare in rarity.items() if bit not in points and not bit & titled)
        named = sum(rarity[bit] for bit, counts in heads[number].items() if counts == _IN_TITLE)
        total = sum(rarity[bit] * counts for bit, counts in points.items())
        total += named / (1 + len(words(section.title))) if named else 0.0
        worth.append(total * (1 - missing / everything) ** _LACKING)
    before = in_text[-1]
    missing = sum(rare for bit, rare in rarity.items() if bit not in before and not bit & titled)
    total = sum(rarity[bit] * _in_text(times) for bit, times in before.items())
    return [*worth, total * (1 - missing / everything) ** _LACKING]


def _rarity(heads: Sequence[Mapping[int, float]], in_text: Sequence[Counter[int]]) -> dict[int, float]:
    """Return of each word what it says by how few parts have it."""
    having = Counter(bit for found in in_text for bit in found)
    having.update(
        bit for head, found in zip(heads, in_text, strict=False) for bit in head if bit not in found
    )
    return {bit: log(1 + len(in_text) / number) for bit, number in having.items()}


def _in_text(times: int) -> float:
    return _IN_TEXT * times / (times + 1)


def _whole(document: IndexDocument) -> int:
    """Return the part that is the document itself: the first of the highest level, if it is called like it; else -1."""
    levels = [section.level for section in document.sections]
    first = levels.index(min(levels))
    plain, called = (
        _NOT_A_LETTER.sub(" ", title).casefold().strip()
        for title in (document.title, document.sections[first].title)
    )
    return first if called in plain or plain in called else -1
