"""Status of destinations while a running crawl empties the folder that is looked at."""

from __future__ import annotations

from pathlib import Path

from support.project import Workspace

from ultracrawl.index.writing.project_outputs import cache_folder
from ultracrawl.service.destinations import destination_status
from ultracrawl.sources import load_project, require


def test_a_segment_that_is_written_meanwhile_waits_no_more(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.define("http://a.example/")
    project = require(load_project(tmp_path))
    (source,) = project.known_sources.values()
    folder = cache_folder(project, source.name)
    folder.mkdir(parents=True)
    (folder / "1-0000000001.sealed").write_bytes(b"12345")
    (folder / "1-0000000002.sealed").symlink_to(folder / "gone")  # listed, and not there when it is looked at
    (row,) = destination_status(project, source)
    assert (row.segments, row.bytes, row.problem) == (1, 5, "")
