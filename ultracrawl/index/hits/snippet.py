"""Selects and marks the snippet of a hit."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import log
from typing import NamedTuple

from ultracrawl.index.hits.highlighting import END_MARK, START_MARK, collapse_controls
from ultracrawl.index.hits.matching import Matcher, Span, bits_of

MAX_SNIPPET = 300
"""Characters of a snippet, marks included."""

_WIDTH = MAX_SNIPPET - 60
"""Characters of a snippet in which matches are counted: the marks need some room."""
_LEAD_IN = 150
"""Characters of a sentence before the first match that are shown; of a longer sentence only a few words are."""
_MAX_PHRASES = 10
_find_ends = re.compile(
    "[.!?\u2026\u3002\uff01\uff1f\uff61\\r\\n\xb6]+[\"'\u2019\u201d)\\]\u300d\u300f\uff09]*\\s*"
).finditer
_SENTENCE_END_BEFORE_BLANK = ".!?\u2026"
"""Characters that end a sentence only before a blank."""
_CJK_BREAKS = "\u3002\uff01\uff1f\uff61\u3001\uff0c\uff1b\uff1a"
"""Characters after which a text without blanks may be cut."""
_find_break = re.compile(f"[ {_CJK_BREAKS}]").search


def snippet(
    matcher: Matcher,
    text: str,
    language: str = "",
    part: tuple[int, int] | None = None,
    *,
    breaks: Iterable[int] = (),
    is_answer: bool = False,
) -> str:
    """Return the best passage of a part of a text, with marks around the matches.

    It begins at the sentence with the most different query words close together; at one with a phrase if the query has
    one; at the beginning of a section that is itself the answer (`is_answer`), or without matches. `language` is the
    language of the text, whose rules recognise inflected forms; sentences also end at `breaks`. The snippet has at most
    300 characters; white space, control and bidirectional characters become single blanks.
    """
    start, end = part or (0, len(text))
    end = min(end, len(text))
    found = matcher.spans(text, language, start, end)
    phrases = [place for place in matcher.phrases(text, start, _MAX_PHRASES) if place < end]
    for place in phrases:
        near = max(start, place - MAX_SNIPPET), min(end, place + MAX_SNIPPET)
        found += matcher.spans(text, language, *near)
    spans = sorted({span for span in found if span[1] <= end})
    if not spans or (is_answer and spans[0][0] > start + MAX_SNIPPET):
        beginning = collapse_controls(text[start : min(end, start + 2 * MAX_SNIPPET)])
        return _cut_at_word(beginning, MAX_SNIPPET, more=len(beginning) > MAX_SNIPPET).strip()
    if end - start > _WIDTH and not is_answer:
        last = min(end, spans[-1][1] + MAX_SNIPPET)  # no sentence begins in a passage after that
        starts = {start, *_sentence_starts(text, start, last)}
        starts.update(place for place in breaks if start < place < end)
        start = _Windows(text, spans, sorted(starts), phrases, end).best()
    shown = min(end, start + MAX_SNIPPET)
    return _marked(text, start, shown, matcher.spans(text, language, start, shown))


class _Window(NamedTuple):
    start: int
    sentence_end: int
    first: int
    """The number of the first match in it."""


class _Windows:
    """The candidate passages of a text, each from the beginning of a sentence if that is near."""

    def __init__(
        self, text: str, spans: Sequence[Span], starts: Sequence[int], phrases: Sequence[int], end: int
    ) -> None:
        self._text = text
        self._spans = spans
        self._starts = starts
        self._phrases = phrases
        self._end = end
        counts = Counter(bit for _, _, bits in spans for bit in bits_of(bits))
        self._weights = {bit: 1 / (1 + log(number)) for bit, number in counts.items()}
        """Weights of the words: frequent words count less."""

    def best(self) -> int:
        """Return the start of the best passage; of equal ones the first."""
        best = max(self._windows(), key=self._score)
        if self._end - best.start < MAX_SNIPPET // 2:  # a short end needs the sentences before it
            earliest = self._end - _WIDTH
            return next((start for start in self._starts if earliest <= start <= best.start), best.start)
        return best.start

    def _windows(self) -> Iterator[_Window]:
        last = -1
        for number, (place, _, _) in enumerate(self._spans):
            sentence = bisect_right(self._starts, place) - 1
            start = self._starts[sentence]
            if place - start > _LEAD_IN:
                start = _word_start_before(self._text, place)
            if start != last:
                ends = self._starts[sentence + 1] if sentence + 1 < len(self._starts) else self._end
                yield _Window(start, ends, number)
                last = start

    def _score(self, window: _Window) -> float:
        seen = in_sentence = number = 0
        first = nearest = self._spans[window.first][0]
        for start, end, bits in self._spans[window.first :]:
            if end > window.start + _WIDTH:
                break
            number += 1
            seen |= bits
            if end <= window.sentence_end and in_sentence | bits != in_sentence:
                in_sentence |= bits
                nearest = start
        near = 1 / (2 + (nearest - first) // 30)
        here = [place for place in self._phrases if window.start <= place < window.start + _WIDTH]
        phrase = 4.0 * bool(here) + any(place < window.sentence_end for place in here)
        return 2 * self._sum(in_sentence) + self._sum(seen) + near + phrase + min(number, 10) / 50

    def _sum(self, bits: int) -> float:
        return sum(self._weights[bit] for bit in bits_of(bits))


def _sentence_starts(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the offsets of sentences; no sentence ends after a single letter (`v. 3`) or before a small one."""
    for found in _find_ends(text, start, end):
        first, after = found.span()
        if text[first] in _SENTENCE_END_BEFORE_BLANK:
            if not text[after - 1].isspace() or text[after : after + 1].islower():
                continue
            if (
                text[first] == "."
                and text[first - 1 : first].isalnum()
                and not text[first - 2 : first - 1].isalnum()
            ):
                continue
        yield after


def _word_start_before(text: str, place: int) -> int:
    """Return the offset of a word a little before an offset."""
    start = max(0, place - 50)
    if start:
        found = _find_break(text, start, place)
        start = found.end() if found else place
    return start


def _marked(text: str, start: int, end: int, spans: list[Span]) -> str:
    pieces: list[str] = []
    size, at = 0, start
    for left, right, _ in spans:
        if left < at:
            continue
        before, word = collapse_controls(text[at:left]), text[left:right]
        if size + len(before) + len(word) + 2 > MAX_SNIPPET:
            break
        pieces += [before, START_MARK, word, END_MARK]
        size += len(before) + len(word) + 2
        at = right
    rest, room = collapse_controls(text[at:end]), MAX_SNIPPET - size
    pieces.append(_cut_at_word(rest, room, more=end < len(text) or len(rest) > room))
    return "".join(pieces).strip() or collapse_controls(text[start:end])[:MAX_SNIPPET]


def _cut_at_word(text: str, limit: int, *, more: bool) -> str:
    """Return the beginning of a text; if `more` follows, it is cut at a word boundary, unless the word is very long."""
    shown = text[:limit]
    end = max(shown.rfind(" "), *(shown.rfind(sign) + 1 for sign in _CJK_BREAKS)) if more else -1
    return shown[:end] if end >= max(1, len(shown) - 40) else shown
