"""The fast writer's segments are the same as Whoosh's own, as stock Whoosh reads them."""

from __future__ import annotations

import random
import re
from datetime import datetime
from os import environ
from pathlib import Path
from unittest.mock import patch

import pytest
from support.sentences import sentence
from whoosh import index as whoosh_index
from whoosh.query import And, Phrase, Prefix, Term
from whoosh.reading import SegmentReader
from whoosh.util.filelock import FileLock
from whoosh.writing import SegmentWriter

from ultracrawl.index import IndexDocument
from ultracrawl.index.whoosh import WhooshIndex
from ultracrawl.index.whoosh.fields import field_values, new_schema, word_analyzer
from ultracrawl.index.whoosh.writer import FastWriter, segments_to_merge
from ultracrawl.index.whoosh.writer.term_pool import encode_positions
from ultracrawl.index.words.analysis import words
from ultracrawl.system.compiled_core import SWITCH, usable_core

from .conftest import ATTRIBUTES, LIBRARY

VOCABULARY = [
    "alpha",
    "Beta",
    "GAMMA",
    "straße",
    "İstanbul",
    "ΟΔΟΣ",
    "東京",
    "данные",
    "x_1",
    "42",
    "naïve",
    "\ud800",
]


def corpus(count: int, seed: int = 1) -> list[IndexDocument]:
    """Mixed documents: short, empty, repeated, long, other scripts, terms in one and in all documents."""
    rng = random.Random(seed)
    documents = list(LIBRARY)
    for n in range(count):
        size = rng.choice([0, 1, 5, 40, 200])
        text = " ".join(rng.choice(VOCABULARY) for _ in range(size)) + f", common unique{n}. "
        attributes = {"Author": [rng.choice(["Ann Lee", "Bob"])], "Size": [n / 3]} if n % 2 else {}
        moment = [datetime(2024, 1, 1 + n % 28)] if n % 5 == 0 else []
        title = rng.choice(["", "Same Title", f"Title {n}"])
        documents.append(IndexDocument("s", f"/{n}", title, text, attributes | {"LastModifiedDate": moment}))
    long_text = " ".join(f"w{rng.randrange(3000)}" for _ in range(70_000)) + " repeated" * 3000
    return [*documents, IndexDocument("s", "/long", "long", long_text), IndexDocument("s", "/empty", "", "")]


def make(
    path: Path, documents: list[IndexDocument], *, fast: bool, core: bool = True
) -> whoosh_index.FileIndex:
    path.mkdir()
    index = whoosh_index.create_in(str(path), new_schema(ATTRIBUTES))
    with patch.dict(environ, {} if fast and core else {SWITCH: "0"}):
        writer = FastWriter(index) if fast else SegmentWriter(index)
        for document in documents:
            writer.add_document(**field_values(document, ATTRIBUTES))
        if fast:
            writer.commit()
        else:
            writer.commit(merge=False)
    return index


def contents(reader: SegmentReader) -> dict[object, object]:
    """Everything that a segment says, read through Whoosh's public methods."""
    found: dict[object, object] = {}
    for (field, term), info in reader:
        found[field, term] = (
            info.weight(), info.doc_frequency(), info.min_length(), info.max_length(), info.max_weight(),
            info.min_id(), info.max_id(), postings(reader, field, term),
        )  # fmt: skip
    for number in reader.all_doc_ids():
        found[number] = reader.stored_fields(number)
        for name in ("title", "text", "w_Author"):
            found[number, name, "length"] = reader.doc_field_length(number, name, 0) or 0
    for name in reader.schema.names():
        found[name, "total length"] = reader.field_length(name)
        if reader.schema[name].column_type and reader.has_column(name):
            found[name, "column"] = list(reader.column_reader(name, translate=False))
    return found


def postings(reader: SegmentReader, field: str, term: bytes) -> list[tuple[object, ...]]:
    matcher = reader.postings(field, term)
    rows = []
    while matcher.is_active():
        places = matcher.value_as("positions") if matcher.supports("positions") else None
        rows.append((matcher.id(), matcher.weight(), places))
        matcher.next()
    return rows


CORES = pytest.param(True, id="core", marks=pytest.mark.skipif(not usable_core(), reason="make core"))


@pytest.fixture(scope="module", params=[CORES, pytest.param(False, id="python")])
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[whoosh_index.FileIndex, whoosh_index.FileIndex]:
    folder = tmp_path_factory.mktemp("pair")
    documents = corpus(400)
    stock = make(folder / "stock", documents, fast=False)
    return stock, make(folder / "fast", documents, fast=True, core=request.param)


def test_segment_equals_the_stock_one_term_by_term(pair: tuple) -> None:
    stock, fast = (contents(index.reader()) for index in pair)
    assert stock.keys() == fast.keys()
    different = [key for key in stock if stock[key] != fast[key]]
    assert different == []
    assert len(stock) > 4000


QUERIES = {
    "word": Term("text", "alpha"),
    "rare_word": Term("text", "unique17"),
    "words": And([Term("text", "alpha"), Term("title", "same")]),
    "phrase": Phrase("text", ["alpha", "beta"]),
    "prefix": Prefix("text", "uniq"),
    "cjk": Term("text", "東京"),
    "exact_value": Term("k_Author", "ann lee"),
}


def test_postings_are_bytes_and_no_text_that_a_call_makes_bytes_of(pair: tuple) -> None:
    folder = Path(pair[1].storage.folder)
    assert not any(b"_codecs" in path.read_bytes() for path in folder.iterdir())


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
def test_stock_whoosh_finds_the_same_with_the_same_scores(pair: tuple, query: object) -> None:
    answers = []
    for index in pair:
        with index.searcher() as searcher:
            answers.append([(hit.docnum, hit.score) for hit in searcher.search(query, limit=None)])
    assert answers[0] == answers[1]
    assert answers[0]


def test_merging_equals_indexing_in_one_segment(tmp_path: Path) -> None:
    documents = corpus(150, seed=2)
    whole = make(tmp_path / "whole", documents, fast=False)
    index = WhooshIndex(tmp_path / "parts", ATTRIBUTES)
    doomed = [IndexDocument("gone", f"/{n}", "gone", "gone alpha") for n in range(10)]
    for start in range(0, len(documents), 40):
        index.apply([*doomed[:5], *documents[start : start + 40], *doomed[5:]])
    from ultracrawl.index import Deletion

    index.apply([Deletion("gone", f"/{n}") for n in range(10)])
    index.optimise()
    index.close()
    merged = contents(whoosh_index.open_dir(str(tmp_path / "parts"), "MAIN").reader())
    expected = contents(whole.reader())
    lengths = {key for key in expected if isinstance(key, tuple) and key[-1] == "total length"}
    assert {k: v for k, v in merged.items() if k not in lengths} == {
        k: v for k, v in expected.items() if k not in lengths
    }


def test_stock_whoosh_merges_and_extends_our_segments(tmp_path: Path) -> None:
    documents = corpus(60, seed=3)
    index = WhooshIndex(tmp_path / "i", ATTRIBUTES)
    index.apply(documents[:40])
    index.apply(documents[30:])
    index.close()
    stock = whoosh_index.open_dir(str(tmp_path / "i"), "MAIN")
    writer = stock.writer()
    extra = IndexDocument("s", "/extra", "extra", "zebra alpha")
    with patch.dict(environ, {SWITCH: "0"}):
        writer.update_document(**field_values(extra, ATTRIBUTES))
    writer.commit(optimize=True)
    assert stock.doc_count_all() == len(documents) + 1
    index = WhooshIndex(tmp_path / "i", ATTRIBUTES)
    assert len(list(index.urls())) == len(documents) + 1
    index.apply([IndexDocument("s", "/extra", "extra", "replaced")])
    assert index.count() == len(documents) + 1
    index.close()


_DIGRAPHS = {0x132, 0x133, 0x13F, 0x140, 0x149, 0x17F, *range(0x1C4, 0x1CD), 0x1F1, 0x1F2, 0x1F3, 0x37A}
"""Compatibility characters, which only our own folding turns into two letters."""


def test_words_are_what_the_stock_analyzer_makes() -> None:
    analyzer = word_analyzer()
    alphabets = ((0x21, 0x7F), (0xC0, 0x250), (0x370, 0x377), (0x386, 0x3D0), (0x400, 0x530), (0x5D0, 0x5EB))
    letters = [chr(code) for first, last in alphabets for code in range(first, last) if code not in _DIGRAPHS]
    everything = "".join(letters)
    spaced = " ".join(f"a{letter}b e\u0301{letter}" for letter in letters)
    for text in (everything, spaced, "ΑΣ'Α ΟΔΟΣ.Α İx", "مُدَرِّسة שָׁלוֹם हिन्दी", "", "  "):
        assert words(text) == [token.text for token in analyzer(text)]


COUNTS, STEPS = (1, 2, 3, 999, 1000, 1001, 2500), (1, 255, 256, 65535, 65536)


def test_positions_are_encoded_as_the_stock_format_does(subtests: pytest.Subtests) -> None:
    for count, step in [(n, s) for n in COUNTS for s in STEPS if n * s <= 3_000_000]:
        with subtests.test(count=count, step=step):
            positions = list(range(0, count * step, step))
            format_ = new_schema(ATTRIBUTES)["text"].format
            assert encode_positions(positions) == format_.encode(positions)


class _Segment:
    def __init__(self, documents: int, deleted: int = 0) -> None:
        self.documents, self.deleted = documents, deleted

    def doc_count_all(self) -> int:
        return self.documents

    def deleted_count(self) -> int:
        return self.deleted

    def doc_count(self) -> int:
        return self.documents - self.deleted


MERGES = [
    ("few", [(100, 0)] * 9, []),
    ("ten_small", [(100, 0)] * 10, list(range(10))),
    ("many_small_ones_are_joined_ten_at_a_time", [(100, 0)] * 31, list(range(10))),
    ("large_stays_out", [(50_000, 0)] + [(100, 0)] * 10, list(range(1, 11))),
    ("large_ones_are_left", [(50_000, 0)] * 11, []),
    ("mostly_deleted", [(100, 0), (1000, 600)], [1]),
    ("half_deleted_stays", [(100, 0), (1000, 500)], []),
]


@pytest.mark.parametrize(("segments", "chosen"), [m[1:] for m in MERGES], ids=[m[0] for m in MERGES])
def test_choice_of_segments_to_merge(segments: list[tuple[int, int]], chosen: list[int]) -> None:
    made = [_Segment(*numbers) for numbers in segments]
    assert [made.index(segment) for segment in segments_to_merge(made)] == chosen


def test_number_of_segments_stays_small(tmp_path: Path) -> None:
    index = WhooshIndex(tmp_path / "i", ATTRIBUTES)
    for n in range(70):
        index.apply([IndexDocument("s", f"/{n}", "t", f"text word{n}")])
        index.maintain()
        assert len(list((tmp_path / "i").glob("*.seg"))) <= 10
    assert index.count() == 70
    index.close()


def test_apply_alone_keeps_the_number_of_segments_bounded(tmp_path: Path) -> None:
    index = WhooshIndex(tmp_path / "i", ATTRIBUTES)
    for n in range(60):
        index.apply([IndexDocument("s", f"/{n}", "t", f"text word{n}")])
    assert len(list((tmp_path / "i").glob("*.seg"))) <= 42
    assert index.count() == 60
    index.close()


def test_lock_is_waited_for_and_then_given_up(tmp_path: Path) -> None:
    from ultracrawl.errors import IndexStoreError

    index = WhooshIndex(tmp_path / "i", ATTRIBUTES, lock_seconds=0.2)
    index.apply([IndexDocument("s", "/a", "", "one")])
    lock = FileLock(str(tmp_path / "i" / "MAIN_WRITELOCK"))
    assert lock.acquire()
    with pytest.raises(IndexStoreError, match=re.escape(sentence("index.locked_for_a_while"))):
        index.apply([IndexDocument("s", "/b", "", "two")])
    lock.release()
    index.apply([IndexDocument("s", "/b", "", "two")])
    assert index.count() == 2
    index.close()
