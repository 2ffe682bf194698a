"""Where sources are crawled is not changed from the browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from ultracrawl.service.editing.reach import other_machines
from ultracrawl.sources import Project, load_project

TEXT = """
state: {engine: postgresql, url: "postgresql://me@127.0.0.1/crawl"}
sources: {a: {start_urls: [http://h/]}, b: {start_urls: [http://h/]}}
schedules: {one: {sources: [a, b], every: day, node: north}}
"""


def _project(folder: Path, text: str) -> Project:
    file = folder / "ultracrawl.yaml"
    file.write_text(text)
    project = load_project(file).project
    assert project is not None
    return project


@pytest.mark.parametrize(
    ("old", "new", "moved"),
    [("every: day", "every: week", 0), ("[a, b]", "[a]", 1), ("node: north", "node: south", 2)],
)
def test_a_source_stays_on_its_node(tmp_path: Path, old: str, new: str, moved: int) -> None:
    before, after = _project(tmp_path, TEXT), _project(tmp_path, TEXT.replace(old, new))
    assert len(list(other_machines(before, after))) == moved
