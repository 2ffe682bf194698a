"""Lines that people copy from a page, or from elsewhere, find something, or the answer says why they do not."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.memory_index import MemoryIndex
from ultracrawl.errors import UserError
from ultracrawl.index import IndexDocument, IndexEngine, QueryFlaw, SearchQuery, SearchResult
from ultracrawl.index.query.parser import MIN_SENTENCE_WORDS, search_with_relaxation
from ultracrawl.index.words.analysis import words

from .conftest import ATTRIBUTES, document

LINES = [
    "CREATE TABLE egret (weight REAL NOT NULL, ring TEXT);",
    "find . -name heron -print OR -delete",
    "UNIQUE constraint failed NOT NULL bittern",
    'ERROR: relation "grey stork" does NOT exist at character 15',
    "tar -xzf crane.tar.gz -C /opt/marsh",
    "if (plover && !teal) { return -wader; }",
    "Size: 12 for swan OR goose, see below",
    "WHERE kite = 3 AND (hawk OR NOT eagle)",
    "sqlite3_*_text of osprey and of merlin",
    "https://example.com/avocet/index.html shows an avocet dunlin",
    "a -b +c curlew -whimbrel (godwit",
    '"He said knot" dunnock sanderling "and left',
]
COMMON = (
    "the bird is seen at the water and is not at home in a table or a relation with a character or a name"
)
PAGES = [
    *(document(f"/line{n}", f"{COMMON}. {line}\nIt is so.", f"Page {n}") for n, line in enumerate(LINES)),
    *(document(f"/other{n}", f"{COMMON}, {n}", f"Other {n}") for n in range(4)),
]


def ask(engine: IndexEngine, text: str) -> SearchResult:
    return search_with_relaxation(SearchQuery(text), ATTRIBUTES, engine.search)


@pytest.mark.filled_with(PAGES)
def test_a_line_of_a_page_finds_the_page(engine: IndexEngine, subtests: pytest.Subtests) -> None:
    for number in range(len(LINES)):
        with subtests.test(number=number):
            assert f"/line{number}" in [hit.url for hit in ask(engine, LINES[number]).hits[:3]]


WORDS = st.sampled_from(
    ["heron", "egret", "stork", "crane", "plover", "teal", "dunlin", "gull", "tern", "skua"]
)
SIGNS = st.sampled_from(
    [
        "AND",
        "OR",
        "NOT",
        "+",
        "-",
        "(",
        ")",
        '"',
        "#",
        "*",
        "->",
        "==",
        ";",
        ",",
        ".",
        "-x",
        "ab:",
        "Title:",
        "Size:3",
        "a*b",
        "*p",
        "q*",
        "|",
        "&",
        "'",
        "„",
    ]
)
LINE = st.lists(WORDS | SIGNS, min_size=MIN_SENTENCE_WORDS, max_size=12).map(" ".join)


def index_of(documents: Iterable[IndexDocument]) -> MemoryIndex:
    index = MemoryIndex(ATTRIBUTES)
    index.apply(documents)
    return index


@given(st.lists(LINE, min_size=1, max_size=4, unique_by=lambda line: tuple(words(line))), st.data())
@settings(max_examples=25, deadline=None)
def test_any_line_with_two_rare_words_finds_its_page(lines: list[str], data: st.DataObject) -> None:
    """Of fewer words than a sentence has, signs are meant as they are described: `heron -egret`."""
    found = data.draw(st.sampled_from(lines))
    if len(set(words(found)) - {"and", "or", "not"}) < MIN_SENTENCE_WORDS:
        return
    index = index_of(document(f"/{n}", f"{COMMON}. {line}\n", f"Page {n}") for n, line in enumerate(lines))
    hits = ask(index, found).hits
    assert f"/{lines.index(found)}" in [hit.url for hit in hits[:3]]


@given(LINE)
@settings(max_examples=25, deadline=None)
def test_any_line_has_hits_or_the_answer_says_why_not(line: str) -> None:
    index = index_of([document("/a", "heron egret stork"), document("/b", "crane plover")])
    try:
        result = ask(index, line)
    except UserError:
        return
    known = {"heron", "egret", "stork", "crane", "plover"}
    assert result.total or QueryFlaw.NO_WORD in result.flaws or not known.issuperset(words(line))


@pytest.mark.filled_with([document("/a", "the grey heron"), document("/b", "an egret")])
def test_mere_words_are_searched_if_the_signs_of_a_line_find_nothing(engine: IndexEngine) -> None:
    found = ask(engine, 'the "grey egret" is AND stays at -heron')
    assert {hit.url for hit in found} == {"/a", "/b"}
    assert found.flaws == (QueryFlaw.NOT_AS_WRITTEN,)
    assert (ask(engine, '"grey egret"').total, ask(engine, "egret AND heron").total) == (0, 0)


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ("heron AND", QueryFlaw.IDLE_OPERATOR),
        ("NOT heron", QueryFlaw.IDLE_OPERATOR),
        ("her*n", QueryFlaw.INNER_ASTERISK),
        ("#", QueryFlaw.NO_WORD),
        ('"', QueryFlaw.NO_WORD),
    ],
)
def test_an_answer_says_what_does_not_do_what_it_was_written_for(text: str, flaw: QueryFlaw) -> None:
    result = ask(index_of([document("/a", "the grey heron, not grey hern")]), text)
    assert flaw in result.flaws
    assert bool(result.total) == (flaw in (QueryFlaw.IDLE_OPERATOR,))
