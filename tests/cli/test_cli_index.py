"""`ultracrawl index`: facts, check, optimise, rebuild and dump, with their exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.in_process import InProcessWorkspace
from support.project import Workspace

from ultracrawl.index import Deletion, IndexDocument
from ultracrawl.index.project_index import open_index
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions


@pytest.fixture(params=["whoosh", "tantivy"])
def filled(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    workspace = InProcessWorkspace(tmp_path)
    source = {"start_urls": ["http://h/"]}
    workspace.write(
        {"index": {"path": "index", "engine": request.param}, "sources": {"a": source, "b": source}}
    )
    index = open_index(require(read_definitions(tmp_path / "ultracrawl.yaml")))
    index.apply(
        IndexDocument(s, f"http://h/{s}/{n}", "T", f"heron {n} " * 500) for s in "ab" for n in range(20)
    )
    index.apply(Deletion("b", f"http://h/b/{n}") for n in range(5))
    index.close()
    return workspace


def test_info_and_dump(filled: Workspace) -> None:
    facts = filled.command("index", "info", "--json").json
    assert (facts["documents"], facts["deleted"], facts["sources"]) == (35, 5, {"a": 20, "b": 15})
    shown = filled.command("index", "info").out
    assert "35 documents" in shown
    assert "5  deleted; `ultracrawl index optimise`" in shown
    rows = filled.command("index", "dump").lines
    assert len(rows) == 35
    assert set(rows[0]) == {"source", "url", "title", "text", "anchors", "attributes"}


def test_ultra_search_021_optimise_and_rebuild_free_space(filled: Workspace) -> None:
    done = filled.command("index", "optimise", "--json").json
    assert (done["before"]["deleted"], done["after"]["deleted"]) == (5, 0)
    assert done["after"]["documents"] == 35
    ended = filled.command("index", "rebuild")
    assert ended.code == 0
    assert "35 documents" in ended.out
    assert filled.command("index", "check", "--json").json == {"sound": True, "wrong": []}


def test_check_of_a_damaged_index_fails_and_rebuild_repairs_it(filled: Workspace) -> None:
    largest = max((filled.directory / "index").rglob("*.*"), key=lambda path: path.stat().st_size)
    data = bytearray(largest.read_bytes())
    half = len(data) // 2
    data[100:half] = b"?" * (half - 100)
    largest.write_bytes(data)
    ended = filled.command("index", "check")
    assert ended.code == 1
    assert "`ultracrawl index rebuild`" in ended.err
    assert ended.err.count("\n") == 1
    assert filled.command("index", "check", "--json").json["sound"] is False
    assert filled.command("index", "rebuild").code == 0
    assert filled.command("index", "check").out == "Sound.\n"


def test_a_dump_says_that_it_lacks_documents(filled: Workspace) -> None:
    for path in (filled.directory / "index").rglob("*.*"):
        if path.suffix in (".seg", ".store"):
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    ended = filled.command("index", "dump")
    assert ended.code == 1
    assert len(ended.out.splitlines()) < 35
    assert ended.err.count("\n") == 1
    assert "cannot be read" in ended.err


def test_an_index_that_was_never_written(tmp_path: Path) -> None:
    workspace = InProcessWorkspace(tmp_path)
    workspace.write({"index": "index", "sources": {"a": {"start_urls": ["http://h/"]}}})
    assert workspace.command("index", "info", "--json").json["documents"] == 0
    assert workspace.command("index", "check").code == 1
    assert workspace.command("index", "rebuild").code == 0
    assert workspace.command("index", "dump").out == ""
