"""Files of an index never run code, whoever wrote them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import pytest
from whoosh import index as whoosh_index
from whoosh.columns import CompressedBytesColumn
from whoosh.fields import ID, STORED, Schema
from whoosh.filedb.filestore import FileStorage
from whoosh.index import TOC

from ultracrawl.errors import IndexForeignError, IndexStoreError
from ultracrawl.index import SearchQuery
from ultracrawl.index.whoosh import WhooshIndex
from ultracrawl.index.whoosh.pickles import ForeignPickleError, load_plain, load_plain_from

from .conftest import ATTRIBUTES, document

RAN: list[str] = []


def ran(what: str) -> list[int]:
    RAN.append(what)
    return [0]


class Code:
    """Calls a function of this module where it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return ran, ("code",)


@pytest.fixture(autouse=True)
def nothing_ran() -> Iterator[None]:
    RAN.clear()
    yield
    assert RAN == []


class _Contents(Schema):
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return ran, ("schema",)


def in_schema(path: Path) -> None:
    TOC(_Contents(), [], 7).write(FileStorage(str(path)), "MAIN")


def in_segments(path: Path) -> None:
    TOC(Schema(id=ID(unique=True)), [Code()], 7).write(FileStorage(str(path)), "MAIN")


def in_postings(path: Path) -> None:
    code = pickle.dumps(Code(), 2)
    index = WhooshIndex(path, ATTRIBUTES)
    index.apply([document(f"/{n}", "heron " * 400) for n in range(200)])
    index.close()
    place = max(path.glob("*.seg"), key=lambda one: one.stat().st_size)
    data = place.read_bytes()
    start = data.index(b"W3Bl") + 8
    place.write_bytes(data[:start] + code + data[start + len(code) :])


PLACES = {"the schema": in_schema, "the list of segments": in_segments, "a block of postings": in_postings}


@pytest.mark.parametrize("forge", PLACES.values(), ids=PLACES)
def test_code_in_an_index_is_refused_and_not_run(tmp_path: Path, forge: object) -> None:
    path = tmp_path / "i"
    index = WhooshIndex(path, ATTRIBUTES)
    index.apply([document("/a", "heron")])
    index.refuse_code()
    index.close()
    forge(path)  # type: ignore[operator]
    index = WhooshIndex(path, ATTRIBUTES)
    with pytest.raises(IndexForeignError):
        index.refuse_code()
    for use in (
        index.check,
        index.facts,
        index.urls,
        index.optimise,
        index.bring_up_to_date,
        lambda: index.search(SearchQuery("heron")),
        lambda: index.apply([document("/b", "heron")]),
        index.rebuild,
    ):
        with suppress(IndexStoreError):
            use()
    index.close()


def test_stored_fields_of_a_former_version_are_plain_data(tmp_path: Path) -> None:
    path = tmp_path / "i"
    path.mkdir()
    schema = Schema(id=ID(unique=True), source=ID(stored=True), url=STORED, attributes=STORED)
    writer = whoosh_index.create_in(str(path), schema).writer()
    writer.add_document(id="s\n/a", source="s", url=Code(), attributes="{}")
    writer.commit()
    index = WhooshIndex(path, ATTRIBUTES)
    with pytest.raises(IndexForeignError):
        index.refuse_code()
    assert list(index.documents()) == []
    index.close()


def test_the_files_of_an_index_have_no_pickled_documents(tmp_path: Path) -> None:
    path = tmp_path / "i"
    index = WhooshIndex(path, ATTRIBUTES)
    index.apply([document("/a", "heron", "A title")])
    index.close()
    with whoosh_index.open_dir(str(path), "MAIN").reader() as reader:
        column = reader._perdoc.column_reader("_stored", CompressedBytesColumn())
        assert column[0] == b""
        assert list(reader.all_stored_fields()) == [{}]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_data_is_loaded_and_nothing_else(protocol: int) -> None:
    plain = {"a": [1, 2.5, ("x", None, True), b"", b"\xff\0"], "large": [2**40, "y" * 300]}
    assert load_plain(pickle.dumps(plain, protocol)) == plain
    stream = BytesIO(pickle.dumps(plain, protocol) + b"rest")
    assert load_plain_from(stream) == plain
    assert stream.read() == b"rest"
    for code in (Code(), [Code()], Code, ran):
        with pytest.raises(ForeignPickleError):
            load_plain(pickle.dumps(code, protocol))
