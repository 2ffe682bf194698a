"""Queries that are still being typed."""

from __future__ import annotations

import pytest

from ultracrawl.service.searching.answers import either_word, typed_text


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("her", "(her OR her*)"),
        ("create index conc", "create index (conc OR conc*)"),
        ("größ", "(größ OR größ*)"),
        ("max_conn", "(max_conn OR max_conn*)"),
    ],
)
def test_the_last_word_may_be_a_beginning(text: str, query: str) -> None:
    assert either_word(text) == query
    assert typed_text(query) == text


MORE_THAN_WORDS = [
    "",
    "h",
    "heron ",
    "heron*",
    '"grey heron"',
    "heron OR eg",
    "-heron",
    "Author:lee",
    "a/b",
    "(her",
    "C++",
]


def test_what_is_more_than_words_stays(subtests: pytest.Subtests) -> None:
    for text in MORE_THAN_WORDS:
        with subtests.test(text):
            assert either_word(text) == text
