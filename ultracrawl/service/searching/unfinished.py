"""Queries that are still being typed: their last word may be the beginning of a word."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"((?:[\w\s]*\s)?)(\w{2,})")
"""Words without operators of the query syntax; the last one may be unfinished."""
_OPERATOR = re.compile(r"\b(AND|OR|NOT)\b")
_EITHER = re.compile(r"\((\w+) OR \w+\*\)")


def either_word(text: str) -> str:
    """Return the query for documents with the last word of a text, or with a word that begins like it.

    A text with operators is returned as it is.
    """
    found = _PLAIN.fullmatch(text)
    if found is None or _OPERATOR.search(text):
        return text
    return f"{found[1]}({found[2]} OR {found[2]}*)"


def typed_text(query: str) -> str:
    """Return what to type for a query of `either_word`, such as one with corrected words."""
    return _EITHER.sub(r"\1", query)
