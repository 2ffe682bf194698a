"""The state store: what was flushed survives, what is read is what was written."""

from __future__ import annotations

import json
import subprocess
import sys
from array import array
from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from stores.conftest import Place

from ultracrawl.errors import UserError
from ultracrawl.model import Cause, CauseCode, Removal, RemovalReason, UrlOutcome, UrlRecord
from ultracrawl.stores import QueueEntry, Store

NOW = 1_700_000_000.0


def entry(number: int, *, site: str = "h", depth: int = 0) -> QueueEntry:
    return QueueEntry(number, f"http://{site}/{number}", site, depth, number)


def done(one: QueueEntry, outcome: UrlOutcome = UrlOutcome.NEW, **changes: object) -> UrlRecord:
    return replace(UrlRecord(one.url, "s", one.depth, outcome=outcome, first_seen=NOW), **changes)


@pytest.fixture
def state(place: Place) -> Store:
    return place.open()


def test_discovered_urls_are_known_and_queued_before_and_after_the_flush(state: Store) -> None:
    state.begin_run(NOW, "scope")
    state.records.discover_url(entry(1), NOW)
    assert state.records.known_urls([1, 2]) == {1: ("http://h/1", 0)}
    assert state.records.get_record(1) == UrlRecord("http://h/1", "s", first_seen=NOW)
    state.flush()
    assert state.records.known_urls([1, 2]) == {1: ("http://h/1", 0)}
    assert state.queue.entries_of("h", 10) == [entry(1)]
    assert state.records.get_record(2) is None


def test_a_record_comes_back_as_it_was_written(state: Store) -> None:
    state.begin_run(NOW, "scope")
    state.records.discover_url(entry(1), NOW)
    record = done(
        entry(1), UrlOutcome.MODIFIED, status_code=200, etag='"e"', last_modified="m",
        checksum=b"\x00\xff", submitted=True, last_fetched=NOW + 1, failed_runs=2, links=b"12345678",
        cause=Cause(CauseCode.ROBOTS, "Disallow: /", "line 3"),
        removal=Removal(RemovalReason.SCOPE, Cause(CauseCode.RULE, "exclude path h/ä")),
        display_url="http://d/",
    )  # fmt: skip
    state.records.finish_url(entry(1), record)
    assert state.records.get_record(1) == record
    state.flush()
    assert state.records.get_record(1) == record
    assert list(state.records.all_records()) == [record]
    assert list(state.records.all_records(UrlOutcome.NEW)) == []
    assert (state.records.some_documents(2), state.records.some_documents(0)) == ([record], [])
    state.records.finish_url(entry(1), replace(record, submitted=False))
    state.flush()
    assert state.records.some_documents(2) == []


def test_the_queue_gives_a_site_by_depth_then_discovery(state: Store) -> None:
    state.begin_run(NOW, "")
    for one in (entry(3, depth=2), entry(1, depth=1), entry(2, depth=1), entry(4, site="other")):
        state.records.discover_url(one, NOW)
    assert [one.key for one in state.queue.entries_of("h", 2)] == [1, 2]
    state.flush()
    assert state.queue.waiting_sites() == [("h", 3), ("other", 1)]
    state.records.finish_url(entry(1, depth=1), done(entry(1)))
    assert [one.key for one in state.queue.entries_of("h", 9)] == [2, 3]


def test_a_killed_run_is_resumed_and_a_finished_one_is_not(kept: Place) -> None:
    first = kept.open()
    run, resumed = first.begin_run(NOW, "a")
    assert (run.number, resumed) == (1, False)
    first.records.discover_url(entry(1), NOW)
    first.records.discover_url(entry(2), NOW)
    first.flush()
    first.records.finish_url(entry(1), done(entry(1)))
    first.close()
    second = kept.open()
    run, resumed = second.begin_run(NOW + 5, "a")
    assert (run.number, resumed) == (1, True)
    assert [one.key for one in second.queue.entries_of("h", 9)] == [2]
    second.records.finish_url(entry(2), done(entry(2)))
    second.end_run(replace(run, finished=NOW + 6, report="{}"))
    run, resumed = second.begin_run(NOW + 9, "a")
    assert (run.number, resumed) == (2, False)
    assert {one.key for one in second.queue.entries_of("h", 9)} == {1, 2}, (
        "a new run asks for every known URL"
    )
    assert [mark.number for mark in second.runs()] == [2, 1]


def test_a_killed_run_of_another_scope_is_not_resumed(state: Store) -> None:
    state.begin_run(NOW, "a")
    for number in (1, 2):
        state.records.discover_url(entry(number), NOW)
    state.records.finish_url(entry(1), done(entry(1)))
    state.flush()
    run, resumed = state.begin_run(NOW + 1, "b")
    assert (run.number, resumed) == (2, False)
    assert {one.key for one in state.queue.entries_of("h", 9)} == {1, 2}


def test_what_was_not_flushed_is_not_there_after_a_kill(kept: Place) -> None:
    script = (
        "import json, os, sys; from pathlib import Path; from ultracrawl.stores import QueueEntry\n"
        "from ultracrawl.stores.project_stores import store_engine\n"
        "engine = store_engine(sys.argv[1], json.loads(sys.argv[3]))\n"
        "s = engine.open_store(Path(sys.argv[2]), 's'); s.begin_run(1.0, '')\n"
        "s.records.discover_url(QueueEntry(1, 'http://h/1', 'h', 0, 1), 1.0); s.flush()\n"
        "s.records.discover_url(QueueEntry(2, 'http://h/2', 'h', 0, 2), 1.0); os.kill(os.getpid(), 9)\n"
    )
    arguments = [kept.name, str(kept.folder), json.dumps(kept.options)]
    killed = subprocess.run([sys.executable, "-c", script, *arguments], check=False)
    assert killed.returncode == -9
    assert set(kept.open().records.known_urls([1, 2])) == {1}


def test_gone_urls_are_forgotten_after_three_runs_unless_a_page_links_to_them(state: Store) -> None:
    run, _ = state.begin_run(NOW, "")
    linked, orphan, fresh, page = entry(1), entry(2), entry(3), entry(4)
    for one in (linked, orphan, fresh, page):
        state.records.discover_url(one, NOW)
    state.records.finish_url(linked, done(linked, UrlOutcome.GONE, failed_runs=3))
    state.records.finish_url(orphan, done(orphan, UrlOutcome.GONE, failed_runs=3))
    state.records.finish_url(fresh, done(fresh, UrlOutcome.GONE, failed_runs=2))
    state.records.finish_url(page, done(page, links=array("q", [1]).tobytes()))
    state.end_run(replace(run, finished=NOW))
    state.begin_run(NOW + 1, "")
    assert set(state.records.known_urls([1, 2, 3, 4])) == {1, 3, 4}


def test_marks_say_what_the_index_committed(state: Store) -> None:
    state.begin_run(NOW, "")
    state.records.discover_url(entry(1), NOW)
    state.records.finish_url(entry(1), done(entry(1), submitted=True))
    state.documents.mark_indexed([(1, True)])
    state.flush()
    record = state.records.get_record(1)
    assert record is not None
    assert (record.indexed, record.submitted) == (True, False)
    assert state.records.count_urls().indexed == 1


def test_documents_lost_on_their_way_to_the_index_are_fetched_anew(state: Store) -> None:
    state.begin_run(NOW, "")
    for one in (entry(1), entry(2), entry(3)):
        state.records.discover_url(one, NOW)
        state.records.finish_url(one, done(one, submitted=True, etag='"x"', checksum=b"c"))
    state.flush()
    state.queue.requeue_url(entry(3))
    state.flush()
    assert state.documents.refetch_lost(frozenset({2})) == [1]
    first, second = state.records.get_record(1), state.records.get_record(2)
    assert first is not None
    assert second is not None
    assert (first.etag, first.checksum, first.submitted) == ("", b"", False)
    assert (second.etag, second.submitted) == ('"x"', True)


def test_dropped_urls_leave_table_and_queue(state: Store) -> None:
    state.begin_run(NOW, "")
    for number in (1, 2):
        state.records.discover_url(entry(number), NOW)
    state.drop_urls([1])
    assert set(state.records.known_urls([1, 2])) == {2}
    assert [one.key for one in state.queue.entries_of("h", 9)] == [2]


@pytest.mark.parametrize("seed", range(20))
def test_numbers_are_those_of_the_records_whatever_was_written(state: Store, seed: int) -> None:
    chance = Random(seed)
    state.begin_run(NOW, "")
    outcomes = list(UrlOutcome)
    for _ in range(60):
        one = entry(chance.randrange(12))
        known = state.records.get_record(one.key)
        if known is None:
            state.records.discover_url(one, NOW, queued=chance.random() < 0.8)
        elif chance.random() < 0.2:
            state.drop_urls([one.key])
        else:
            stored = {"indexed": chance.random() < 0.5, "submitted": chance.random() < 0.5}
            record = replace(known, outcome=chance.choice(outcomes), **stored)
            state.records.finish_url(one, record) if chance.random() < 0.5 else state.records.amend_record(
                one.key, record
            )
        if chance.random() < 0.3:
            state.documents.mark_indexed([(one.key, chance.random() < 0.5)])
            state.flush()
    state.flush()
    records, numbers = list(state.records.all_records()), state.records.count_urls()
    assert numbers.outcomes == Counter(record.outcome for record in records)
    assert (numbers.known, numbers.indexed, numbers.documents) == (
        len(records),
        sum(record.indexed for record in records),
        sum(record.indexed or record.submitted for record in records),
    )


def test_a_second_writer_reads_who_holds_the_lock(kept: Place) -> None:
    kept.open("handbook")
    with pytest.raises(UserError, match="handbook"):
        kept.open("handbook")
    assert kept.open("handbook", read_only=True).records.count_urls().known == 0


def test_a_reader_before_the_first_crawl_reads_that_nothing_is_there(kept: Place) -> None:
    with pytest.raises(UserError, match="nothing was crawled yet"):
        kept.open(read_only=True)


def test_a_url_that_is_visited_twice_between_two_flushes_leaves_the_queue(state: Store) -> None:
    state.begin_run(NOW, "")
    first, again = entry(1), entry(1)._replace(seq=7)
    state.records.discover_url(first, NOW)
    state.flush()
    state.records.finish_url(first, done(first))
    state.queue.requeue_url(again)
    state.records.finish_url(again, done(again))
    assert state.queue.entries_of("h", 9) == []


def test_display_urls_are_found_flushed_or_not(state: Store) -> None:
    state.begin_run(NOW, "")
    assert state.records.with_display_url("http://d/") == []
    state.records.discover_url(entry(1)._replace(display_url="http://d/"), NOW)
    state.records.discover_url(entry(2), NOW)
    for _ in range(2):
        assert [record.url for record in state.records.with_display_url("http://d/")] == ["http://h/1"]
        assert state.records.with_display_url("http://h/2") == [], "a URL of its own is no display URL"
        state.flush()
    state.records.finish_url(entry(2), done(entry(2), display_url="http://d/"))
    assert [record.url for record in state.records.with_display_url("http://d/")] == [
        "http://h/1",
        "http://h/2",
    ]


@pytest.mark.parametrize("flushed", [False, True])
def test_an_amended_record_keeps_its_place_in_the_queue(state: Store, flushed: bool) -> None:
    state.begin_run(NOW, "")
    for number in (1, 2):
        state.records.discover_url(entry(number), NOW)
    state.records.finish_url(entry(2), done(entry(2)))
    if flushed:
        state.flush()
    for number in (1, 2):
        state.records.amend_record(number, done(entry(number), display_url="http://d/", etag="new"))
    for _ in range(2):
        assert [record.etag for record in state.records.with_display_url("http://d/")] == ["new", "new"]
        assert [one.key for one in state.queue.entries_of("h", 9)] == [1]
        state.flush()
    state.records.finish_url(entry(1), done(entry(1), etag="newest"))
    state.flush()
    record = state.records.get_record(1)
    assert record is not None
    assert record.etag == "newest"


def test_what_the_index_committed_counts_once(state: Store) -> None:
    state.begin_run(NOW, "scope")
    state.records.discover_url(entry(1), NOW)
    state.records.finish_url(entry(1), done(entry(1), submitted=True))
    state.documents.mark_indexed([(1, True)])
    state.flush()
    state.records.amend_record(1, done(entry(1), UrlOutcome.GONE, indexed=False))
    state.flush()
    known = state.records.get_record(1)
    assert known is not None
    assert not known.indexed, "it has left since"


def test_what_was_noted_of_a_url_does_not_come_back_when_it_is_forgotten(state: Store) -> None:
    state.begin_run(NOW, "scope")
    state.records.discover_url(entry(1), NOW)
    state.records.finish_url(entry(1), done(entry(1)))
    state.documents.put_expiry(1, NOW - 1)
    state.flush()
    assert state.documents.expired_documents(NOW) == {1: NOW - 1}
    state.drop_urls([1])
    state.records.discover_url(entry(2), NOW)
    state.flush()
    assert state.documents.expired_documents(NOW) == {}
