"""Anchor texts in every engine: found, weighed, changed without the document; and indexes that have none yet."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from support.memory_index import MemoryIndex
from tantivy import SchemaBuilder
from whoosh.fields import Schema
from whoosh.index import create_in, open_dir
from whoosh.query import Phrase, Term

from ultracrawl.index import Change, Deletion, IndexDocument, IndexEngine, NewAnchors, SearchQuery
from ultracrawl.index.changes import last_changes
from ultracrawl.index.destinations import EngineDestination
from ultracrawl.index.engines import IndexConfig, open_index
from ultracrawl.index.stored_fields import STORED_TEXT_LIMIT
from ultracrawl.index.tantivy import fields
from ultracrawl.index.whoosh.fields import UNSTORED_TEXT, field_values, schema_fields
from ultracrawl.index.whoosh.writer import FastWriter
from ultracrawl.index.writing.cache import DocumentCache
from ultracrawl.index.writing.segments import deliver_segment

from .conftest import ATTRIBUTES, document

Found = Callable[..., list[str]]
PAD = "other words of the same length here"
BIRD = IndexDocument(
    "s", "/bird", "Bird", f"nothing {PAD}", {"Language": ["en"]}, anchors=("Grey herons", "a wader")
)
IN_TEXT = document("/text", f"herons {PAD}", "Pond")
LONG = IndexDocument(
    "s", "/long", "Long", "word " * (STORED_TEXT_LIMIT // 5) + "the very end", anchors=("first",)
)
SECRET = IndexDocument("s", "/secret", "Secret", "hidden Words, here", secret_text=True, anchors=("first",))


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("herons", ["/bird", "/text"]),
        ("heron", ["/bird"]),
        ("wader", ["/bird"]),
        ("wad*", ["/bird"]),
        ('"grey herons"', ["/bird"]),
        ('"herons a"', []),
        ("herons nothing", ["/bird"]),
        ("herons -wader", ["/text"]),
        ("title:herons", []),
    ],
    ids=[
        "before text",
        "other form",
        "only there",
        "beginning",
        "phrase",
        "over two",
        "with text",
        "not",
        "title",
    ],
)
def test_anchor_texts_are_searched_and_count_more_than_text(
    engine: IndexEngine, found: Found, text: str, urls: list[str]
) -> None:
    engine.apply([IN_TEXT, BIRD])
    assert found(text) == urls


def test_the_title_counts_more_than_anchor_texts(engine: IndexEngine, found: Found) -> None:
    pads = [document(f"/pad{n}", PAD, f"Pad {n}") for n in range(5)]
    engine.apply([*pads, replace(BIRD, anchors=("zebra",)), document("/title", PAD, "zebra")])
    assert found("zebra") == ["/title", "/bird"]


def test_new_anchor_texts_leave_the_document_as_it_is(engine: IndexEngine, found: Found) -> None:
    engine.apply([BIRD, IN_TEXT])
    assert engine.apply([NewAnchors("s", "/bird", ("egret",)), NewAnchors("s", "/none", ("x",))]) == 0
    assert found("heron") == []
    assert found("egrets") == ["/bird"]
    assert found("nothing") == ["/bird"]
    (kept,) = (one for one in engine.documents() if one.url == "/bird")
    assert kept == replace(BIRD, anchors=("egret",), attributes=kept.attributes)
    engine.apply([NewAnchors("s", "/bird", ())])
    assert found("egret") == []
    assert engine.count() == 2
    assert engine.check() == []


@pytest.mark.parametrize("one", [LONG, SECRET], ids=["long", "secret"])
def test_what_is_not_kept_for_snippets_is_not_lost(
    engine: IndexEngine, found: Found, one: IndexDocument
) -> None:
    engine.apply([one])
    engine.apply([NewAnchors("s", one.url, ("second",))])
    engine.rebuild()
    (kept,) = engine.documents()
    assert (kept.text, kept.anchors, kept.secret_text) == (one.text, ("second",), one.secret_text)
    assert found("second") == found('"very end"' if one is LONG else '"hidden words"') == [one.url]


def test_a_batch_comes_to_the_last_change_of_each_document() -> None:
    named = NewAnchors("s", "/bird", ("x",))
    key = ("s", "/bird")
    assert last_changes([BIRD, named])[key] == replace(BIRD, anchors=("x",))
    assert last_changes([named, BIRD])[key] == BIRD
    assert last_changes([Deletion(*key), named])[key] == Deletion(*key)
    assert last_changes([named, Deletion(*key)])[key] == Deletion(*key)


def test_stock_whoosh_reads_anchor_texts_with_their_gaps(tmp_path: Path) -> None:
    index = open_index(IndexConfig("whoosh", tmp_path / "i", tuple(ATTRIBUTES.values())))
    index.apply([BIRD, IN_TEXT])
    index.close()
    with open_dir(str(tmp_path / "i")).searcher() as searcher:
        keys = {next(iter(searcher.postings("id", term).all_ids())): term for term in searcher.lexicon("id")}
        for query, urls in (
            (Phrase("anchors", ["grey", "herons"]), ["/bird"]),
            (Phrase("anchors", ["herons", "a"]), []),
            (Term("text", "herons"), ["/text"]),
        ):
            found = [keys[hit.docnum].decode().partition("\n")[2] for hit in searcher.search(query)]
            assert found == urls


def old_whoosh(path: Path, documents: list[IndexDocument]) -> None:
    """Write what the version before anchor texts wrote."""
    path.mkdir()
    new = {"anchors", "_stored_anchors", "anchor_stems", UNSTORED_TEXT}
    kept = {name: field for name, field in schema_fields(ATTRIBUTES).items() if name not in new}
    writer = FastWriter(create_in(str(path), Schema(**kept)))
    for one in documents:
        values = field_values(one, ATTRIBUTES)
        writer.add_document(**{name: value for name, value in values.items() if name not in new})
    writer.commit()


def old_tantivy(path: Path, documents: list[IndexDocument], monkeypatch: pytest.MonkeyPatch) -> None:
    """Write what the version before anchor texts wrote: no fields for them, no layout in the facts."""

    class OldBuilder:
        def __init__(self) -> None:
            self._builder = SchemaBuilder()

        def __getattr__(self, name: str) -> Callable[..., object]:
            def call(*words: str, **options: object) -> object:
                is_new = bool(words) and words[0].startswith("anchor")
                return None if is_new else getattr(self._builder, name)(*words, **options)

            return call

    with monkeypatch.context() as patch:
        patch.setattr(fields, "SchemaBuilder", OldBuilder)
        index = open_index(IndexConfig("tantivy", path, tuple(ATTRIBUTES.values())))
        index.apply([replace(one, anchors=()) for one in documents])
        index.close()
    (facts,) = path.rglob("ultracrawl.json")
    values = json.loads(facts.read_text())
    del values["layout"]
    facts.write_text(json.dumps(values))


@pytest.mark.parametrize("kind", ["whoosh", "tantivy"])
def test_an_index_of_the_version_before_goes_on_working(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = [replace(BIRD, anchors=()), IN_TEXT, replace(LONG, anchors=()), replace(SECRET, anchors=())]
    path = tmp_path / "i"
    if kind == "whoosh":
        old_whoosh(path, old)
    else:
        old_tantivy(path, old, monkeypatch)
    index = open_index(IndexConfig(kind, path, tuple(ATTRIBUTES.values())))

    def found(text: str) -> list[str]:
        return [hit.url for hit in index.search(SearchQuery(text)).hits]

    assert found("herons") == ["/text"], "searched before anything is written"
    assert (found("heron*"), sorted(found('"other words of"')), found("wader")) == (
        ["/text"],
        ["/bird", "/text"],
        [],
    )
    assert index.check() == []
    index.apply([NewAnchors("s", one.url, ("wader",)) for one in old] + [document("/new", "heron")])
    assert set(found("wader")) == {one.url for one in old}
    assert found('"very end"') == ["/long"]
    assert found('"hidden words here"') == ["/secret"]
    assert index.count() == 5
    assert index.check() == []
    assert index.rebuild() == 5
    assert set(found("wader")) == {one.url for one in old}
    index.optimise()
    assert index.check() == []
    index.close()


def test_texts_at_the_end_of_a_segment_become_part_of_documents_of_earlier_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ultracrawl.index.changes.CHANGES_PER_COMMIT", 2)
    cache = DocumentCache(tmp_path)
    plain, egret = replace(BIRD, anchors=()), document("/egret", "x", "Egret")
    changes = [
        NewAnchors("s", "/text", ("before",)), plain, egret, plain, Deletion("s", "/egret"),
        NewAnchors("s", "/bird", ("heron",)), NewAnchors("s", "/egret", ("egret",)),
    ]  # fmt: skip
    for change in changes:
        cache.append(1, change)
    path = cache.seal()
    assert path is not None
    batches: list[list[Change]] = []

    class Noting(MemoryIndex):
        def apply(self, changes: Iterable[Change]) -> int:
            batches.append(list(changes))
            return super().apply(batches[-1])

    index = Noting({})
    deliver_segment(EngineDestination(index), path)
    with_texts = replace(plain, anchors=("heron",))
    assert batches == [
        [changes[0], with_texts],
        [replace(egret, anchors=("egret",)), with_texts],
        [Deletion("s", "/egret")],
    ]
    assert [one.anchors for one in index.documents()] == [("heron",)]
