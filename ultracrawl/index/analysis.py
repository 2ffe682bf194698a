"""How text becomes words: the one place that index and query share, so that both cut alike."""

from __future__ import annotations

import re
from collections.abc import Callable

WORD_PATTERN = r"\w+"
"""A word is a run of letters, digits and underscores of any script."""

_find_words: Callable[[str], list[str]] = re.compile(WORD_PATTERN).findall


def words(text: str) -> list[str]:
    """Return the words of a text in order and in lower case; a word's place in the list is its position.

    No stop words are left out, so that every phrase can be found. Words are cut first and lowered one by one
    where it makes a difference: lowering the dotted capital I of Turkish adds a character that is no part
    of a word, and how a capital sigma is lowered depends on its neighbours.
    """
    lowered = text.lower()
    if len(lowered) == len(text) and "Σ" not in text:
        return _find_words(lowered)
    return [word.lower() for word in _find_words(text)]


def clean(text: str) -> str:
    """Return the text with lone surrogates, which no file can hold, replaced by question marks."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text
