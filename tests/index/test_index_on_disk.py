"""What every engine on disk promises beyond one process: sharing, locking, new attributes, crashes."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.sentences import sentence
from support.until import some_time
from whoosh.columns import VarBytesColumn

from ultracrawl.errors import IndexDamagedError, IndexStoreError, UserError
from ultracrawl.index import Deletion, IndexDocument, IndexEngine, SearchQuery
from ultracrawl.index.engines import IndexConfig, open_index
from ultracrawl.index.filters import parse_filter
from ultracrawl.index.locking import write_lock
from ultracrawl.index.stored_fields import SCHEMA_VERSION
from ultracrawl.index.tantivy import TantivyIndex, generations, index_searcher, integrity, tantivy_index
from ultracrawl.index.whoosh import WhooshIndex, directory, pickles
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute, attribute_schema

from .conftest import ATTRIBUTES, LIBRARY, document

Open = Callable[..., IndexEngine]


@pytest.fixture(params=["whoosh", "tantivy"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    def open_one(*extra: SearchAttribute) -> IndexEngine:
        attributes = tuple(attribute_schema(extra).values())
        return open_index(IndexConfig(request.param, tmp_path / "index", attributes))

    return open_one


def test_new_attributes_need_no_crawl(opened: Open) -> None:
    index = opened()
    index.apply([IndexDocument("s", "/old", "Old", "text", {"Author": ["Ann"]})])
    index.close()
    wider = SearchAttribute("Project"), SearchAttribute("Size", AttributeType.NUMBER)
    index = opened(*wider)
    assert index.search(SearchQuery("text")).total == 1
    assert index.search(SearchQuery("Project:x")).total == 0
    assert index.search(SearchQuery("", filters=(parse_filter("Size>1"),))).total == 0
    assert index.search(SearchQuery("", facets=("Project",), sort="Size")).facets == {"Project": ()}
    index.apply([IndexDocument("s", "/new", "New", "text", {"Project": ["X"], "Size": [3.0]})])
    assert [hit.url for hit in index.search(SearchQuery("project:x")).hits] == ["/new"]
    assert [hit.url for hit in index.search(SearchQuery("text", sort="Project")).hits] == ["/new", "/old"]
    assert [hit.url for hit in index.search(SearchQuery("", filters=(parse_filter("Size>1"),))).hits] == [
        "/new"
    ]
    assert [hit.url for hit in index.search(SearchQuery("Author:ann")).hits] == ["/old"]
    index.close()
    narrow = opened()
    narrow.apply([IndexDocument("s", "/third", "", "text")])
    assert narrow.search(SearchQuery("text")).total == 3
    assert narrow.check() == []
    narrow.close()


def test_two_open_engines_see_each_others_commits(opened: Open) -> None:
    one, two = opened(), opened()
    one.apply([document("/a", "word"), document("/b", "word")])
    assert two.search(SearchQuery("word")).total == 2
    two.apply([Deletion("s", "/a"), document("/c", "word")])
    assert {hit.url for hit in one.search(SearchQuery("word")).hits} == {"/b", "/c"}
    one.optimise()
    assert two.search(SearchQuery("word")).total == 2
    assert (two.facts().documents, two.facts().deleted) == (2, 0)
    one.close()
    two.close()


WORK = {
    "search": lambda index: index.search(SearchQuery("word", limit=9)).total,
    "count": lambda index: index.count(),
    "urls": lambda index: len(list(index.urls())),
    "documents": lambda index: len(list(index.documents())),
    "facts": lambda index: index.facts().documents,
    "check": lambda index: 3 - len(index.check()),
}
PLACES = {
    "whoosh": [(directory, "OpenSegment"), (directory, "read_contents")],
    "tantivy": [(generations, "_opened"), (tantivy_index, "index_facts"), (tantivy_index, "find_damage")],
}


def test_documents_are_read_without_opening_their_column_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = WhooshIndex(tmp_path / "i", ATTRIBUTES)
    index.apply([document(f"/{n}", "heron") for n in range(30)])
    opened, read = [], VarBytesColumn.Reader._read_offsets_and_lengths

    def noted(reader: VarBytesColumn.Reader) -> None:
        opened.append(reader)
        read(reader)

    monkeypatch.setattr(VarBytesColumn.Reader, "_read_offsets_and_lengths", noted)
    assert len(list(index.documents())) == 30
    index.close()
    assert len(opened) < 10


@pytest.mark.parametrize(
    ("engine", "place"), [("whoosh", (directory, "read_contents")), ("tantivy", (generations, "_opened"))]
)
def test_an_index_that_may_not_be_read_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, place: tuple[object, str]
) -> None:
    def refuse(*_: object, **__: object) -> object:
        raise PermissionError(errno.EACCES, "Permission denied")

    config = IndexConfig(engine, tmp_path / "i", tuple(ATTRIBUTES.values()))
    open_index(config).apply([document("/a", "word")])
    index = open_index(config)
    monkeypatch.setattr(*place, refuse)
    with pytest.raises(IndexStoreError, match=sentence("files.no_rights")) as raised:
        index.check()
    assert not isinstance(raised.value, IndexDamagedError)


def test_a_folder_that_cannot_be_listed_is_no_empty_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> list[str]:
        raise PermissionError(errno.EACCES, "Permission denied")

    config = IndexConfig("whoosh", tmp_path / "i", tuple(ATTRIBUTES.values()))
    open_index(config).apply([document("/a", "word")])
    with monkeypatch.context() as patch:
        patch.setattr(pickles.os, "listdir", refuse)
        with pytest.raises(IndexStoreError) as raised:
            open_index(config).search(SearchQuery("word"))
    assert not isinstance(raised.value, IndexDamagedError)
    assert open_index(config).search(SearchQuery("word")).total == 1
    assert open_index(IndexConfig("whoosh", tmp_path / "none")).search(SearchQuery("word")).total == 0


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize(
    ("engine", "place"), [(name, place) for name, places in PLACES.items() for place in places],
    ids=lambda value: value if isinstance(value, str) else value[1],
)  # fmt: skip
def test_files_that_another_process_removes_meanwhile_are_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: str, engine: str, place: tuple[object, str]
) -> None:
    config = IndexConfig(engine, tmp_path / "i", tuple(ATTRIBUTES.values()))
    writer, reader = open_index(config), open_index(config)
    for n in range(3):
        writer.apply([document(f"/{n}", "word")])
    original, rebuilt = getattr(*place), []

    def meddle(*arguments: object, **options: object) -> object:
        if not rebuilt:
            rebuilt.append(True)
            writer.rebuild()
        return original(*arguments, **options)

    monkeypatch.setattr(*place, meddle)
    assert WORK[work](reader) == 3
    reader.close()
    writer.close()


def test_several_collections_lie_in_paths_of_their_own(tmp_path: Path) -> None:
    for engine in ("whoosh", "tantivy"):
        for name in ("staff", "public"):
            index = open_index(IndexConfig(engine, tmp_path / engine / name, tuple(ATTRIBUTES.values())))
            index.apply([document(f"/{name}", "word")])
            assert list(index.urls()) == [("s", f"/{name}")]
            index.close()


WRITER = """
import sys
from pathlib import Path
from ultracrawl.rules.attributes.schema import attribute_schema
from ultracrawl.index import IndexDocument
from ultracrawl.index.engines import IndexConfig, open_index
index = open_index(IndexConfig(sys.argv[1], Path(sys.argv[2]), tuple(attribute_schema().values())))
for n in range(10_000):
    index.apply([IndexDocument("s", f"/{n}/{k}", "t", f"round{n} " + "word " * 300) for k in range(20)])
    index.maintain()
    print(n, flush=True)
"""


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_a_killed_writer_loses_no_commit_and_leaves_no_half(tmp_path: Path, engine: str) -> None:
    command = [sys.executable, "-c", WRITER, engine, str(tmp_path / "i")]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    for _ in range(4):
        last = int(writer.stdout.readline())
    some_time(0.013)
    os.kill(writer.pid, signal.SIGKILL)
    rest = writer.communicate()[0].split()
    last = int(rest[-1]) if rest else last
    index = open_index(IndexConfig(engine, tmp_path / "i", tuple(attribute_schema().values())))
    count = index.count()
    assert count in ((last + 1) * 20, (last + 2) * 20)
    assert index.check() == []
    index.apply([document("/after", "heron")])
    assert index.count() == count + 1
    index.close()


def test_tantivy_waits_for_the_lock_and_then_gives_up(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path / "i", ATTRIBUTES, lock_seconds=0.2)
    index.apply([document("/a", "one")])
    with (
        write_lock(tmp_path / "i", 1),
        pytest.raises(IndexStoreError, match=r"another process for 0\.2 seconds"),
    ):
        index.apply([document("/b", "two")])
    assert index.apply([document("/b", "two")]) == 1
    assert index.count() == 2
    index.close()


def test_tantivy_finds_damage_by_its_checksums(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path / "i", ATTRIBUTES)
    index.apply(LIBRARY)
    assert index.check() == []
    index.close()
    (store,) = (tmp_path / "i").rglob("*.fast")
    data = bytearray(store.read_bytes())
    data[5] ^= 1
    store.write_bytes(data)
    index = TantivyIndex(tmp_path / "i", ATTRIBUTES)
    assert index.check() == [f"{store.name} is damaged"]
    index.rebuild()
    assert index.check() == []
    assert index.count() == len(LIBRARY)
    index.close()


def test_tantivy_of_an_earlier_version_is_searched_and_brought_up_to_date(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path / "i", ATTRIBUTES)
    index.apply(LIBRARY)
    index.close()
    (facts,) = (tmp_path / "i").rglob("ultracrawl.json")
    facts.write_text(facts.read_text().replace(f'"analysis": {SCHEMA_VERSION}', '"analysis": 1'))
    index = TantivyIndex(tmp_path / "i", ATTRIBUTES)
    assert index.search(SearchQuery("heron", principals=())).total == 2
    assert index.search(SearchQuery("hreon", principals=())).suggestion == "heron"
    assert index.facts().schema == 1
    index.apply([document("/new", "heron")])
    assert index.search(SearchQuery("heron")).total == 3
    assert index.facts().schema == SCHEMA_VERSION
    index.close()


def test_a_missing_tantivy_names_its_install_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in sys.modules if name.startswith("ultracrawl.index.tantivy")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tantivy", None)
    with pytest.raises(UserError, match=r'pip install "ultracrawl\[tantivy\]"'):
        open_index(IndexConfig("tantivy", tmp_path))


def test_tantivy_keeps_the_number_of_segments_small(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path / "i", ATTRIBUTES)
    for n in range(30):
        index.apply([document(f"/{n}", f"word{n}")])
        index.maintain()
    assert index.facts().segments <= 13
    assert index.count() == 30
    index.close()


class PanicException(BaseException):
    """What pyo3 makes of a panic, which is no `Exception`."""


def test_an_engine_in_rust_that_breaks_is_a_damaged_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def panic(*_: object) -> None:
        raise PanicException("range end index 9 out of range")

    index = TantivyIndex(tmp_path / "index", ATTRIBUTES)
    index.apply([document("/a", "word")])
    monkeypatch.setattr(index_searcher, "IndexSearcher", panic)
    with pytest.raises(IndexDamagedError) as damaged:
        index.search(SearchQuery("word"))
    assert "range end index 9" in damaged.value.problem
    monkeypatch.setattr(tantivy_index, "new_document", panic)
    with pytest.raises(IndexDamagedError) as damaged:
        index.apply([document("/b", "word")])
    assert "range end index 9" in damaged.value.problem
    assert index.count() == 1
    monkeypatch.setattr(integrity, "stored_document", panic)
    assert list(index.documents()) == []
    assert index.check() == ["1 document cannot be read"]
    index.close()


@pytest.mark.parametrize("name", [b"\0" * 16, b"\xff\xfe", b"", b"../1", b"7"])
def test_a_name_of_the_folder_that_is_none_is_damage_that_a_rebuild_repairs(
    tmp_path: Path, name: bytes
) -> None:
    index = TantivyIndex(tmp_path / "index", ATTRIBUTES)
    index.apply([document("/a", "word")])
    (tmp_path / "index" / "current").write_bytes(name)
    index = TantivyIndex(tmp_path / "index", ATTRIBUTES)
    place = "/7/" if name == b"7" else "/current"
    for what in WORK.keys() - {"check"}:
        with pytest.raises(IndexDamagedError) as damaged:
            WORK[what](index)
        assert place in damaged.value.problem
    (wrong,) = index.check()
    assert place in wrong
    assert index.rebuild() == 1
    assert (index.count(), index.check()) == (1, [])
    index.close()
