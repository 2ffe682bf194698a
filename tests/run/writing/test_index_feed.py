"""When documents go on to the index."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest
from support.inline_indexer import InlineIndexer
from support.memory_index import MemoryIndex

from ultracrawl.index import IndexDocument
from ultracrawl.index.writing.cache import DocumentCache
from ultracrawl.index.writing.destination_queues import DestinationQueues
from ultracrawl.index.writing.lease_note import LeaseNote, seconds_left
from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.run import IndexWriter
from ultracrawl.run.run_counters import RunCounters
from ultracrawl.run.writing.commits import MAX_CACHED_SEGMENTS
from ultracrawl.run.writing.writer import CommitPolicy
from ultracrawl.stores import QueueEntry, SqliteStore
from ultracrawl.stores.port.leases import LEASE_SECONDS


@pytest.mark.parametrize(
    ("every", "expected"),
    [(None, [1, 1, 1]), (30.0, [1, 1, 2])],
    ids=["index.every none", "index.every portal_robot_12_2"],
)
def test_index_every_bounds_how_long_documents_wait(
    tmp_path: Path, every: float | None, expected: list[int]
) -> None:
    now = [100.0]
    counters = RunCounters("s")
    state = SqliteStore(":memory:", "s")
    cache = DocumentCache(tmp_path, 1 << 20)
    feed = IndexWriter(
        "s",
        cache,
        DestinationQueues.single(tmp_path, InlineIndexer(MemoryIndex({}))),
        state,
        counters,
        policy=CommitPolicy(every),
        clock=lambda: now[0],
    )
    indexed = []
    feed.add(1, IndexDocument("s", "http://h/1", "T", "long " * 100))
    for at, key in [(105.0, 2), (134.9, 0), (135.0, 0)]:
        now[0] = at
        feed.tick()
        feed.collect()
        indexed.append(counters.indexed)
        if key:
            feed.add(key, IndexDocument("s", f"http://h/{key}", "T", "text"))
    assert indexed == expected
    feed.close(1.0)
    state.close()


def test_a_lease_that_another_thread_has_renewed_is_noted_for_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Renewed:
        def lease_age(self) -> float:
            return LEASE_SECONDS / 4

    state, now = SqliteStore(":memory:", "s"), 1000.0
    note = LeaseNote(tmp_path, 7)
    note.write(now - LEASE_SECONDS, LEASE_SECONDS)
    cache = DocumentCache(tmp_path, 1 << 20, 7, note)
    index = DestinationQueues.single(tmp_path, InlineIndexer(MemoryIndex({})))
    feed = IndexWriter("s", cache, index, state, RunCounters("s"), clock=lambda: now)
    feed.note_lease()
    assert seconds_left(tmp_path, lambda: now) == 0, "a store without leases notes nothing"
    monkeypatch.setattr(state, "kept_lease", Renewed)
    feed.note_lease()
    assert seconds_left(tmp_path, lambda: now) == pytest.approx(0.65 * LEASE_SECONDS)
    feed.close(1.0)
    state.close()


def feed_of(folder: Path, state: SqliteStore, index: MemoryIndex) -> IndexWriter:
    destinations = DestinationQueues.single(folder, InlineIndexer(index))
    return IndexWriter("s", DocumentCache(folder), destinations, state, RunCounters("s"), anchors=True)


def known(state: SqliteStore, *keys: int) -> None:
    for key in keys:
        state.records.discover_url(QueueEntry(key, f"http://h/{key}", "http://h", 0, key), 1.0)
    state.flush()


def test_documents_get_the_texts_of_links_that_are_known_when_their_segment_is_sealed(tmp_path: Path) -> None:
    state, index = SqliteStore(":memory:", "s"), MemoryIndex({})
    known(state, 1, 2)
    feed = feed_of(tmp_path, state, index)
    feed.add(1, IndexDocument("s", "http://h/1", "T", "text", anchors=("of old",)))
    feed.add(2, IndexDocument("s", "http://h/2", "T", "text", anchors=("of old",)))
    mark = state.links.note_anchor(1, "said after it was handed over")
    state.links.put_page_anchors(2, array("q", [mark]).tobytes())
    feed.drain()
    feed.collect()
    assert {one.url: one.anchors for one in index.documents()} == {
        "http://h/1": ("said after it was handed over",),
        "http://h/2": (),
    }
    assert state.links.documents_due(None, 10) == [], "nothing is told twice"
    feed.close(1.0)
    state.close()


def test_documents_that_the_store_does_not_know_of_come_again_or_go(tmp_path: Path) -> None:
    state, index = SqliteStore(":memory:", "s"), MemoryIndex({})
    known(state, 1, 2)
    entry = QueueEntry(1, "http://h/1", "http://h", 0, 1)
    record = UrlRecord("http://h/1", "s", etag="x", checksum=b"x", outcome=UrlOutcome.NEW, submitted=True)
    killed = feed_of(tmp_path, state, index)
    killed.add(1, IndexDocument("s", "http://h/1", "recorded", "text"))
    state.records.finish_url(entry, record)
    killed.sync()
    state.flush()
    killed.add(2, IndexDocument("s", "http://h/2", "known", "text"))
    killed.add(3, IndexDocument("s", "http://h/3", "not even known", "text"))
    killed.close(1.0)
    feed = feed_of(tmp_path, state, index)
    feed.recover()
    one, two = state.records.get_record(1), state.records.get_record(2)
    assert one is not None
    assert two is not None
    assert (one.submitted, one.checksum) == (True, b"x")
    assert two.submitted, "whatever becomes of its page, the document is known to be there"
    feed.collect()
    feed.drain()
    feed.collect()
    feed.collect()
    assert sorted(document.url for document in index.documents()) == ["http://h/1", "http://h/2"]
    feed.close(1.0)
    state.close()


def test_a_document_that_goes_is_not_marked_indexed_by_its_former_commit(tmp_path: Path) -> None:
    """Its page was visited again, and is a duplicate now."""
    state, index = SqliteStore(":memory:", "s"), MemoryIndex({})
    killed = feed_of(tmp_path, state, index)
    killed.add(1, IndexDocument("s", "http://h/1", "not even known", "text"))
    killed.close(1.0)
    feed = feed_of(tmp_path, state, index)
    feed.recover()
    known(state, 1)
    duplicate = UrlRecord("http://h/1", "s", outcome=UrlOutcome.DUPLICATE)
    state.records.finish_url(QueueEntry(1, "http://h/1", "http://h", 0, 1), duplicate)
    for _ in range(2):
        feed.collect()
        record = state.records.get_record(1)
        assert record is not None
        assert not record.searchable
        feed.drain()
    feed.collect()
    assert not list(index.documents())
    feed.close(1.0)
    state.close()


def handed_over(feed: IndexWriter, state: SqliteStore, key: int) -> None:
    url = f"http://h/{key}"
    feed.add(key, IndexDocument("s", url, "T", "text"))
    record = UrlRecord(url, "s", outcome=UrlOutcome.NEW, submitted=True)
    state.records.finish_url(QueueEntry(key, url, "http://h", 0, key), record)


@pytest.mark.parametrize("further", [0, MAX_CACHED_SEGMENTS], ids=["kept in memory", "read again"])
@pytest.mark.parametrize("sealed", [False, True], ids=["open", "sealed"])
def test_the_commit_of_an_older_change_says_nothing_of_a_newer_one(
    tmp_path: Path, sealed: bool, further: int
) -> None:
    """A crawler was killed before the store knew of a document that came and went; its page came again since."""
    state, index = SqliteStore(":memory:", "s"), MemoryIndex({})
    known(state, *range(1, 2 + further))
    killed = feed_of(tmp_path, state, index)
    killed._destinations.primary.paused = True
    for key in range(2, 2 + further):
        handed_over(killed, state, key)
        killed.drain()
    killed.add(1, IndexDocument("s", "http://h/1", "T", "text"))
    killed.delete(1, UrlRecord("http://h/1", "s"))
    killed.close(1.0)
    feed = feed_of(tmp_path, state, index)
    feed.recover()
    older = len(feed._destinations.primary.waiting)
    handed_over(feed, state, 1)
    if sealed:
        feed.drain()
    for _ in range(older):
        feed.collect()
    newer = state.records.get_record(1)
    assert newer is not None
    assert newer.submitted, "what is on its way has to be taken out again if a better copy comes"
    feed.drain()
    feed.collect()
    there = state.records.get_record(1)
    assert there is not None
    assert (there.submitted, there.indexed) == (False, True)
    feed.close(1.0)
    state.close()
