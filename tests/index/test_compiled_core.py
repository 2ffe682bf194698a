"""The compiled core and Python make the same terms and write the same segments."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from whoosh.index import FileIndex
from whoosh.reading import SegmentReader

from ultracrawl.index import IndexDocument
from ultracrawl.index.whoosh.postings import find_term, length_bytes, read_postings
from ultracrawl.index.whoosh.writer import FastWriter
from ultracrawl.index.words.analysis import fold, words
from ultracrawl.index.words.identifiers import identifier_terms
from ultracrawl.index.words.text import AnalysedText, analyse, index_words
from ultracrawl.index.words.vocabulary import character_page, drop_vocabulary, joined, vocabulary
from ultracrawl.model.page import Section
from ultracrawl.system.compiled_core import SWITCH, CoreState, core_state

from .conftest import ATTRIBUTES, LIBRARY
from .test_index_fast_writer import contents, corpus, make

built = pytest.mark.skipif(
    core_state() is not CoreState.USED and not os.environ.get("CI"), reason="no compiled core: make core"
)

PIECES = [
    "The heron's TABLES, running and stopped; planned",
    "naïve Straße ŒUVRE fußgänger æon Łódź",
    "İstanbul ISPARTA ısı",
    "ΟΔΟΣ ΑΣ'Α ς σίγμα",
    "е́лка Ёлка данные",
    "مُدَرِّسة أحمد إلى ة ى ـــ",
    "שָׁלוֹם עולם",
    "हिन्दी में क्षेत्र",
    "东京タワーabc東京 は高い。",
    "ภาษาไทย ทดสอบ",
    "한국어 조사",
    "ភាសាខ្មែរ",
    "co\xadoperate zero\u200cwidth\u200djoiner",
    "a\u0301e\u0308 \u0301x",
    "tcp_syncookies XMLHttpRequest utf8mb4 __init__ a_b_c_d_e_f_g_h_i_j_k_l",
    "a->>b std::vector<int> c++ C# @Prop #x $_ %d",
    "operator!= operator [] operator() ?? ?: ::= :=:= ==== ~~~~~~~~",
    "x" * 70 + "_" + "Y" * 70,
    "\ud800 lone",
    "\x00\x01\x85\xa0",
    "½ ² ª º µ ǅ ﬁ Å 𝒜𝒷 😀 emoji",
    "42 3.14 1e9 0x7fff",
    "ПОЛЬЗОВАТЕЛЬ пользователями",
    "",
    "   ",
]
LANGUAGES = ["", "en", "de", "ru", "tr", "ar", "fr", "fi", "xx"]

ANY_CHARACTER = st.characters(exclude_categories=())
TEXTS = st.one_of(
    st.sampled_from(PIECES),
    st.text(ANY_CHARACTER, max_size=40),
    st.text(st.sampled_from("aAzZ09_ +-#:=@$%<>!?\x01.()[]éß東京Σİσςа́\xad"), max_size=40),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(ANY_CHARACTER, max_size=5)), max_size=6).map(
        " ".join
    ),
    st.lists(st.sampled_from(PIECES), max_size=6).map("".join),
)
DOCUMENTS = st.builds(
    IndexDocument,
    source=st.sampled_from(["s", "t"]),
    url=st.integers(0, 10**6).map(lambda n: f"http://example.com/a_b/{n}?q=Caf\u00e9"),
    title=TEXTS,
    text=TEXTS,
    attributes=st.fixed_dictionaries(
        {
            "Language": st.sampled_from(LANGUAGES).map(lambda code: [code]),
            "Author": st.lists(TEXTS, max_size=2),
            "Size": st.lists(st.floats(-1e9, 1e9), max_size=2),
        }
    ),
    anchors=st.lists(TEXTS, max_size=3, unique=True).map(tuple),
    section_anchors=st.lists(st.tuples(st.just("f"), TEXTS), max_size=2).map(tuple),
    sections=st.lists(TEXTS.map(lambda title: Section(0, 1, "anchor-name", title)), max_size=2).map(tuple),
    acl=st.lists(st.sampled_from(["ann", "bob"]), max_size=2).map(tuple),
)


def without_core(document: IndexDocument) -> AnalysedText:
    with patch.dict(os.environ, {SWITCH: "0"}):
        return analyse(document)


def plain(analysed: AnalysedText) -> tuple[object, ...]:
    """All terms; parts of identifiers have no order."""
    found = {name: [list(one) for one in texts] for name, texts in analysed.words.items()}
    found["parts"] = [sorted(one) for one in found["parts"]]
    return analysed.language, found, {name: list(stems) for name, stems in analysed.stems.items() if stems}


@built
@given(DOCUMENTS)
@settings(max_examples=300, deadline=None)
def test_both_find_the_same_terms(document: IndexDocument) -> None:
    assert plain(analyse(document)) == plain(without_core(document))


@built
def test_every_character_is_the_same_kind_of_character() -> None:
    for first in range(0, 0x30000, 0x400):
        codes = [code for code in range(first, first + 0x400) if not 0xD800 <= code < 0xE000]
        text = "".join(f" {chr(code)} a{chr(code)}b{chr(code)}" for code in codes)
        assert list(index_words(text)) == words(text)


@built
def test_words_are_joined_by_blanks(subtests: pytest.Subtests) -> None:
    for text in PIECES:
        with subtests.test(ascii(text)):
            known = text.replace("\ud800", "?")
            assert joined(index_words(known)) == joined(words(known)) == " ".join(words(known))


def written(documents: list[IndexDocument], *, core: bool) -> dict[object, object]:
    """Everything that the segment of these documents says, and the encoded postings of each term."""
    with tempfile.TemporaryDirectory() as folder:
        index: FileIndex = make(Path(folder) / "i", documents, fast=True, core=core)
        with index.reader() as reader:
            assert isinstance(reader, SegmentReader)
            found = contents(reader)
            for (field, term), _ in reader:
                info = find_term(reader, field, term)
                assert info is not None
                rows = read_postings(reader, info)
                found[field, term, "encoded"] = list(rows.ids), list(rows.weights), list(rows.values or ())
            for name in reader.schema.names():
                found[name, "length bytes"] = length_bytes(reader, name)
            return found


@built
@given(st.lists(DOCUMENTS, min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_both_write_the_same_segment(documents: list[IndexDocument]) -> None:
    assert written(documents, core=True) == written(documents, core=False)


@built
def test_both_write_the_same_long_lists() -> None:
    documents = corpus(700, seed=5)
    one, other = written(documents, core=True), written(documents, core=False)
    assert [key for key in one if one[key] != other.get(key)] == []
    assert one.keys() == other.keys()


@built
def test_words_of_another_vocabulary_are_the_same_words(tmp_path: Path) -> None:
    from whoosh.index import create_in

    from ultracrawl.index.whoosh.fields import field_values, new_schema

    found = []
    for number, drop in enumerate((False, True)):
        folder = tmp_path / str(number)
        folder.mkdir()
        index = create_in(str(folder), new_schema(ATTRIBUTES))
        rows = [field_values(document, ATTRIBUTES) for document in LIBRARY]
        if drop:
            drop_vocabulary()
        writer = FastWriter(index)
        for row in rows:
            writer.add_document(**row)
        writer.commit()
        with index.reader() as reader:
            found.append(contents(reader))
    assert found[0] == found[1]


def test_the_core_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "0")
    assert core_state() in (CoreState.OFF, CoreState.MISSING, CoreState.OTHER_FORMAT)
    assert isinstance(index_words("a b"), list)


@built
def test_a_core_of_another_format_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ultracrawl.system.compiled_core.FORMAT", -1)
    assert core_state() is CoreState.OTHER_FORMAT
    assert isinstance(index_words("a b"), list)


@built
def test_a_fault_of_the_core_is_reported_and_one_document_goes_the_other_way(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import ultracrawl_core

    class Faulty:
        def analyse(self, texts: object, language: str) -> object:
            raise ultracrawl_core.CoreError("index out of bounds")

    document = LIBRARY[0]
    monkeypatch.setattr("ultracrawl.index.words.vocabulary._thread.vocabulary", Faulty())
    assert plain(analyse(document)) == plain(without_core(document))
    assert len(caplog.records) == 1
    assert not isinstance(analyse(document).words["text"][0], list)


@built
def test_numbers_of_documents_that_fall_are_a_fault_not_a_wrong_posting() -> None:
    import ultracrawl_core

    known = vocabulary()
    assert known is not None
    (words_of_one,), _ = known.analyse(("heron table heron",), "")
    for add in ("add_texts", "add_counted"):
        pool = ultracrawl_core.Pool(known)
        given_words = [words_of_one] if add == "add_texts" else words_of_one
        getattr(pool, add)("text", 5, given_words)
        with pytest.raises(ultracrawl_core.CoreError):
            getattr(pool, add)("text", 3, given_words)


@built
def test_words_that_are_read_while_the_core_asks_are_a_fault_that_ends_as_an_exception() -> None:
    import ultracrawl_core

    kept: list[Iterable[str]] = []
    known = ultracrawl_core.Vocabulary(
        character_page, str.lower, fold, lambda language, word: "".join(kept[0])
    )
    kept += known.analyse(("heron",), "")[0]
    with pytest.raises(ultracrawl_core.CoreError):
        known.analyse(("table",), "en")
    assert list(kept[0]) == ["heron"]


@built
@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_identifiers_are_the_same(text: str) -> None:
    document = IndexDocument("s", "u", "", text)
    found = analyse(document).words["parts"][0]
    assert sorted(found) == sorted(
        identifier_terms("\n".join(["", text.encode(errors="replace").decode(), "u"]))
    )
