"""Folds a whole text at once so that words are found in it at their offsets, by patterns of bytes."""

from __future__ import annotations

import re
import unicodedata

from ultracrawl.index.words.analysis import WORD_CHARACTERS, WordCache, fold, register_replacements

LIGATURES = {"ss": b"\xdf", "ae": b"\xe6", "oe": b"\xe6"}
"""Pairs of letters that a ligature is folded to, and what stands for it in a folded text."""

_HANDLER = "ultracrawl.folded"
"""Name of the error handler that folds characters outside Latin-1."""
_OTHER_LETTER = "\xb5"
_NOT_FOLDED = b"\1"
"""Stands for the characters of Latin-1 that are folded to several and are no `LIGATURES`."""
_LONGEST_RUN = 30
"""Characters of the longest run outside Latin-1 that is folded; longer ones belong to texts without blanks."""


def folded_text(text: str) -> bytes | None:
    """Return the folded words of a text, one byte for each character, with blanks between them.

    Letters that are folded to one ASCII character are this character, ligatures as in `LIGATURES`, all other letters
    the byte of the micro sign. None if the text has combining marks, or other characters that are folded to several.
    """
    try:
        data = text.encode("latin-1", _HANDLER).translate(_FOLDED_LATIN)
    except UnicodeEncodeError:
        return None
    return None if _NOT_FOLDED in data else data


def padded_text(text: str) -> tuple[bytes, bool]:
    """Return the folded text with a blank before it, and whether it has ligatures; empty if it is not folded.

    The blank before a word is at the offset of the word in the text.
    """
    folded = folded_text(text)
    if folded is None:
        return b"", False
    return b" " + folded, any(ligature in folded for ligature in set(LIGATURES.values()))


def _fold_run(run: str) -> str:
    """Return a run of characters outside Latin-1 folded one by one; empty if one cannot be."""
    folded = "" if len(run) > _LONGEST_RUN else "".join(map(_fold_character, run))
    return folded if len(folded) == len(run) else ""


def _fold_character(character: str) -> str:
    if not re.match(f"[{WORD_CHARACTERS}]", character):
        return " "
    if character in "\u0152\u0153":
        return "\xe6"
    if unicodedata.category(character).startswith(("M", "C")):
        return ""
    folded = fold(character)
    if len(folded) > 1:
        return ""
    return folded if folded.isascii() else _OTHER_LETTER


def _fold_byte(code: int) -> int:
    """Return what stands for a character of Latin-1 in a folded text."""
    character = chr(code).lower()
    if character == "\xad":
        return _NOT_FOLDED[0]
    if not (character.isalnum() or character == "_"):
        return ord(" ")
    folded = fold(character)
    if len(folded) > 1:
        return LIGATURES.get(folded, _NOT_FOLDED)[0]
    return ord(folded) if folded.isascii() else ord(_OTHER_LETTER)


_FOLDED_LATIN = bytes(map(_fold_byte, range(256)))
register_replacements(_HANDLER, WordCache(_fold_run))
