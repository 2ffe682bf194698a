"""The folders of a tantivy index while another process replaces them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ultracrawl.index import SearchQuery
from ultracrawl.index.engine import IndexDocument
from ultracrawl.index.tantivy import tantivy_index
from ultracrawl.index.tantivy.generations import Generations


def test_a_search_whose_folder_is_replaced_meanwhile_is_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, reader = (tantivy_index.TantivyIndex(tmp_path, {}, 10.0) for _ in range(2))
    writer.apply([IndexDocument("lake", "http://lake.example/heron", "Heron", "stands")])
    current, rebuilt = Generations.current, []

    def replaced(self: Generations, *, reload: bool = True) -> object:
        generation = current(self, reload=reload)
        if not reload and not rebuilt:
            rebuilt.append(generation)
            writer.rebuild()
        return generation

    monkeypatch.setattr(Generations, "current", replaced)
    assert [hit.url for hit in reader.search(SearchQuery("heron")).hits] == ["http://lake.example/heron"]
    assert len(rebuilt) == 1
