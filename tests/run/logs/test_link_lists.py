"""The lists of all links: what is written, how much is held, what it costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ultracrawl.errors import WorkError
from ultracrawl.run.logs import link_lists
from ultracrawl.run.logs.link_lists import MAX_BUFFERED, LinkLists

PAGE = "http://www.example.com/docs/page.html"


def test_fast_108_links_are_absolute_one_a_line(tmp_path: Path) -> None:
    lists = LinkLists(tmp_path / "new", lambda _: None)
    lists.add(
        ["/a", "b", "../c", "//other.example/d", "https://e.example/", "x\ny", "/x/../y", "http://[bad"], PAGE
    )
    lists.before_flush()
    (file,) = (tmp_path / "new").iterdir()
    assert file.read_text().splitlines() == [
        "http://www.example.com/a",
        "http://www.example.com/docs/b",
        "http://www.example.com/c",
        "http://other.example/d",
        "https://e.example/",
        "http://www.example.com/docs/xy",
        "http://www.example.com/y",
        "http://[bad",
    ]


def test_fast_108_memory_is_bounded_and_most_links_are_joined_by_a_plus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_lists, "urljoin", None)
    lists = LinkLists(tmp_path, lambda _: None)
    hrefs = [f"{'/docs/' * (number % 2)}chapter/{number}.html" for number in range(500)]
    for _ in range(20):
        lists.add(hrefs, PAGE)
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) > 20 * 500 * 30 - 2 * MAX_BUFFERED


def test_fast_108_a_folder_that_cannot_be_written_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    problems: list[WorkError] = []
    lists = LinkLists(tmp_path / "file", problems.append)
    for _ in range(3):
        lists.add(["/a"], PAGE)
        lists.before_flush()
    assert len(problems) == 1
    assert "links cannot be written" in str(problems[0])
