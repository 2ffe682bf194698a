"""Misspelt words are corrected by how many documents have which word, and the correction is searched at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.memory_index import MemoryIndex
from ultracrawl.index import IndexEngine, SearchQuery, SearchResult
from ultracrawl.index.opensearch.opensearch_index import OpenSearchIndex
from ultracrawl.index.query.parser import search_with_relaxation
from ultracrawl.index.words.edits import one_edit, within_edits

from .conftest import ATTRIBUTES, document

OFTEN = [
    document(f"/often{n}", "Vacuum the database: journal mode, virtual tables, exists", Language=["en"])
    for n in range(40)
]
MANUAL = [
    document("/wrong1", "A note on vaccum"),
    document("/wrong2", "Another note on vaccum"),
    document("/right1", "It exits, and an exit has a code. Exited programs exit.", Language=["en"]),
    document("/right2", "Exits are doors", Language=["en"]),
    document("/generated", "Generated columns, and how the managing of employees is cut", Language=["en"]),
    document("/names", "sqlite3_prepare_v2, sqlite3_repair and journal_mode; autoincrement and e-mail"),
    document("/full", "The full text search; an authentication server; maintenance of hosts", "Full text"),
    document("/power", "A battery for the journal"),
    document("/more", "maintenance_of_hosts: docker, rest, trs"),
    replace(document("/secret", "kingfisher nest"), acl=("staff",)),
]
CORRECTED = {
    "vaccum": "vacuum",
    "vaccum database": "vacuum database",
    "vitrual table": "virtual table",
    "genarated columns": "generated columns",
    "sqlite3_prepair_v2": "sqlite3_prepare_v2",
    "SQLITE3_PREPAIR_V2": "SQLITE3_PREPARE_V2",
    "jornal_mode": "journal_mode",
    "auto-incriment": "",
    "auto increment": "autoincrement",
    "fulltext search": "full text search",
    "maintainance_of_hosts": "maintenance_of_hosts",
    "locker": "",
    "rust": "",
    "rst": "",
    "authetnicaton": "authentication",
    "maintainance": "maintenance",
    "baterry": "battery",
    "journey": "",
    "exits": "",
    "exits vacuum": "",
    "managers": "",
    "cutting columns": "",
    "foo AND": "",
    "kingfishre": "",
    "sqlite4_prepare_v2": "",
    "databases": "",
    "the qzx of vacuum": "",
}

RARE = {"vaccum", "vaccum database"}
TWO_MISTAKES = {
    "sqlite3_prepair_v2",
    "SQLITE3_PREPAIR_V2",
    "maintainance_of_hosts",
    "authetnicaton",
    "maintainance",
    "baterry",
}
"""An index on servers, which lists no words, corrects neither of these."""


def ask(engine: IndexEngine, text: str, **options: object) -> SearchResult:
    query = SearchQuery(text, principals=(), **options)  # type: ignore[arg-type]
    return search_with_relaxation(query, ATTRIBUTES, engine.search)


@pytest.mark.filled_with(OFTEN, MANUAL)
def test_what_is_misspelt_is_corrected_and_searched(engine: IndexEngine, subtests: pytest.Subtests) -> None:
    for text, better in CORRECTED.items():
        with subtests.test(text):
            found = ask(engine, text)
            expected = "" if text in RARE | TWO_MISTAKES and isinstance(engine, OpenSearchIndex) else better
            assert (found.suggestion, found.corrected) == (expected, bool(expected))
            if found.corrected:
                right = ask(engine, found.suggestion)
                assert (right.total, [hit.url for hit in right]) == (found.total, [hit.url for hit in found])
                as_typed = ask(engine, text, as_typed=True)
                assert (as_typed.suggestion, as_typed.corrected) == (found.suggestion, False)


@pytest.mark.filled_with(OFTEN, MANUAL)
def test_two_notes_do_not_hide_what_forty_pages_say(engine: IndexEngine) -> None:
    shown = 2 if isinstance(engine, OpenSearchIndex) else 40
    assert (ask(engine, "vaccum", limit=1).total, ask(engine, "vaccum", as_typed=True).total) == (shown, 2)
    assert ask(engine, "vaccum", pinned=("/wrong1",)).hits[0].url == "/wrong1"


@pytest.mark.filled_with(OFTEN, MANUAL)
def test_words_that_no_document_has_are_named(engine: IndexEngine) -> None:
    assert ask(engine, "Qwrtz columns").unknown_words == ("Qwrtz",)
    assert ask(engine, "genarated qwrtz").unknown_words == ("qwrtz",)
    assert ask(engine, "kingfisher").unknown_words == ("kingfisher",)
    assert ask(engine, "generated columns").unknown_words == ()
    assert ask(engine, "managers cutting vacuum").unknown_words == ()


def test_a_word_that_is_frequent_is_never_corrected() -> None:
    def corrected(wrong: int, right: int) -> bool:
        index = MemoryIndex(ATTRIBUTES)
        index.apply([document(f"/w{n}", "vaccum") for n in range(wrong)])
        index.apply([document(f"/r{n}", "vacuum") for n in range(right)])
        return ask(index, "vaccum").corrected

    assert [corrected(*counts) for counts in [(1, 20), (1, 19), (5, 100), (6, 120)]] == [
        True,
        False,
        True,
        False,
    ]


def test_what_only_others_may_see_corrects_nothing() -> None:
    text = "kingfisher and bluethroat"
    hidden = [replace(document(f"/h{n}", text), acl=("staff",)) for n in range(30)]
    index = MemoryIndex(ATTRIBUTES)
    index.apply([*hidden, document("/a", "kingfishr"), document("/b", "blue throat")])
    for text in ("kingfishe", "kingfishers", "bluthroat", "blue throat", "blue", "kingfishr"):
        assert ask(index, text).suggestion in ("", "kingfishr")


def test_edits() -> None:
    assert {"vacuum", "vaccm", "avccum"} <= set(one_edit("vaccum"))
    assert set(one_edit("foo")) == {"ofo", "foo"}
    assert {word[0] for word in one_edit("heronry")} <= {"h", "e"}
    assert {"rst", "ruste", "rsut"} <= set(one_edit("rust"))
    assert "rest" not in one_edit("rust")
    others = ["prepare", "prepair", "repair", "prepared", "perpair", "x"]
    assert within_edits("prepair", others, 2) == {"prepare": 2, "repair": 1, "perpair": 1}
