"""Texts that say the same in several forms, as the alternatives of a mail do: what one says as well is read once."""

from __future__ import annotations

import re

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n\s*\n")
_URL = re.compile(r"\b(?:https?://|mailto:|www\.)\S+", re.IGNORECASE)
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")
"""A word; of scripts without blanks a letter, since nobody knows where their words end."""


class Said:
    """The words of the alternatives that were read."""

    def __init__(self) -> None:
        self._words: set[str] = set()

    def rest_of(self, text: str) -> str:
        """Return the sentences of a text that have a word which was not read yet, all of the first text.

        Words in URLs do not count: plain text names the targets of links, of which a page shows the texts.
        """
        if not self._words:
            self._words.update(_words_of(text))
            return text
        rest = []
        for sentence in _SENTENCE_END.split(text):
            words = _words_of(sentence)
            if words - self._words:
                self._words |= words
                rest.append(sentence)
        return "\n".join(rest)


def _words_of(text: str) -> set[str]:
    return set(_WORD.findall(_URL.sub(" ", text).casefold()))
