"""Names of code and configuration in a query: found as they are written, and, looser, by their parts."""

from __future__ import annotations

import re

from ultracrawl.index.query import tree
from ultracrawl.index.words.analysis import WORD_PATTERN, fold, is_bigram
from ultracrawl.index.words.identifiers import query_operators, word_parts
from ultracrawl.index.words.stemming import stems

_SIGN_WEIGHT = 5.0
"""A sign counts so many times what a part of a word does."""
_find_words = re.compile(WORD_PATTERN).findall


def identifier(text: str, plain: tree.Word | tree.Phrase) -> tree.Node:
    """Return what finds a piece of a query without blanks, whose words are `plain`.

    It is an `Identifier` if it has signs, or parts that may stand apart: `C++`, `Vec::with_capacity`, `HashMap`. What
    is cut into pairs of characters has no parts.
    """
    found = plain.words if isinstance(plain, tree.Phrase) else (plain.word,)
    whole, parts = signed(text, plain), tree.all_of([_word_or_parts(word) for word in _find_words(text)])
    if any(map(is_bigram, found)):
        parts = plain
    return plain if whole == plain == parts else tree.Identifier(whole, parts)


def signed(text: str, *words: tree.Node) -> tree.Node:
    """Return what finds a piece of a query by its words, if there are any, and its signs; `EVERYTHING` without both."""
    signs = [tree.Boosted(tree.Word(sign), _SIGN_WEIGHT) for sign in query_operators(text)]
    return tree.all_of([*words, *signs])


def _word_or_parts(written: str) -> tree.Node:
    whole = _word(written.lower())
    parts: list[tree.Node] = [_word(part) for part in word_parts(written)]
    return tree.any_of([whole, tree.all_of(parts)]) if parts else whole


def _word(word: str) -> tree.Word:
    return tree.Word(fold(word), stems=stems(word))
