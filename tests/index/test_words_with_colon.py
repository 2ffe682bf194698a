"""Words with a colon, which people paste, are words unless an attribute has the name; on every engine."""

from __future__ import annotations

import pytest

from ultracrawl.errors import UserError
from ultracrawl.index import IndexEngine, SearchQuery, SearchResult
from ultracrawl.index.query.parser import search_with_relaxation

from .conftest import ATTRIBUTES, document

PAGES = {
    "node:fs": "The module node:fs reads files.",
    "localhost:8080": "The server listens on localhost:8080 by default.",
    "python:3.11": "Start the image python:3.11 or another one.",
    "Err:502": "Err:502 means an argument that is not valid.",
    "std::vec": "The type std::vec grows.",
    "error:14": "It ends with error:14 in the log.",
    "file:data.db?mode=ro": "Open file:data.db?mode=ro for reading.",
    "Benutzer:innen": "Das Problem tritt auf bei Benutzer:innen im Netz.",
    "key:value pairs": "A list of key:value pairs.",
    "npm run build:prod": "Type npm run build:prod to build.",
    "doi:10.1000/182": "See doi:10.1000/182 for more.",
    "TypeError: x": "It said TypeError: x is no function.",
    'say:"good morning"': "They say: good morning to all.",
    "at:(noon OR night)": "Open at: noon.",
    "limit:>=10": "It needs limit:>=10 to work.",
    "Fehler:größer": "Die Meldung Fehler:größer erscheint.",
    "错误:内存": "出现 错误:内存 时重启。",
}
APART = (
    "Elsewhere node and fs, localhost and 8080, python with 3 or 11, err and 502, std then vec, error no 14, "
    "file or data or db in mode ro, Benutzer nicht innen, key and value of pairs, npm can run a build for prod, "
    "doi of 10 in 1000 or 182, say good day, at night, limit of 10, Fehler ist größer, 错误 和 内存"
)


def ask(engine: IndexEngine, text: str, **options: object) -> SearchResult:
    return search_with_relaxation(SearchQuery(text, **options), ATTRIBUTES, engine.search)  # type: ignore[arg-type]


@pytest.fixture
def filled(engine: IndexEngine) -> IndexEngine:
    engine.apply(
        [document(f"/{number}", text, f"Page {number}") for number, text in enumerate(PAGES.values())]
    )
    engine.apply([document("/apart", APART, "Apart"), document("/lee", "node:fs", "Lee", Author=["lee"])])
    return engine


def test_a_word_with_a_colon_finds_the_page_that_has_it_first(
    filled: IndexEngine, subtests: pytest.Subtests
) -> None:
    for query in PAGES:
        with subtests.test(query):
            found = [hit.url for hit in ask(filled, query) if hit.url != "/lee"]
            assert found[0] == f"/{list(PAGES).index(query)}"


def test_only_an_attribute_that_exists_makes_a_condition(filled: IndexEngine) -> None:
    found = ask(filled, "node:fs author:lee")
    assert [hit.url for hit in found] == ["/lee"]
    assert found.unknown_attributes == ("node",)
    assert found.known_attributes == tuple(sorted(ATTRIBUTES))
    assert next(iter(ask(filled, "node:fs -author:lee"))).url == "/0"
    known = ask(filled, "author:lee")
    assert (known.unknown_attributes, known.known_attributes) == ((), ())


def test_a_word_with_a_colon_keeps_what_surrounds_it(filled: IndexEngine) -> None:
    assert ask(filled, "-node:fs module").total == 0
    assert {hit.url for hit in ask(filled, "node:fs OR localhost:8080")} == {"/0", "/1", "/lee"}
    assert ask(filled, "node:fs", pinned=("/apart",)).unknown_attributes == ("node",)
    assert ask(filled, "a:b b:c a:d x:y").unknown_attributes == ("a", "b", "x")


STRICT: list[dict[str, object]] = [{"where": (("node", "fs"),)}, {"sort": "node"}, {"facets": ("node",)}]


def test_filters_stay_strict(filled: IndexEngine, subtests: pytest.Subtests) -> None:
    for options in STRICT:
        with (
            subtests.test(options=options),
            pytest.raises(UserError, match="unknown search attribute 'node'"),
        ):
            ask(filled, "fs", **options)


WORDS = {
    "NOT 函数": ["/both"],
    "NOT function": ["/both"],
    "AND function": ["/and"],
    "OR function": ["/or"],
    "function AND": ["/and", "/both", "/or"],
    "function NOT": ["/and", "/both", "/or"],
    "NOT": ["/both"],
    "NOT (function)": ["/both"],
    'NOT "function"': ["/both"],
    "function AND OR neither": ["/and", "/both", "/neither", "/or"],
    "-function": ["/neither"],
    "neither NOT function": ["/neither"],
    "neither AND NOT function": ["/neither"],
    "(function) NOT (and OR or)": ["/both"],
}


@pytest.mark.parametrize("query", WORDS)
def test_an_operator_combines_two_terms_or_is_a_word(engine: IndexEngine, query: str) -> None:
    engine.apply([
        document("/both", "NOT 函数 is the function NOT", "NOT"),
        document("/and", "the function AND", "AND"),
        document("/or", "the function OR", "OR"),
        document("/neither", "neither of these", "Neither"),
    ])  # fmt: skip
    assert sorted(hit.url for hit in ask(engine, query)) == WORDS[query]
