"""Sentences of the program stand in one file, and nowhere else in what tests expect."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from support.sentences import all_sentences

ROOT = Path(__file__).resolve().parents[2]
WORDS_OF_A_SENTENCE = 5
"""Fewer are a name, a value or a part of a line."""
SHARED_WORDS = 3
"""A literal most of whose words stand in rows of so many in the package is one of its sentences."""
_SQL = "SELECT "
_WORD = re.compile(r"[A-Za-z']+")
_PLAIN_WORD = re.compile(r"(?<![\w/.:-])[A-Za-z']+(?![\w/:-])")


def test_what_tests_expect_of_the_program_in_words_stands_in_one_file() -> None:
    told = set(_rows_of_words(ROOT / "ultracrawl"))
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}"
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for node in _expected(ast.parse(path.read_text(encoding="utf-8")))
        if _is_sentence(node.value, told)
    ]
    assert not found, "put it into tests/golden/sentences.yaml, and write sentence(...)"


def test_every_sentence_of_the_file_is_expected_somewhere() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    named = {key for text in texts for key in re.findall(r"\bsentence\(\s*[\"']([\w.]+)[\"']", text)}
    assert named == {f"{group}.{name}" for group, names in all_sentences().items() for name in names}


def _expected(tree: ast.AST) -> Iterator[ast.Constant]:
    """Yield the texts with which assertions compare."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield from _texts(node.test)


def _is_sentence(text: str, told: set[tuple[str, ...]]) -> bool:
    rows = list(_rows(text))
    return (
        len(_PLAIN_WORD.findall(text)) >= WORDS_OF_A_SENTENCE
        and not text.startswith(_SQL)
        and sum(row in told for row in rows) > len(rows) / 2
    )


def _texts(node: ast.AST) -> Iterator[ast.Constant]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner


def _rows_of_words(folder: Path) -> Iterator[tuple[str, ...]]:
    for path in folder.rglob("*.py"):
        for text in _texts(ast.parse(path.read_text(encoding="utf-8"))):
            yield from _rows(text.value)


def _rows(text: str) -> Iterator[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    for start in range(len(words) - SHARED_WORDS + 1):
        yield tuple(words[start : start + SHARED_WORDS])
