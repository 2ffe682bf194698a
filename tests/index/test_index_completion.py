"""What somebody who is still typing may be going to ask, on every engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ultracrawl.index import Deletion, IndexDocument, IndexEngine, SearchQuery
from ultracrawl.index.opensearch.opensearch_index import OpenSearchIndex
from ultracrawl.index.query.completion import completions
from ultracrawl.model.page import Section

from .conftest import document


def manual(url: str, title: str, *parts: str, **more: Any) -> IndexDocument:
    sections = tuple(Section(n, 2, f"p{n}", part) for n, part in enumerate(parts))
    return replace(document(url, " ".join(parts), title), sections=sections, **more)


DOCUMENTS = [
    manual("/index", "CREATE INDEX", "Description", "Index Storage Parameters", "Building Indexes Concurrently"),
    manual("/alter", "ALTER INDEX", "Description", "How to create an index anew"),
    manual("/secure", "Create an individual account", acl=("staff",)),
    manual("/hidden", "Secrets", "Create industry", secret_text=True),
    manual("/cafe", "Das Café öffnen", "Öffnungszeiten"),
    manual("/tokyo", "東京タワーの高さ"),
    manual("/guc", "Settings", "max_connections (integer)", "std::collections::HashMap"),
    document("/plain", "create indeed", "Text only"),
    document("/indeed", "nothing", "Create indeed"),
]  # fmt: skip

TYPED = [
    ("create ind", ["CREATE INDEX /index", "Create indeed /indeed", "How to create an index anew /alter#p1"]),
    ("CREATE", ["CREATE INDEX /index", "Create indeed /indeed", "How to create an index anew /alter#p1"]),
    ("ind", ["index /index", "ALTER INDEX /alter", "indeed /indeed", "CREATE INDEX /index", "Create indeed /indeed"]),
    ("index cr", ["CREATE INDEX /index", "How to create an index anew /alter#p1"]),
    ("cafe of", ["Das Café öffnen /cafe"]),
    ("offn", ["Das Café öffnen /cafe"]),
    ("東京", ["東京タワーの高さ /tokyo"]),
    ("タ", ["東京タワーの高さ /tokyo"]),
    ("max_conn", ["max_connections (integer) /guc#p0"]),
    ("std::coll", ["std::collections::HashMap /guc#p1"]),
    ("secr", ["Secrets /hidden"]),
    ("industry", []),
    ("create industry", []),
    ("zebra", []),
    ("...", []),
    ("", []),
]  # fmt: skip


def asked(engine: IndexEngine, text: str, **options: Any) -> list[str]:
    query = SearchQuery(text, completing=True, limit=50, **{"principals": (), **options})
    return [f"{one.text} {one.url}" for one in completions(text, engine.search(query), 8)]


@pytest.mark.filled_with(DOCUMENTS)
def test_titles_and_titles_of_parts_with_the_words_complete_them(
    engine: IndexEngine, subtests: pytest.Subtests
) -> None:
    # servers do not list the words of an index
    unlisted = ("index /index", "indeed /indeed") if isinstance(engine, OpenSearchIndex) else ()
    for text, expected in TYPED:
        with subtests.test(text):
            assert asked(engine, text) == [one for one in expected if one not in unlisted]


@pytest.mark.parametrize("character", ["x", "é"])
def test_a_beginning_may_be_long(engine: IndexEngine, character: str) -> None:
    word = character * 1200
    engine.apply([manual("/long", f"{word}z"), document("/short", "egret")])
    assert engine.search(SearchQuery(f"{word}*")).total == 1
    assert engine.search(SearchQuery(f"{word}y*")).total == 0
    boosts = ((f"/long/{word}*", 2.0),)
    assert engine.search(SearchQuery("egret", boosts=boosts)).total == 1
    assert asked(engine, word) == [f"{word}z /long"]


def test_only_what_who_asks_may_see_completes(engine: IndexEngine) -> None:
    engine.apply(DOCUMENTS)
    assert "Create an individual account /secure" in asked(engine, "create ind", principals=("staff",))
    assert "Create an individual account /secure" in asked(engine, "create ind", principals=None)
    assert asked(engine, "create ind", sources=("t",)) == []


def test_a_title_of_several_documents_is_reported_once(engine: IndexEngine) -> None:
    engine.apply([*DOCUMENTS, manual("/again", "Create  Index")])
    titles = [one.partition(" /")[0].lower() for one in asked(engine, "create inde")]
    assert titles == ["create index", "create indeed", "how to create an index anew"]


PROSE = "More of this and more of that. " * 20
PRAGMAS = manual(
    "/pragma.html", "Pragma Statements", "PRAGMA wal_checkpoint", "PRAGMA wal_autocheckpoint", "user_version"
)
NAMED = [
    PRAGMAS,
    manual(
        "/c3ref/bind_blob.html", "Values To Prepared Statements", "Routines",
        anchors=("sqlite3_bind_blob()", "sqlite3_bind_text16()"),
        section_anchors=(("p0", "sqlite3_bind_zeroblob"),),
    ),
    document("/os", "os.path.join(path) is written in prose; so is HashSet, so is sqlite3_step.", "os"),
    manual("/std", "std::collections::HashMap", "entrySet()", "str.joined(parts)"),
    document("/limits", "The writeable_schema and the writing of it: sqlite3_bind_text16. " + PROSE),
    document("/about", "It was written with sqlite3_bind_blob in 2016. " + PROSE, "About"),
    manual("/staff", "Plans", "sqlite3_bind_plan", acl=("staff",)),
    replace(document("/staff2", "We write it with sqlite3_bind_secret and writeable_plan."), acl=("staff",)),
    manual("/nosnippet", "Nothing", "sqlite3_bind_hidden", secret_text=True),
]  # fmt: skip

NAMES = [
    (
        "sqlite3_b",
        [
            "sqlite3_bind_zeroblob /c3ref/bind_blob.html#p0",
            "sqlite3_bind_blob /c3ref/bind_blob.html",
            "sqlite3_bind_text16 /c3ref/bind_blob.html",
        ],
    ),
    ("bind_", ["bind_blob /c3ref/bind_blob.html"]),
    ("pragma wal_", ["PRAGMA wal_checkpoint /pragma.html#p0", "pragma wal_autocheckpoint /pragma.html#p1"]),
    ("writea", ["writeable_schema /limits"]),
    ("hashs", ["HashSet /os"]),
    ("hashm", ["HashMap /std", "std::collections::HashMap /std"]),
    ("Entr", ["entrySet() /std#p0"]),
    ("joine", ["joined /std#p1", "str.joined(parts) /std#p1"]),
    ("prag", ["pragma /pragma.html", "Pragma Statements /pragma.html"]),
    ("writt", []),
    ("sqlite3_bind_blob ", []),
]


@pytest.mark.filled_with(NAMED)
def test_names_complete_what_begins_like_them(engine: IndexEngine, subtests: pytest.Subtests) -> None:
    if isinstance(engine, OpenSearchIndex):
        pytest.skip("servers do not list the words of an index")
    for text, expected in NAMES:
        with subtests.test(text):
            assert asked(engine, text) == expected


PRIVATE = ["sqlite3_", "sqlite3_bind_", "sqlite3_bind_s", "sqlite3_bind_p", "sqlite3_bind_h", "writeable"]


@pytest.mark.filled_with(NAMED)
def test_names_of_documents_that_one_may_not_see_complete_nothing(
    engine: IndexEngine, subtests: pytest.Subtests
) -> None:
    for text in PRIVATE:
        with subtests.test(text):
            shown = [*asked(engine, text), *asked(engine, text, principals=("other",))]
            assert not [one for one in shown if any(word in one for word in ("plan", "secret", "hidden"))]
            assert asked(engine, text, excluded_sources=("s",)) == []
            if not isinstance(engine, OpenSearchIndex):
                assert "sqlite3_bind_secret /staff2" in asked(engine, "sqlite3_bind_s", principals=("staff",))


def test_names_of_deleted_documents_complete_nothing(engine: IndexEngine) -> None:
    engine.apply(NAMED)
    engine.apply([Deletion("s", "/limits"), replace(PRAGMAS, sections=(), text="")])
    assert asked(engine, "writea") == asked(engine, "wal_") == []


def test_names_of_many_hidden_documents_do_not_crowd_out_others(engine: IndexEngine) -> None:
    engine.apply([manual(f"/hidden{n}", f"wal_hidden{n}", acl=("staff",)) for n in range(30)])
    engine.apply([manual("/wal", "Levels", "wal_level (enum)")])
    assert asked(engine, "wal_") == ["wal_level (enum) /wal#p0"]
