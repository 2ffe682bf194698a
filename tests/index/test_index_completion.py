"""What somebody who is still typing may be going to ask, on every engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ultracrawl.index import IndexDocument, IndexEngine, SearchQuery
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
    ("ind", ["ALTER INDEX /alter", "CREATE INDEX /index", "Create indeed /indeed"]),
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
    return [f"{one.text} {one.url}" for one in completions(text, engine.search(query).hits, 8)]


@pytest.mark.filled_with(DOCUMENTS)
@pytest.mark.parametrize(("text", "expected"), TYPED)
def test_titles_and_titles_of_parts_with_the_words_complete_them(
    engine: IndexEngine, text: str, expected: list[str]
) -> None:
    assert asked(engine, text) == expected


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
