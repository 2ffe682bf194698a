"""The piece of a document's text that is shown below a hit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MAX_SNIPPET = 300
"""Characters of a snippet, marks included."""
START_MARK, END_MARK = "\x02", "\x03"

_MAX_MATCHES = 500
_CONTROLS = re.compile(r"[\s\x00-\x1f\x7f]+")


class Highlighter:
    """Makes snippets for one query; it is made once and used for all hits of a page of results."""

    def __init__(self, sought: Iterable[tuple[str, bool]]) -> None:
        forms = sorted(
            {re.escape(word) + (r"\w*" if is_prefix else "") for word, is_prefix in sought}, reverse=True
        )
        self._pattern = re.compile(rf"\b(?:{'|'.join(forms)})\b", re.IGNORECASE) if forms else None

    def snippet(self, text: str) -> str:
        """Return the part of the text that holds the most different sought words, with marks around them.

        At most 300 characters; white space and control characters become single spaces. Without a match it is
        the beginning of the text.
        """
        spans = self._spans(text)
        if not spans:
            return _fold(text[: MAX_SNIPPET * 2])[:MAX_SNIPPET].rstrip()
        start, end = _window(text, spans)
        return _marked(text, start, end, [span for span in spans if start <= span[0] and span[1] <= end])

    def _spans(self, text: str) -> list[tuple[int, int, str]]:
        return list(self._matches(text)) if self._pattern else []

    def _matches(self, text: str) -> Iterator[tuple[int, int, str]]:
        if self._pattern is None:
            return
        for count, found in enumerate(self._pattern.finditer(text)):
            if count == _MAX_MATCHES:
                return
            yield found.start(), found.end(), found.group().lower()


def _window(text: str, spans: list[tuple[int, int, str]]) -> tuple[int, int]:
    """Return the window with most different words; of equals the one with most matches, then the first."""
    width = MAX_SNIPPET - 60
    best, best_worth = spans[0][0], (0, 0)
    last = 0
    for first, span in enumerate(spans):
        while last < len(spans) and spans[last][1] - span[0] <= width:
            last += 1
        inside = spans[first:last]
        worth = len({word for _, _, word in inside}), len(inside)
        if worth > best_worth:
            best, best_worth = span[0], worth
    start = max(0, best - 50)
    if start:
        space = text.find(" ", start, best)
        start = space + 1 if space >= 0 else best
    return start, min(len(text), start + MAX_SNIPPET)


def _marked(text: str, start: int, end: int, spans: list[tuple[int, int, str]]) -> str:
    pieces: list[str] = []
    size, at = 0, start
    for left, right, _ in spans:
        before, word = _fold(text[at:left]), text[left:right]
        if size + len(before) + len(word) + 2 > MAX_SNIPPET:
            break
        pieces += [before, START_MARK, word, END_MARK]
        size += len(before) + len(word) + 2
        at = right
    pieces.append(_fold(text[at:end])[: MAX_SNIPPET - size])
    return "".join(pieces).strip() or _fold(text[start:end])[:MAX_SNIPPET]


def _fold(text: str) -> str:
    return _CONTROLS.sub(" ", text)
