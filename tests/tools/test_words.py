"""Names that say nothing are found."""

from __future__ import annotations

import pytest
import words

EMPTY = {
    "a part of a class": ("class PriceBook: ...", "class `PriceBook`: write what it is"),
    "the end of a class": ("class LoginFault: ...", "class `LoginFault`: write Finding"),
    "an attribute": ("class X:\n    def open(self):\n        self._keeper = 1", "attribute `_keeper`: write"),
    "a field": ("class X:\n    log_book: str", "attribute `log_book`: write what it is"),
    "a constant": ("DESK = 1", "attribute `DESK`: write what it does"),
    "a parameter": ("def use(*, told): ...", "parameter `told`: write what calls it"),
    "a method of one word": (
        "class X:\n    def put(self): ...",
        "function `put`: write a verb with its noun",
    ),
}
FREE = {
    "a name that says it": "class AuthChain: ...",
    "a variable": "def use(desk):\n    book = desk.take()\n    return book",
    "a verb for one file": "class X:\n    def _take(self): ...",
    "a verb with its noun": "class X:\n    def take_entry(self): ...",
    "a longer word": "class Bookmark: ...\ndef desktop(): ...",
}


def found_in(grow, text, name="one"):
    return [str(found) for found in words.empty_words(grow({f"ultracrawl/{name}.py": f"{text}\n"}))]


@pytest.mark.parametrize("case", EMPTY)
def test_a_name_that_says_nothing_is_found(grow, case):
    text, expected = EMPTY[case]
    found = found_in(grow, text)
    assert len(found) == 1
    assert expected in found[0]


@pytest.mark.parametrize("case", FREE)
def test_other_words_pass(grow, case):
    assert found_in(grow, FREE[case]) == []


def test_the_name_of_a_module_is_found_and_may_be_excused_at_its_docstring(grow):
    assert found_in(grow, '"""What it does."""', "robots_book") == [
        "ultracrawl/robots_book.py:1: module `robots_book`: write what it is: a cache, a store"
    ]
    assert (
        found_in(grow, '"""What it does.\n\nMore.\n"""  # word: the program of that name', "robots_book")
        == []
    )


def test_a_module_says_what_is_in_it(grow):
    assert found_in(grow, "", "utils") == ["ultracrawl/utils.py:1: module `utils`: write what is in it"]


def test_a_mark_excuses_its_line_and_no_other(grow):
    assert found_in(grow, "class X:\n    def end(self): ...  # word: the parser calls it so") == []
    assert found_in(grow, "X = 1  # word: not any more") == [
        "ultracrawl/one.py:1: the mark `word:` excuses nothing: write the line without it"
    ]


@pytest.mark.parametrize(
    ("name", "text", "places"),
    [
        ("test_one", "def test_it_is_told():\n    pass", ["tests/test_one.py:1"]),
        ("test_one", "def f():\n    class Told: ...", ["tests/test_one.py:2"]),
        ("test_what_is_told", "", ["tests/test_what_is_told.py:1"]),
        ("test_one", "def test_it_is_retold():\n    told = 'test_it_is_told'", []),
    ],
)
def test_names_of_tests_say_what_happens(grow, name, text, places):
    tree = grow({f"tests/{name}.py": text})
    assert [found.place for found in words.empty_words_of_tests(tree)] == places
    assert words.main(["--tree", str(tree.root)]) == bool(places)


def test_the_command_fails_if_it_finds_anything(grow, capsys):
    tree = grow({"ultracrawl/one.py": "class PriceBook: ...\n"})
    assert words.main(["--tree", str(tree.root)]) == 1
    assert "ultracrawl/one.py:1: class `PriceBook`" in capsys.readouterr().out
    grow({"ultracrawl/one.py": "class Prices: ...\n"})
    assert words.main(["--tree", str(tree.root)]) == 0
