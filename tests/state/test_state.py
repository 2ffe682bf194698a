"""The state store: what was flushed survives, what is read is what was written."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from array import array
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ultracrawl.errors import StateError, UserError
from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.stores import QueueEntry, SqliteState

NOW = 1_700_000_000.0


def entry(number: int, *, site: str = "h", depth: int = 0) -> QueueEntry:
    return QueueEntry(number, f"http://{site}/{number}", site, depth, number)


def done(one: QueueEntry, outcome: UrlOutcome = UrlOutcome.NEW, **changes: object) -> UrlRecord:
    return replace(UrlRecord(one.url, "s", one.depth, outcome=outcome, first_seen=NOW), **changes)


@pytest.fixture(params=["file", "memory"])
def state(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqliteState]:
    store = SqliteState(tmp_path / "s.sqlite" if request.param == "file" else ":memory:", "s")
    yield store
    store.close()


def test_discovered_urls_are_known_and_queued_before_and_after_the_flush(state: SqliteState) -> None:
    state.begin_run(NOW, "scope")
    state.discover(entry(1), NOW)
    assert state.lookup([1, 2]) == {1: ("http://h/1", 0)}
    assert state.get(1) == UrlRecord("http://h/1", "s", first_seen=NOW)
    state.flush()
    assert state.lookup([1, 2]) == {1: ("http://h/1", 0)}
    assert state.queued("h", 10) == [entry(1)]
    assert state.get(2) is None


def test_a_record_comes_back_as_it_was_written(state: SqliteState) -> None:
    state.begin_run(NOW, "scope")
    state.discover(entry(1), NOW)
    record = done(
        entry(1), UrlOutcome.MODIFIED, status_code=200, reason="why", etag='"e"', last_modified="m",
        checksum=b"\x00\xff", handed=True, last_fetched=NOW + 1, failures=2, links=b"12345678",
        display_url="http://d/",
    )  # fmt: skip
    state.finish(entry(1), record)
    assert state.get(1) == record
    state.flush()
    assert state.get(1) == record
    assert list(state.records()) == [record]
    assert list(state.records(UrlOutcome.NEW)) == []


def test_the_queue_gives_a_site_by_depth_then_discovery(state: SqliteState) -> None:
    state.begin_run(NOW, "")
    for one in (entry(3, depth=2), entry(1, depth=1), entry(2, depth=1), entry(4, site="other")):
        state.discover(one, NOW)
    assert [one.key for one in state.queued("h", 2)] == [1, 2]
    assert state.queued_sites() == [("h", 3), ("other", 1)]
    state.finish(entry(1, depth=1), done(entry(1)))
    assert [one.key for one in state.queued("h", 9)] == [2, 3]


def test_a_killed_run_is_resumed_and_a_finished_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    first = SqliteState(path, "s")
    run, resumed = first.begin_run(NOW, "a")
    assert (run.number, resumed) == (1, False)
    first.discover(entry(1), NOW)
    first.discover(entry(2), NOW)
    first.flush()
    first.finish(entry(1), done(entry(1)))
    first.close()
    second = SqliteState(path, "s")
    run, resumed = second.begin_run(NOW + 5, "a")
    assert (run.number, resumed) == (1, True)
    assert [one.key for one in second.queued("h", 9)] == [2]
    second.finish(entry(2), done(entry(2)))
    second.end_run(replace(run, finished=NOW + 6, report="{}"))
    run, resumed = second.begin_run(NOW + 9, "a")
    assert (run.number, resumed) == (2, False)
    assert {one.key for one in second.queued("h", 9)} == {1, 2}, "a new run asks for every known URL"
    assert [mark.number for mark in second.runs()] == [2, 1]
    second.close()


def test_a_killed_run_of_another_scope_is_not_resumed(state: SqliteState) -> None:
    state.begin_run(NOW, "a")
    for number in (1, 2):
        state.discover(entry(number), NOW)
    state.finish(entry(1), done(entry(1)))
    state.flush()
    run, resumed = state.begin_run(NOW + 1, "b")
    assert (run.number, resumed) == (2, False)
    assert {one.key for one in state.queued("h", 9)} == {1, 2}


def test_what_was_not_flushed_is_not_there_after_a_kill(tmp_path: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; from ultracrawl.stores import SqliteState, QueueEntry\n"
        "s = SqliteState(Path(sys.argv[1]), 's'); s.begin_run(1.0, '')\n"
        "s.discover(QueueEntry(1, 'http://h/1', 'h', 0, 1), 1.0); s.flush()\n"
        "s.discover(QueueEntry(2, 'http://h/2', 'h', 0, 2), 1.0); os.kill(os.getpid(), 9)\n"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(tmp_path / "s")], check=False)
    assert killed.returncode == -9
    state = SqliteState(tmp_path / "s", "s")
    assert set(state.lookup([1, 2])) == {1}
    state.close()


def test_gone_urls_are_forgotten_after_three_runs_unless_a_page_links_to_them(state: SqliteState) -> None:
    run, _ = state.begin_run(NOW, "")
    linked, orphan, fresh, page = entry(1), entry(2), entry(3), entry(4)
    for one in (linked, orphan, fresh, page):
        state.discover(one, NOW)
    state.finish(linked, done(linked, UrlOutcome.GONE, failures=3))
    state.finish(orphan, done(orphan, UrlOutcome.GONE, failures=3))
    state.finish(fresh, done(fresh, UrlOutcome.GONE, failures=2))
    state.finish(page, done(page, links=array("q", [1]).tobytes()))
    state.end_run(replace(run, finished=NOW))
    state.begin_run(NOW + 1, "")
    assert set(state.lookup([1, 2, 3, 4])) == {1, 3, 4}


def test_marks_say_what_the_index_committed(state: SqliteState) -> None:
    state.begin_run(NOW, "")
    state.discover(entry(1), NOW)
    state.finish(entry(1), done(entry(1), handed=True))
    state.mark_indexed([(1, True)])
    state.flush()
    record = state.get(1)
    assert record is not None
    assert (record.indexed, record.handed) == (True, False)
    assert state.counts().indexed == 1


def test_documents_lost_on_their_way_to_the_index_are_fetched_anew(state: SqliteState) -> None:
    state.begin_run(NOW, "")
    for one in (entry(1), entry(2)):
        state.discover(one, NOW)
        state.finish(one, done(one, handed=True, etag='"x"', checksum=b"c"))
    state.flush()
    assert state.lost(frozenset({2})) == 1
    first, second = state.get(1), state.get(2)
    assert first is not None
    assert second is not None
    assert (first.etag, first.checksum, first.handed) == ("", b"", False)
    assert (second.etag, second.handed) == ('"x"', True)


def test_dropped_urls_leave_table_and_queue(state: SqliteState) -> None:
    state.begin_run(NOW, "")
    for number in (1, 2):
        state.discover(entry(number), NOW)
    state.drop([1])
    assert set(state.lookup([1, 2])) == {2}
    assert [one.key for one in state.queued("h", 9)] == [2]


def test_a_second_writer_is_told_who_holds_the_lock(tmp_path: Path) -> None:
    first = SqliteState(tmp_path / "s.sqlite", "handbook")
    with pytest.raises(UserError, match="'handbook' is being crawled by another process"):
        SqliteState(tmp_path / "s.sqlite", "handbook")
    reader = SqliteState(tmp_path / "s.sqlite", "handbook", read_only=True)
    assert reader.counts().known == 0
    reader.close()
    first.close()


def test_a_reader_before_the_first_crawl_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing was crawled yet"):
        SqliteState(tmp_path / "none", "s", read_only=True)


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s.sqlite").write_bytes(b"certainly not a database" * 100)
    with pytest.raises(StateError, match="file is not a database"):
        SqliteState(tmp_path / "s.sqlite", "s")


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "s")
    db.execute("PRAGMA user_version=99")
    db.close()
    with pytest.raises(StateError, match="newer version"):
        SqliteState(tmp_path / "s", "s")


def test_a_url_that_is_visited_twice_between_two_flushes_leaves_the_queue(state: SqliteState) -> None:
    state.begin_run(NOW, "")
    first, again = entry(1), entry(1)._replace(seq=7)
    state.discover(first, NOW)
    state.flush()
    state.finish(first, done(first))
    state.requeue(again)
    state.finish(again, done(again))
    assert state.queued("h", 9) == []


def test_display_urls_are_found_flushed_or_not(state: SqliteState) -> None:
    state.begin_run(NOW, "")
    assert state.shown_as("http://d/") == []
    state.discover(entry(1)._replace(display_url="http://d/"), NOW)
    state.discover(entry(2), NOW)
    for _ in range(2):
        assert [record.url for record in state.shown_as("http://d/")] == ["http://h/1"]
        assert state.shown_as("http://h/2") == [], "a URL of its own is no display URL"
        state.flush()
    state.finish(entry(2), done(entry(2), display_url="http://d/"))
    assert [record.url for record in state.shown_as("http://d/")] == ["http://h/1", "http://h/2"]


@pytest.mark.parametrize("flushed", [False, True])
def test_an_amended_record_keeps_its_place_in_the_queue(state: SqliteState, flushed: bool) -> None:
    state.begin_run(NOW, "")
    for number in (1, 2):
        state.discover(entry(number), NOW)
    state.finish(entry(2), done(entry(2)))
    if flushed:
        state.flush()
    for number in (1, 2):
        state.amend(number, done(entry(number), display_url="http://d/", etag="new"))
    for _ in range(2):
        assert [record.etag for record in state.shown_as("http://d/")] == ["new", "new"]
        assert [one.key for one in state.queued("h", 9)] == [1]
        state.flush()
    state.finish(entry(1), done(entry(1), etag="newest"))
    state.flush()
    record = state.get(1)
    assert record is not None
    assert record.etag == "newest"


def test_what_the_index_committed_counts_once(state: SqliteState) -> None:
    state.begin_run(NOW, "scope")
    state.discover(entry(1), NOW)
    state.finish(entry(1), done(entry(1), handed=True))
    state.mark_indexed([(1, True)])
    state.flush()
    state.amend(1, done(entry(1), UrlOutcome.GONE, indexed=False))
    state.flush()
    known = state.get(1)
    assert known is not None
    assert not known.indexed, "it has left since"


def test_what_was_noted_of_a_url_does_not_come_back_when_it_is_forgotten(state: SqliteState) -> None:
    state.begin_run(NOW, "scope")
    state.discover(entry(1), NOW)
    state.finish(entry(1), done(entry(1)))
    state.expiry.put(1, NOW - 1)
    state.flush()
    assert state.expiry.expired(NOW) == {1: NOW - 1}
    state.drop([1])
    state.discover(entry(2), NOW)
    state.flush()
    assert state.expiry.expired(NOW) == {}
