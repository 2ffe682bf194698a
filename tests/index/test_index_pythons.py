"""An index goes from one Python to another; a check also tries whether it can be written."""

from __future__ import annotations

from pathlib import Path

import pytest
from whoosh.analysis import LowercaseFilter, RegexTokenizer

from ultracrawl.attributes.schema import AttributeType, SearchAttribute, attribute_schema
from ultracrawl.index import Deletion, IndexDocument, IndexEngine, SearchQuery
from ultracrawl.index.whoosh import WhooshIndex, fields, whoosh_index

from .conftest import ATTRIBUTES, LIBRARY, document


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write an index as a Python does that knows other characters: what it analysed with lies in the index."""
    path = tmp_path / "index"
    with monkeypatch.context() as patch:
        patch.setattr(fields, "_ANALYZER", RegexTokenizer(r"\w+") | LowercaseFilter())
        index = WhooshIndex(path, ATTRIBUTES)
        index.apply([document("/kept", "heron and egret", Size=[3], Doc_Type=["Data Sheet"])])
        index.apply([document("/gone", "heron")])
        index.close()
    return path


@pytest.mark.parametrize(
    "known", [ATTRIBUTES, attribute_schema([])], ids=["all-attributes", "fewer-attributes"]
)
def test_an_index_that_another_python_wrote_is_written_on(elsewhere: Path, known: dict[str, object]) -> None:
    index = WhooshIndex(elsewhere, known)  # type: ignore[arg-type]
    assert index.check() == []
    assert index.apply([*LIBRARY, Deletion("s", "/gone")]) == len(LIBRARY)
    index.maintain()
    index.optimise()
    assert {hit.url for hit in index.search(SearchQuery('"and egret"')).hits} == {"/heron", "/kept"}
    assert index.check() == []
    index.close()
    wider = WhooshIndex(elsewhere, ATTRIBUTES)
    assert [hit.url for hit in wider.search(SearchQuery("doc-type:data", sort="Size")).hits][-1] == "/kept"
    wider.close()


def test_a_check_tells_that_nothing_can_be_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = WhooshIndex(tmp_path / "index", ATTRIBUTES)
    index.apply(LIBRARY)
    files = {path: path.read_bytes() for path in (tmp_path / "index").iterdir()}

    def refuse(document: IndexDocument, attributes: object) -> dict[str, object]:
        raise TypeError("unhashable type: 'list'")

    monkeypatch.setattr(whoosh_index, "field_values", refuse)
    assert index.check() == [
        f"index {tmp_path / 'index'} cannot be written, it may be damaged: unhashable type: 'list'"
    ]
    assert {path: path.read_bytes() for path in (tmp_path / "index").iterdir()} == files
    index.close()


def test_a_check_knows_that_an_attribute_may_have_another_type_now(tmp_path: Path) -> None:
    before = WhooshIndex(tmp_path / "index", ATTRIBUTES)
    before.apply([document("/a", "heron", Doc_Type=["3"])])
    before.close()
    now = WhooshIndex(
        tmp_path / "index", attribute_schema([SearchAttribute("Doc-Type", AttributeType.NUMBER)])
    )
    assert now.check() == []
    now.close()


def test_a_check_changes_nothing(engine: IndexEngine, tmp_path: Path) -> None:
    engine.apply(LIBRARY)
    before = {path: path.read_bytes() for path in (tmp_path / "index").rglob("*") if path.is_file()}
    assert engine.check() == []
    after = {path: path.read_bytes() for path in (tmp_path / "index").rglob("*") if path.is_file()}
    assert after == before
