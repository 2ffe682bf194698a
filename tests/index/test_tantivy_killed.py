"""What a process that was killed while it wrote leaves in a tantivy index."""

from __future__ import annotations

import json
from pathlib import Path

from ultracrawl.index.engines import IndexConfig, open_index

from .conftest import document


def test_an_unfinished_list_of_deleted_documents_is_written_anew(tmp_path: Path) -> None:
    index = open_index(IndexConfig("tantivy", tmp_path / "i", ()))
    index.apply([document(f"/{number}", "words") for number in range(4)])
    (meta,) = tmp_path.rglob("meta.json")
    facts = json.loads(meta.read_text())
    (segment,) = facts["segments"]
    for stamp in range(facts["opstamp"] + 1, facts["opstamp"] + 9):
        (meta.parent / f"{segment['segment_id'].replace('-', '')}.{stamp}.del").write_bytes(b"torn")
    index.apply([document("/0", "other words")])
    assert index.count() == 4
    assert index.check() == []
    index.close()
