"""An index goes from one Python to another; a check also tries whether it can be written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.sentences import sentence
from whoosh.analysis import LowercaseFilter, RegexTokenizer

from ultracrawl.index import Deletion, IndexDocument, IndexEngine, SearchQuery
from ultracrawl.index.tantivy import TantivyIndex, integrity
from ultracrawl.index.whoosh import WhooshIndex, fields, whoosh_index
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute, attribute_schema

from .conftest import ATTRIBUTES, LIBRARY, document


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


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


@pytest.mark.parametrize(
    ("made", "module", "name", "said"),
    [
        (WhooshIndex, whoosh_index, "field_values", sentence("index.index_cannot_written_may_damaged")),
        (TantivyIndex, integrity, "new_document", "no document can be added: {1}"),
    ],
    ids=["whoosh", "tantivy"],
)
def test_a_check_tells_that_nothing_can_be_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Any, module: object, name: str, said: str
) -> None:
    index = made(tmp_path / "index", ATTRIBUTES)
    index.apply(LIBRARY)
    files = contents(tmp_path / "index")

    def refuse(document: IndexDocument, attributes: object) -> dict[str, object]:
        raise TypeError("unhashable type: 'list'")

    monkeypatch.setattr(module, name, refuse)
    assert index.check() == [said.format(tmp_path / "index", "unhashable type: 'list'")]
    assert contents(tmp_path / "index") == files
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
    before = contents(tmp_path / "index")
    assert engine.check() == []
    assert contents(tmp_path / "index") == before
