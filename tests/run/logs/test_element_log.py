"""A log of XML elements is a whole document after each flush, also after it was cut off or grew too large."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from ultracrawl.run.logs.log_files import ElementLog, rotated_path


def items(path: Path) -> list[str | None]:
    root = ElementTree.fromstring(path.read_bytes())
    return [item.get("uri") for item in root.iter("item")]


def add(path: Path, *uris: str, size: int = 1 << 20) -> None:
    log = ElementLog(path, size, lambda: 0.0)
    for uri in uris:
        log.add_element("item", f'uri="{uri}"')
        log.flush()


def test_elements_are_added_inside_the_root(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    add(path, "one", "two")
    assert items(path) == ["one", "two"]
    add(path, "three")
    assert items(path) == ["one", "two", "three"]


@pytest.mark.parametrize("content", ["", "<log>\n<item", "2026\tadd\n"])
def test_what_is_no_whole_document_is_renamed(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.log"
    path.write_text(content)
    add(path, "one")
    assert items(path) == ["one"]
    assert rotated_path(path).read_text() == content


def test_a_full_log_is_renamed_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    add(path, *map(str, range(20)), size=400)
    assert items(rotated_path(path))
    assert items(path)[-1] == "19"
