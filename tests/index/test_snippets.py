"""Snippets: the sentence that answers, in any script, marked, and never too long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.index import SearchQuery
from ultracrawl.index.hits.highlighting import END_MARK, START_MARK
from ultracrawl.index.hits.matching import Matcher
from ultracrawl.index.hits.snippet import MAX_SNIPPET, snippet
from ultracrawl.index.query.parser import parse_query

FILLING = "The river carries leaves and branches down to the sea in autumn. " * 20


def shown(query: str, text: str, **options: object) -> str:
    made = snippet(Matcher(parse_query(SearchQuery(query), {})), text, "en", **options)  # type: ignore[arg-type]
    assert len(made) <= MAX_SNIPPET
    return made.replace(START_MARK, "[").replace(END_MARK, "]")


def test_it_begins_with_the_sentence_that_has_most_of_the_words() -> None:
    text = f"Heron here. {FILLING}A heron stands. Grey herons fish in shallow water! {FILLING}Water is grey. Heron."
    assert shown("heron grey water", text).startswith("Grey [herons] fish in shallow [water]!") or shown(
        "heron grey water", text
    ).startswith("[Grey] [herons] fish in shallow [water]!")


def test_words_in_one_sentence_count_more_than_words_near_each_other() -> None:
    far = "The heron walks for hours and hours in the water."
    text = f"{FILLING}Something about herons. Water is near. {FILLING}{far} {FILLING}"
    assert shown("heron water", text).startswith("The [heron] walks")


def test_words_that_stand_everywhere_count_little() -> None:
    text = (
        f"{'The setting of the server. ' * 30}A timeout is no setting. {'The server of the setting. ' * 30}"
    )
    assert shown("server setting timeout", text).startswith("A [timeout] is no [setting].")


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("e.g. this one. It has v. 3.11 of the heron in it.", "It has v. 3.11 of the [heron]"),
        ("It has release 42.75 of the heron in it.", "It has release 42.75 of the [heron]"),
        ("One finds in vol. two the heron in it.", "One finds in vol. two the [heron]"),
        ("Was it? \u201cA heron!\u201d he said.", "\u201cA [heron]!\u201d he said."),
        ("Heading\nA heron below it", "A [heron] below it"),
        ("Heading\xb6 A heron below it", "A [heron] below it"),
    ],
)
def test_where_a_sentence_begins(text: str, begins: str) -> None:
    assert shown("heron", f"{FILLING}{text} {FILLING}").startswith(begins)


def test_of_a_long_sentence_some_words_before_are_shown() -> None:
    text = "word " * 200 + "the heron " + "word " * 200
    made = shown("heron", text)
    assert made.startswith("word ")
    assert made.index("[heron]") < 60


def test_text_without_blanks_is_cut_at_its_punctuation() -> None:
    filling = "\u5ddd\u306f\u79cb\u306b\u8449\u3092\u6d77\u3078\u904b\u3076\u3002" * 40
    text = f"{filling}\u9dfa\u306f\u6d45\u3044\u6c34\u3067\u9b5a\u3092\u6355\u308b\u3002{filling}"
    made = shown("\u6d45\u3044\u6c34", text)
    assert made.startswith("\u9dfa\u306f[\u6d45\u3044\u6c34]\u3067\u9b5a\u3092\u6355\u308b\u3002")
    assert made.endswith("\u3002")
    unbroken = "\u5ddd" * 500 + "\u6d45\u3044\u6c34" + "\u5ddd" * 500
    assert "[\u6d45\u3044\u6c34]" in shown("\u6d45\u3044\u6c34", unbroken)


def test_a_part_alone_is_shown_and_its_end_with_what_is_before_it() -> None:
    text = (
        f"Heron. {FILLING}The part begins. It says much of rivers and of leaves. And of a heron. Heron water."
    )
    start = text.index("The part")
    end = text.index(" Heron water")
    assert shown("heron water", text, part=(start, end)).startswith("The part begins.")
    assert shown("nothing", text, part=(start, end)).startswith("The part begins.")
    assert shown("heron", text, part=(0, 0)) == ""


def test_of_a_part_that_is_the_answer_the_beginning_is_shown() -> None:
    text = f"Stands in water. {FILLING}Heron heron water."
    assert shown("heron water", text, part=(0, len(text)), is_answer=True).startswith("Stands in [water].")


ALPHABET = st.sampled_from(
    [
        "heron",
        "grey",
        "water",
        " ",
        ". ",
        "! ",
        "\u3002",
        "\u6771\u4eac",
        "\u30bf\u30ef\u30fc",
        "\n",
        "\x02",
        "\x03",
        "e\u0301",
        "x" * 70,
        "\xb6",
        "\U0001f426",
    ]
)
TEXTS = st.lists(ALPHABET, max_size=150).map("".join) | st.text(max_size=400)


@given(
    text=TEXTS,
    query=st.sampled_from(
        ["heron", '"grey water" heron', "\u6771\u4eac\u30bf\u30ef\u30fc", "her* -x", "e\u0301", ""]
    ),
    part=st.none() | st.tuples(st.integers(0, 500), st.integers(0, 500)),
    breaks=st.lists(st.integers(0, 500)),
    is_answer=st.booleans(),
)
def test_no_text_raises_marks_are_balanced_and_the_length_is_bounded(
    text: str, query: str, part: tuple[int, int] | None, breaks: list[int], is_answer: bool
) -> None:
    part = part and (min(part[0], len(text)), part[1])
    made = snippet(
        Matcher(parse_query(SearchQuery(query), {})), text, "en", part, breaks=breaks, is_answer=is_answer
    )
    assert len(made) <= MAX_SNIPPET
    marks = [sign for sign in made if sign in (START_MARK, END_MARK)]
    assert marks == [START_MARK, END_MARK] * (len(marks) // 2)
