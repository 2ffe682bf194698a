"""Anchor texts in the state: known once, gone with the last page that has them, told to the index, crash or not."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest

from ultracrawl.content.anchors import LONGEST, SHARED, anchor_mark, anchor_text
from ultracrawl.state import QueueEntry, SqliteState

A, B, HERON, EGRET = 1, 2, 10, 11


@pytest.fixture
def state(tmp_path: Path) -> Iterator[SqliteState]:
    opened = SqliteState(tmp_path / "s.sqlite", "s")
    for key in (A, B, HERON, EGRET):
        opened.discover(QueueEntry(key, f"http://h/{key}", "http://h", 0, key), 1.0)
    yield opened
    opened.close()


def say(state: SqliteState, page: int, links: dict[int, str], *, new: bool = False) -> None:
    for target, text in links.items():
        state.anchors.meet(target, text, 1.0)
    marks = array("I", [anchor_mark(target, text) for target, text in links.items()])
    state.anchors.page(page, marks.tobytes(), new=new)


def due(state: SqliteState) -> set[int]:
    state.flush()
    state.anchors.verify()
    state.flush()
    return set(state.anchors.due().targets)


def told(state: SqliteState, *targets: int) -> None:
    for target in targets:
        state.anchors.told(target)
    state.flush()


@pytest.mark.parametrize("flushed", [False, True], ids=["in memory", "flushed"])
def test_a_text_is_known_once_in_the_order_of_discovery(state: SqliteState, flushed: bool) -> None:
    state.anchors.meet(HERON, "heron", 1.0)
    state.anchors.meet(HERON, "ardea", 2.0)
    state.anchors.meet(HERON, "heron", 3.0)
    if flushed:
        state.flush()
    assert state.anchors.texts(HERON) == ["heron", "ardea"]
    assert state.anchors.texts(EGRET) == []


def test_what_the_index_was_told_is_not_due_and_what_comes_after_is(state: SqliteState) -> None:
    say(state, A, {HERON: "heron"}, new=True)
    state.anchors.told(HERON)
    say(state, B, {HERON: "ardea"}, new=True)
    assert due(state) == {HERON}, "met after it was told, in the same stretch between two flushes"
    told(state, HERON)
    assert due(state) == set()


def test_a_text_goes_with_its_last_page(state: SqliteState) -> None:
    say(state, A, {HERON: "heron", EGRET: "egret"}, new=True)
    say(state, B, {HERON: "heron"}, new=True)
    state.flush()
    told(state, HERON, EGRET)
    say(state, A, {})
    assert due(state) == {EGRET}
    assert (state.anchors.texts(EGRET), state.anchors.texts(HERON)) == ([], ["heron"])
    told(state, EGRET)
    state.drop([B])
    assert due(state) == {HERON}, "the page was forgotten, and its links with it"
    told(state, HERON)
    assert due(state) == set()
    say(state, A, {HERON: "heron"})
    assert due(state) == {HERON}, "said again"


def test_what_is_not_yet_told_survives_a_crash(state: SqliteState, tmp_path: Path) -> None:
    say(state, A, {HERON: "heron"}, new=True)
    told(state, HERON)
    say(state, A, {HERON: "ardea"})
    state.flush()
    state.anchors.meet(EGRET, "lost with the page that said it", 1.0)
    copy = tmp_path / "copy.sqlite"
    for suffix in ("", "-wal"):
        copy.with_name(copy.name + suffix).write_bytes((tmp_path / f"s.sqlite{suffix}").read_bytes())
    again = SqliteState(copy, "s")
    assert due(again) == {HERON}
    assert (again.anchors.texts(HERON), again.anchors.texts(EGRET)) == (["ardea"], [])
    again.close()


def test_texts_of_links_to_many_documents_are_shared_and_make_none_due(state: SqliteState) -> None:
    for target in range(100, 101 + SHARED):
        state.anchors.meet(target, "next", 1.0)
    state.anchors.meet(100, "heron", 1.0)
    state.flush()
    found = state.anchors.due()
    assert (found.targets, found.shared) == ((100,), {"next"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("  Grey\n HERONS ", "grey herons"),
        ("→ ¶ _", ""),
        ("www.example.com/a", ""),
        ("https://example.com/", ""),
        ("see https://example.com/", "see https://example.com/"),
        ("3.11", "3.11"),
        ("東京", "東京"),
        ("word " * 40, ("word " * 40)[:LONGEST].strip()),
        ("x" * 300, "x" * LONGEST),
    ],
)
def test_what_a_link_says(text: str, said: str) -> None:
    assert anchor_text(text) == said
