"""Words as people write them: with a sign before them, and nouns whose plural no rule makes."""

from __future__ import annotations

import pytest

from ultracrawl.index import IndexDocument, IndexEngine, SearchQuery
from ultracrawl.index.hits.signs import SignedWords
from ultracrawl.index.stored_fields import STORED_TEXT_LIMIT
from ultracrawl.model.page import Section

FILLER = " ".join(f"filler{number}" for number in range(200))


def page(name: str, title: str, text: str, *, heading: str = "", language: str = "en") -> IndexDocument:
    text = f"{title}\n{text}\n"
    sections = (Section(len(text), 2, "part", heading),) if heading else ()
    return IndexDocument(
        "s", f"http://h/{name}", title, f"{text}{heading}", {"Language": (language,)}, sections=sections
    )


def found(engine: IndexEngine, text: str, **options: str) -> list[str]:
    hits = engine.search(SearchQuery(text, **options)).hits  # type: ignore[arg-type]
    return [hit.url.removeprefix("http://h/") for hit in hits]


@pytest.mark.parametrize(
    ("query", "word", "signed"),
    [
        (".open", "open", ".open"),
        ("--force", "force", "--force"),
        (".import", "import", ".import"),
        ("--dry-run", "dry-run", "--dry-run"),
    ],
)
def test_a_word_with_a_sign_is_first_where_it_has_it(
    engine: IndexEngine, query: str, word: str, signed: str
) -> None:
    engine.apply(
        [
            page("about", f"{word} {word}", f"{word} is a word by itself. {word} {word}"),
            page("named", "Commands", f"{FILLER} {FILLER}", heading=f"{signed} FILE"),
            page("text", "Notes", f"Here {signed} is used. {FILLER} {word}"),
        ]
    )
    places = found(engine, query)
    assert places[0] == "named"
    assert sorted(places) == ["about", "named", "text"], "a preference, no condition"


def test_what_only_looks_like_a_sign_counts_nothing() -> None:
    document = page("a", "A", "nothing of it")
    for query in ("a.b", "-word", "c#", "..", "--", "$", "foo@example.com", "e.g. this", ""):
        assert SignedWords(query).factor(document) == 1.0


def test_the_part_of_a_text_counts_that_every_engine_has() -> None:
    filling, words = "x " * (STORED_TEXT_LIMIT // 2), SignedWords(".open")
    near, far, never = (page("a", "A", text) for text in (".open", f"{filling}.open", "open"))
    assert words.factor(near) > words.factor(far) == words.factor(never)


@pytest.mark.parametrize(
    "forms",
    [
        ("index", "indexes", "indices"),
        ("matrix", "matrices"),
        ("analysis", "analyses"),
        ("criterion", "criteria"),
        ("child", "children"),
        ("leaf", "leaves"),
    ],
)
def test_forms_of_an_irregular_noun_find_the_same(engine: IndexEngine, forms: tuple[str, ...]) -> None:
    engine.apply([page("none", "Other", "nothing"), *(page(form, "T", f"the {form} here") for form in forms)])
    for form in forms:
        assert sorted(found(engine, form)) == sorted(forms)
        assert sorted(found(engine, f"the {form} here")) == sorted(forms)


def test_a_quoted_word_and_one_of_another_language_have_no_other_form(engine: IndexEngine) -> None:
    engine.apply([page("index", "T", "the index here"), page("indices", "T", "the indices here")])
    assert found(engine, '"indices"') == ["indices"]
    assert found(engine, "indices", language="fr") == ["indices"]
