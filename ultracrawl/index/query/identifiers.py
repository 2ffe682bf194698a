"""Identifiers of code and configuration in a query: matched as they are written or, looser, by their parts."""

from __future__ import annotations

import re

from ultracrawl.index.query import tree
from ultracrawl.index.words.analysis import WORD_PATTERN, fold, is_bigram
from ultracrawl.index.words.identifiers import query_operators, word_parts
from ultracrawl.index.words.stemming import stems

_OPERATOR_WEIGHT = 5.0
"""Factor of an operator compared with a part of a word."""
_QUALIFIED = re.compile(
    r"""(?: [^\W\d]\w* (?: (?:\.|::?|\#|/|\\|->) ~?[^\W\d]\w* )+     # os.path.join, Vec::new, net/http.Client
    |   (?: /[^\W\d]\w* ){2,} )                                        # /proc/sys/vm, but not /etc/hosts.conf
    /?\Z""",
    re.VERBOSE,
).match
_find_words = re.compile(WORD_PATTERN).findall


def identifier(text: str, plain: tree.Word | tree.Phrase) -> tree.Node:
    """Return the node of a token without blanks, whose words are `plain`.

    It is an `Identifier` if the token has operators, or parts that may occur separately: `C++`, `Vec::with_capacity`,
    `HashMap`. Tokens with CJK bigrams have no parts.
    """
    found = plain.words if isinstance(plain, tree.Phrase) else (plain.word,)
    whole, parts = (
        with_operators(text, plain),
        tree.all_of([_word_or_parts(word) for word in _find_words(text)]),
    )
    if any(map(is_bigram, found)):
        parts = plain
    return plain if whole == plain == parts else tree.Identifier(whole, parts)


def with_operators(text: str, *words: tree.Node) -> tree.Node:
    """Return the node of a token's words, if any, and its operators; `EVERYTHING` without both."""
    operators = [tree.Boosted(tree.Word(operator), _OPERATOR_WEIGHT) for operator in query_operators(text)]
    return tree.all_of([*words, *operators])


def is_qualified(text: str) -> bool:
    """Whether a token is a name with what it belongs to: `os.path.join`, `Collections::sort`, `HashMap#entrySet`."""
    return _QUALIFIED(text) is not None


def _word_or_parts(written: str) -> tree.Node:
    whole = _word(written.lower())
    parts = tuple(_word(part) for part in word_parts(written))
    return tree.Compound(whole, parts) if parts else whole


def _word(word: str) -> tree.Word:
    return tree.Word(fold(word), stems=stems(word))
