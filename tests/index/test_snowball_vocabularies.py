"""Stems are those of Snowball's published vocabularies.

`snowball/LANGUAGE.txt` has some 200 words of each with their stems, evenly taken from the lists as the Rust crate
`rust-stemmers` 1.2.0 publishes them (BSD, see `snowball/LICENSE`); Greek has 78. Words are left out where Snowball has
changed its algorithm since then (German strong verbs for the most part); Romanian is, as its letters were changed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ultracrawl.index.words.analysis import fold
from ultracrawl.index.words.stemming import LANGUAGES, stem_terms

FOLDER = Path(__file__).with_name("snowball")
VOCABULARIES = sorted(path.stem for path in FOLDER.glob("*.txt"))


@pytest.mark.parametrize("language", VOCABULARIES)
def test_stems_of_the_published_vocabulary(language: str) -> None:
    pairs = [line.split() for line in (FOLDER / f"{language}.txt").read_text("utf-8").splitlines()]
    words = {word: stem for word, stem in pairs if word.isalpha()}
    assert len(words) > 70
    expected = {
        word: f"{language}:{fold(stem)}" if fold(stem) != fold(word) else "" for word, stem in words.items()
    }
    assert {word: stem_terms(language)[word] for word in words} == expected
    assert any(expected.values())


def test_vocabularies_are_those_of_languages_with_a_stemmer() -> None:
    assert len(VOCABULARIES) == 10
    assert set(VOCABULARIES) <= set(LANGUAGES)


def test_double_consonants_of_english() -> None:
    forms = {"stopped": "stop", "running": "run", "committed": "commit", "planning": "plan"}
    assert {word: stem_terms("en")[word] for word in forms} == {
        word: f"en:{stem}" for word, stem in forms.items()
    }
