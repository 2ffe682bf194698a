"""A URL that is pasted into a search finds its page first, on every engine."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.errors import UserError
from ultracrawl.index import IndexEngine, SearchQuery
from ultracrawl.index.query.parser import parse_query
from ultracrawl.model.page import Section

from .conftest import document

Found = Callable[..., list[str]]

PAGE = "https://www.example.com/docs/15/runtime-config-wal.html"
FOLDER = "http://example.com:8080/guide/"
UMLAUT = "https://example.com/Gr%C3%B6%C3%9Fe_(Technik)"
DOCUMENTS = [
    document(PAGE, "settings"),
    document(
        "https://elsewhere.example/old/runtime-config-wal.html", "wal runtime config", "Runtime Config WAL"
    ),
    document("https://example.com/runtime", "about the runtime"),
    document(FOLDER, "guide guide guide", "Guide"),
    document("http://example.com:8080/other/", "a guide to it", "Guide guide guide"),
    document(UMLAUT, "measures"),
    document("https://example.com/", "start"),
    document("http://localhost:8000/handbook/", "handed out"),
]

PASTED = {
    "as_it_is": (PAGE, PAGE),
    "other_scheme": (PAGE.replace("https", "http"), PAGE),
    "other_case": ("HTTPS://WWW.Example.com/docs/15/runtime-config-wal.html", PAGE),
    "without_scheme": (PAGE.removeprefix("https://"), PAGE),
    "without_www": (PAGE.removeprefix("https://www."), PAGE),
    "with_fragment": (f"{PAGE}#GUC-WAL-LEVEL", PAGE),
    "end_of_a_sentence": (f"{PAGE}.", PAGE),
    "in_parentheses": (f"({PAGE})", PAGE),
    "with_other_words": (f"settings {PAGE}", PAGE),
    "start_page": (f"{FOLDER}index.html", FOLDER),
    "without_the_slash": (FOLDER.rstrip("/"), FOLDER),
    "with_www_that_it_has_not": ("http://www.example.com:8080/guide", FOLDER),
    "other_escapes": ("https://example.com/Gr%c3%b6\u00dfe_%28Technik%29", UMLAUT),
    "parentheses": ("https://example.com/Gr\u00f6\u00dfe_(Technik)", UMLAUT),
    "this_machine": ("localhost:8000/handbook", "http://localhost:8000/handbook/"),
    "host": ("www.example.com", "https://example.com/"),
}


@pytest.mark.filled_with(DOCUMENTS)
def test_a_pasted_url_finds_its_page_first(
    engine: IndexEngine, found: Found, subtests: pytest.Subtests
) -> None:
    for name, (text, url) in PASTED.items():
        with subtests.test(name):
            assert found(text)[0] == url


@pytest.mark.filled_with(DOCUMENTS)
def test_pages_with_the_words_of_the_address_follow(engine: IndexEngine, found: Found) -> None:
    assert found(PAGE) == [PAGE, DOCUMENTS[1].url]
    assert found("http://gone.example/runtime-config-wal.html") == [DOCUMENTS[1].url, PAGE]
    assert found(f"runtime -{PAGE}") == ["https://example.com/runtime"]
    assert found(PAGE, source="another") == []


def test_the_fragment_chooses_the_part(engine: IndexEngine) -> None:
    text = "Levels of the log\nWAL level is the first. WAL level, wal_level.\nThe size\nOf a segment."
    parts = (
        Section(0, 2, "LEVEL", "Levels of the log"),
        Section(text.index("The size"), 2, "S\u00efze", "The size"),
    )
    engine.apply([replace(document(PAGE, text, "Settings"), sections=parts)])
    for pasted in (
        f"{PAGE}#S\u00efze",
        f"{PAGE}#S%C3%AFze",
        f"{PAGE.removeprefix('https://www.')}#S%c3%afze",
    ):
        (hit,) = engine.search(SearchQuery(pasted)).hits
        assert hit.section == parts[1], pasted
        assert hit.section_url == f"{PAGE}#S%C3%AFze"


def test_a_pasted_url_does_not_show_what_is_hidden(engine: IndexEngine, found: Found) -> None:
    engine.apply([replace(DOCUMENTS[0], acl=("staff",)), *DOCUMENTS[1:]])
    assert found(PAGE, principals=("staff",)) == [PAGE, DOCUMENTS[1].url]
    assert found(PAGE, principals=("guest",)) == [DOCUMENTS[1].url]
    assert engine.search(SearchQuery(PAGE, principals=())).suggestion == ""


def test_what_looks_like_a_url_is_searched_as_words(engine: IndexEngine, found: Found) -> None:
    engine.apply([document("/a", "see https://[x] or a/b.c", Author=["example.com/ann"])])
    for text in ("https://[x]", "a/b.c", "Author:example.com/ann", "https://*"):
        assert found(text) == ["/a"], text


@given(st.text(alphabet=":/.#?%[]()@w*a\u00e4\u6771 ", max_size=30))
def test_no_url_raises_anything_but_a_mistake(tail: str) -> None:
    for text in (f"https://{tail}", f"www.{tail}", f"a.bc/{tail}", tail):
        with suppress(UserError):
            parse_query(SearchQuery(text), {})
