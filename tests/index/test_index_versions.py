"""An index of another version, and a damaged one: searched as it is, and brought up to date without a request."""

from __future__ import annotations

from pathlib import Path

import pytest
from whoosh.fields import ID, STORED, TEXT, Schema
from whoosh.index import create_in

from ultracrawl.errors import IndexStoreError
from ultracrawl.index import IndexDocument, SearchQuery
from ultracrawl.index.stored_fields import SCHEMA_VERSION, STORED_TEXT_LIMIT
from ultracrawl.index.whoosh import WhooshIndex

from .conftest import ATTRIBUTES, LIBRARY, document


def old_index(path: Path) -> None:
    """Write what version 1 wrote: words with accents, no stems, no sign of a version."""
    path.mkdir()
    schema = Schema(
        id=ID(unique=True), source=ID(stored=True), url=STORED, title=TEXT(stored=True), text=TEXT(stored=True),
        attributes=STORED,
    )  # fmt: skip
    writer = create_in(str(path), schema).writer()
    long = "word " * 25_000 + "Ending words"
    texts = {"/a": "Große Tabellen", "/long": long}
    for url, text in texts.items():
        writer.add_document(
            id=f"s\n{url}", source="s", url=url, title="T", text=text, _stored_text=text[:STORED_TEXT_LIMIT],
            attributes='{"Language":["de"]}',
        )  # fmt: skip
    writer.add_document(
        id="s\n/secret",
        source="s",
        url="/secret",
        title="S",
        text="hidden words",
        _stored_text="",
        attributes="{}",
    )
    writer.commit()


def test_an_index_of_an_earlier_version_is_searched_as_it_is(tmp_path: Path) -> None:
    old_index(tmp_path / "i")
    index = WhooshIndex(tmp_path / "i", ATTRIBUTES)
    assert [hit.url for hit in index.search(SearchQuery("tabellen"))] == ["/a"]
    assert [hit.url for hit in index.search(SearchQuery("tabellen", principals=()))] == ["/a"]
    assert (index.count(), index.facts().schema) == (3, 1)
    index.close()


@pytest.mark.parametrize("way", ["rebuild", "apply", "bring_up_to_date"])
def test_an_index_of_an_earlier_version_is_brought_up_to_date(tmp_path: Path, way: str) -> None:
    old_index(tmp_path / "i")
    index = WhooshIndex(tmp_path / "i", ATTRIBUTES)
    if way == "rebuild":
        assert index.rebuild() == 3
    elif way == "bring_up_to_date":
        assert [index.bring_up_to_date() for _ in range(2)] == [True, False]
    else:
        index.apply([document("/new", "heron")])
    for text, url in {
        "tabelle": "/a",
        "grosse": "/a",
        '"ending words"': "/long",
        '"hidden words"': "/secret",
    }.items():
        assert [hit.url for hit in index.search(SearchQuery(text)).hits] == [url]
    assert index.search(SearchQuery("hidden")).hits[0].snippet == ""
    assert index.facts().schema == SCHEMA_VERSION
    assert index.check() == []
    assert not (tmp_path / "i" / "rebuild").exists()
    index.close()


def test_a_rebuild_that_was_killed_changes_nothing(tmp_path: Path) -> None:
    old_index(tmp_path / "i")
    index = WhooshIndex(tmp_path / "i", ATTRIBUTES)
    staging = tmp_path / "i" / "rebuild"
    torn = WhooshIndex(staging, ATTRIBUTES)
    torn.apply([document("/half", "half")])
    torn.close()
    assert index.count() == 3
    index.rebuild()
    assert sorted(index.urls()) == [("s", "/a"), ("s", "/long"), ("s", "/secret")]
    index.close()


def test_readers_go_on_while_the_index_is_rebuilt_elsewhere(tmp_path: Path) -> None:
    one, two = (WhooshIndex(tmp_path / "i", ATTRIBUTES) for _ in range(2))
    one.apply(LIBRARY)
    before = two.search(SearchQuery("heron"))
    assert one.rebuild() == len(LIBRARY)
    assert two.search(SearchQuery("heron")).total == before.total
    two.apply([document("/more", "heron")])
    assert one.search(SearchQuery("heron")).total == before.total + 1
    one.close()
    two.close()


def damaged(path: Path, what: str) -> None:
    """Harm one of two segments, or the list of segments."""
    index = WhooshIndex(path, ATTRIBUTES)
    index.apply([document(f"/a{n}", "heron " * 50) for n in range(20)])
    first = next(path.glob("*.seg"))
    index.apply([IndexDocument("s", "/b", "", "egret")])
    index.close()
    if what == "toc":
        next(path.glob("*.toc")).write_bytes(b"nothing")
    elif what == "cut":
        first.write_bytes(first.read_bytes()[:2000])
    elif what == "gone":
        first.unlink()
    else:
        data = bytearray(first.read_bytes())
        half = len(data) // 2
        data[100:half] = b"?" * (half - 100)
        first.write_bytes(data)


@pytest.mark.parametrize("what", ["cut", "gone", "overwritten"])
def test_damage_is_found_and_repaired_as_far_as_it_goes(tmp_path: Path, what: str) -> None:
    damaged(tmp_path / "i", what)
    index = WhooshIndex(tmp_path / "i", ATTRIBUTES)
    assert index.check() != []
    assert 1 <= index.rebuild() <= 21
    assert index.check() == []
    assert [hit.url for hit in index.search(SearchQuery("egret")).hits] == ["/b"]
    index.apply([document("/a0", "heron")])
    assert index.search(SearchQuery("heron")).total >= 1
    index.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Whoosh leaves the file open
def test_an_index_of_which_nothing_can_be_read_is_left_alone(tmp_path: Path) -> None:
    damaged(tmp_path / "i", "toc")
    index = WhooshIndex(tmp_path / "i", ATTRIBUTES)
    assert len(index.check()) == 1
    files = sorted((tmp_path / "i").glob("*.seg"))
    with pytest.raises(IndexStoreError, match="may be damaged"):
        index.rebuild()
    assert sorted((tmp_path / "i").glob("*.seg")) == files
    index.close()


def test_ultra_search_021_optimising_frees_the_space_of_deleted_documents(tmp_path: Path) -> None:
    from ultracrawl.index import Deletion

    index = WhooshIndex(tmp_path / "i", ATTRIBUTES)
    index.apply([document(f"/{n}", f"word{n} " * 200) for n in range(200)])
    index.apply([Deletion("s", f"/{n}") for n in range(80)])
    before = index.facts()
    assert (before.documents, before.deleted) == (120, 80)
    index.optimise()
    after = index.facts()
    assert (after.documents, after.deleted, after.segments) == (120, 0, 1)
    assert after.size < 0.7 * before.size
    index.close()
