"""Retired words are found where people read them, and nowhere else."""

from __future__ import annotations

import pytest
import words

RETIRED = {
    "a class": ("class AccessDesk: ...", "class `AccessDesk`: write AuthChain"),
    "a part of a class": ("class PriceBook: ...", "class `PriceBook`: write what it is"),
    "the end of a class": ("class LoginFault: ...", "class `LoginFault`: write Finding"),
    "an attribute": ("class X:\n    def open(self):\n        self._keeper = 1", "attribute `_keeper`: write"),
    "an attribute called like a class": (
        "class X:\n    def open(self):\n        self._intake = 1",
        "attribute `_intake`: write link_ingest",
    ),
    "a field": ("class X:\n    stand_in: str", "attribute `stand_in`: write mirror"),
    "an ordinary word that all see": ("class X:\n    leaving: str", "attribute `leaving`: write removal"),
    "a constant": ("HANDED = 1", "attribute `HANDED`: write submitted"),
    "a method of one word": (
        "class X:\n    def put(self): ...",
        "function `put`: write a verb with its noun",
    ),
    "a text": ("print('3 URLs were turned away')", "the text `turned away`: write excluded"),
    "the text below an option": (
        "class Log(Section):\n    all: bool = Field(default=False)\n    '''What was turned away.'''",
        "the text `turned away`: write excluded",
    ),
    "a text with code in it": (
        "print('`log.screened` keeps what was screened')",
        "the text `screened`: write excluded",
    ),
    "the documentation of an option": (
        "class LogSection(Section):\n    links: bool\n    '''Keep what was turned away.'''",
        "the text `turned away`: write excluded",
    ),
    "the help of a command": (
        "@click.command()\ndef show():\n    '''Show what was turned away.'''",
        "the text `turned away`: write excluded",
    ),
}
FREE = {
    "the new name": "class AuthChain: ...",
    "a variable": "def use(desk):\n    held = desk.take()\n    return held",
    "an ordinary word for one file": "class X:\n    def _take(self):\n        self._held = 1",
    "a verb with its noun": "class X:\n    def take_entry(self): ...",
    "a longer word": "class Bookmark: ...\ndef desktop(): ...",
    "code and options in a text": "print('see `screened`, or write log: {screened: true}, then ultracrawl screened')",
    "an attribute of another class": "class LogSize:\n    links: int\n    '''Of what was turned away.'''",
    "a docstring": "def use():\n    '''What was turned away.'''",
    "a word that only classes have": "class X:\n    places: int",
}


def found_in(grow, text, name="one"):
    return [str(found) for found in words.retired_words(grow({f"ultracrawl/{name}.py": f"{text}\n"}))]


@pytest.mark.parametrize("case", RETIRED)
def test_a_retired_word_is_found(grow, case):
    text, expected = RETIRED[case]
    found = found_in(grow, text)
    assert len(found) == 1
    assert expected in found[0]


@pytest.mark.parametrize("case", FREE)
def test_other_words_pass(grow, case):
    assert found_in(grow, FREE[case]) == []


def test_the_name_of_a_module_is_found_and_may_be_excused_at_its_docstring(grow):
    assert found_in(grow, '"""What it does."""', "robots_book") == [
        "ultracrawl/robots_book.py:1: module `robots_book`: write robots_cache"
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


def test_pages_are_read_outside_of_code(grow):
    tree = grow(
        {
            "docs/one.md": "It was turned away.\n`ultracrawl screened` lists them.\nThe AccessDesk asks.\n",
            "docs/two.md": "The verb is screened. <!-- word: a verb -->\n",
            "CHANGELOG.md": "What is turned away\n",
        }
    )
    assert [str(found) for found in words.retired_in_pages(tree.root)] == [
        "docs/one.md:1: `turned away`: write excluded",
        "docs/one.md:3: `AccessDesk`: write AuthChain",
    ]


def test_the_command_fails_if_it_finds_anything(grow, capsys):
    tree = grow({"ultracrawl/one.py": "class Roster: ...\n"})
    assert words.main(["--tree", str(tree.root)]) == 1
    assert capsys.readouterr().out.startswith(
        "ultracrawl/one.py:1: class `Roster`: write SiteSlots\n1 retired"
    )
    grow({"ultracrawl/one.py": "class SiteSlots: ...\n"})
    assert words.main(["--tree", str(tree.root)]) == 0
