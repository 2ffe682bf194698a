"""When documents go on to the index."""

from __future__ import annotations

from pathlib import Path

import pytest

from ultracrawl.extensions import IndexFeed
from ultracrawl.index import IndexDocument
from ultracrawl.index.cache import DocumentCache
from ultracrawl.index.inline import InlineIndexer
from ultracrawl.index.memory import MemoryIndex
from ultracrawl.index.outlets import Outlets
from ultracrawl.model import RunReport
from ultracrawl.state import SqliteState


@pytest.mark.parametrize(
    ("every", "expected"),
    [(None, [0, 0, 0]), (60.0, [0, 1, 2])],
    ids=["index.every none", "index.every portal_robot_12_2"],
)
def test_index_every_bounds_how_long_documents_wait(
    tmp_path: Path, every: float | None, expected: list[int]
) -> None:
    now = [100.0]
    report = RunReport("s", "1", "")
    state = SqliteState(":memory:", "s")
    cache = DocumentCache(tmp_path, 1 << 20)
    feed = IndexFeed(
        "s",
        cache,
        Outlets.single(tmp_path, InlineIndexer(MemoryIndex({}))),
        state,
        report,
        every=every,
        clock=lambda: now[0],
    )
    indexed = []
    feed.add(1, IndexDocument("s", "http://h/1", "T", "text"))
    for at, key in [(159.9, 0), (160.0, 2), (221.0, 0)]:
        now[0] = at
        feed.tick()
        feed.collect()
        indexed.append(report.indexed)
        if key:
            feed.add(key, IndexDocument("s", f"http://h/{key}", "T", "text"))
    assert indexed == expected
    feed.close(1.0)
    state.close()
