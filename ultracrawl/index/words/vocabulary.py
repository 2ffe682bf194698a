"""The words that the compiled core has met, and what it asks Python about characters and new words.

The core makes the terms that `analysis`, `identifiers` and `stemming` make, because it asks them, once for each
character and each new word.
"""

from __future__ import annotations

import re
import threading
from typing import cast

from ultracrawl.index.words.analysis import PAIRED_RUN, WORD_CHARACTERS, fold
from ultracrawl.index.words.stemming import stem_term
from ultracrawl.system.compiled_core import CorePostings, CoreVocabulary, CoreWords, Words, usable_core

MAX_WORDS = 500_000
"""Words of a vocabulary (about 30 MB) after which the next pool begins a new one."""

_LETTER, _MARK, _PAIRED, _ODD = 1, 2, 4, 8
_PAGE = 256


class _Thread(threading.local):
    """A vocabulary for each thread, because the core does not lock it."""

    vocabulary: CoreVocabulary | None = None


_thread = _Thread()


def vocabulary() -> CoreVocabulary | None:
    """Return the vocabulary of this thread; None without the core."""
    core = usable_core()
    if core is None:
        return None
    if _thread.vocabulary is None:
        _thread.vocabulary = core.Vocabulary(character_page, str.lower, fold, stem_term)
    return _thread.vocabulary


def drop_vocabulary() -> None:
    """Let the next text of this thread begin a new vocabulary."""
    _thread.vocabulary = None


def new_pool() -> CorePostings | None:
    """Return an empty pool for texts that are analysed after this call; None without the core."""
    core, known = usable_core(), vocabulary()
    if core is None or known is None:
        return None
    if len(known) > MAX_WORDS:
        drop_vocabulary()
        return new_pool()
    return core.Pool(known)


def joined(words: Words) -> str:
    """Return words with blanks between them."""
    return " ".join(words) if isinstance(words, list) else cast(CoreWords, words).joined()


def character_page(first: int) -> tuple[bytes, str]:
    """Return the kinds of the 256 characters from `first` on, and their lower-case forms."""
    characters = [chr(code) for code in range(first, first + _PAGE)]
    # The capital sigma is lowered depending on its neighbours, the dotted capital I to two characters.
    odd = {one for one in characters if len(one.lower()) != 1 or one == "\u03a3"}
    shown = "".join(one if one in odd else one.lower() for one in characters)
    in_words, paired = (set("".join(re.findall(p, shown))) for p in (f"[{WORD_CHARACTERS}]", PAIRED_RUN))
    kinds = (
        (_LETTER if one.isalnum() or one == "_" else _MARK if one in in_words else 0)
        + (_PAIRED if one in paired else 0)
        + (_ODD if one in odd else 0)
        for one in shown
    )
    return bytes(kinds), shown
