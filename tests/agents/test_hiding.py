"""Secrets in the texts of other programs."""

from __future__ import annotations

import pytest

from ultracrawl.system.hiding import MASK, without_secrets


@pytest.mark.parametrize(
    ("text", "secrets", "hidden"),
    [
        ("port 1: accept p, 'p' and p@host", ["p"], f"port 1: accept {MASK}, '{MASK}' and {MASK}@host"),
        ("s3cret and xs3cretx", ["s3cret"], f"{MASK} and x{MASK}x"),
        ("abcdef abc", ["abc", "abcdef"], f"{MASK} {MASK}"),
        ("a+b ab", ["a+b", ""], f"{MASK} ab"),
    ],
)
def test_secrets_are_hidden_and_words_are_left(text: str, secrets: list[str], hidden: str) -> None:
    assert without_secrets(text, secrets) == hidden
