"""Marks and sketches of texts, with and without the compiled core."""

from __future__ import annotations

import re
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from ultracrawl.rules.duplicates import marks as marks_module
from ultracrawl.rules.duplicates.marks import (
    BEGINNING,
    MAX_CHARS,
    PIECE,
    SKETCH_SIZE,
    Marks,
    Words,
    excerpt,
    marks_of,
    marks_of_url,
    read_sketch,
)
from ultracrawl.system.compiled_core import SWITCH, CoreState, core_state

LONG = " ".join(f"word{chr(97 + one)}{chr(97 + two)}" for one in range(20) for two in range(20))
PIECES = [
    "The heron's TABLES, a_b x1 2",
    "deadbeef DEADBEEF deadbee deadbeefg",
    "naïve Straße ŒUVRE\xa0Łódź “quoted”—dash…",
    "İstanbul ısı K ﬁ ½ ² ª",
    "Ёлка данные ١٢٣ ٤a",
    "हिन्दी में",
    "东京タワー。高い",
    "\ud800 lone \x00\x1c\x85",
    "a" * 24,
    "b" * 25,
    "g" * 300,
]
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=60),
    st.text(st.sampled_from("aAfFzZ09_ -\n.éß東Кк\xa0"), max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=6).map("".join),
)
built = pytest.mark.skipif(core_state() is not CoreState.USED, reason="no compiled core: make core")


@pytest.fixture(params=["0", pytest.param("1", marks=built)], ids=["python", "core"])
def core(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the core, or do not."""
    monkeypatch.setenv(SWITCH, request.param)


def expected(text: str) -> Marks:
    """Return the marks of a text word by word; a final sigma is one of its word."""
    words = re.findall(r"\w+", re.sub(r"[^\w\x80-\U0010ffff]", "  ", text[:MAX_CHARS]).lower())
    volatile = re.compile(r"\d|\A[a-f]{8,}\Z|\A[\x00-\x7f]{25,}\Z")
    return frozenset(
        xxh3_64_intdigest(word.encode()) & 0xFFFF_FFFE | (volatile.search(word) is not None) for word in words
    )


@pytest.mark.usefixtures("core")
@pytest.mark.parametrize("text", [*PIECES, "", " ", "one", LONG, f"{LONG} é " * 12])
def test_each_word_has_a_mark(text: str) -> None:
    assert marks_of(text) == expected(text)


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_words_are_marked_as_if_one_by_one(text: str) -> None:
    with patch.dict("os.environ", {SWITCH: "0"}):
        assert marks_of(text) == expected(text)
        assert read_sketch(Words(text).sketch) == set(sorted(expected(text))[:SKETCH_SIZE])


@built
@given(TEXTS, TEXTS)
@settings(max_examples=300, deadline=None)
def test_the_core_makes_the_same_marks_and_sketches(title: str, text: str) -> None:
    with patch.dict("os.environ", {SWITCH: "0"}):
        found = Words(title, text)
    with patch.dict("os.environ", {SWITCH: "1"}):
        by_core = Words(title, text)
    assert list(by_core.marks) == sorted(found.marks)
    assert by_core.sketch == found.sketch


def test_a_fault_of_the_core_costs_no_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        CoreError = ZeroDivisionError

        @staticmethod
        def marks(*_: object) -> bytes:
            raise ZeroDivisionError

    monkeypatch.setattr(marks_module, "usable_core", Broken)
    assert marks_of("a heron") == expected("a heron")


@pytest.mark.usefixtures("core")
def test_a_short_text_is_its_own_sketch_and_a_long_one_has_a_bounded_one() -> None:
    short = marks_of("A heron, a marsh")
    assert (
        read_sketch(Words("A heron, a marsh").sketch)
        == short
        == marks_of("marsh heron a")
        == marks_of("marsh", "heron a")
    )
    assert len(read_sketch(Words(LONG).sketch)) == SKETCH_SIZE
    assert read_sketch(Words(LONG).sketch) < marks_of(LONG)
    assert read_sketch(b"") == read_sketch(b"abc") == frozenset()


def test_the_words_of_a_url_are_those_of_path_and_query_in_any_form() -> None:
    assert marks_of("gr%C3%BCn", "grün teich") == marks_of_url("https://host/gr%C3%BCn?teich")
    assert marks_of_url("https://[broken") == frozenset()


def test_of_a_long_text_the_beginning_the_middle_and_the_end_are_sketched() -> None:
    whole = BEGINNING + 2 * PIECE
    assert excerpt("a" * whole) == "a" * whole
    text = "b" * BEGINNING + "-" * PIECE + "m" * PIECE + "-" * PIECE + "e" * PIECE
    assert excerpt(text) == f"{'b' * BEGINNING} {'m' * PIECE} {'e' * PIECE}"
    beyond = "a" * MAX_CHARS + "x" * MAX_CHARS
    assert "x" not in excerpt(beyond), "what no version is searched for"
