"""A report counts what its run brought to the index: a document that came and went in one run counts as neither."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from support.inline_indexer import InlineIndexer
from support.memory_index import MemoryIndex

from ultracrawl.index import IndexDocument
from ultracrawl.index.writing.cache import DocumentCache
from ultracrawl.index.writing.destination_queues import DestinationQueues
from ultracrawl.model import StatusCode, UrlOutcome, UrlRecord
from ultracrawl.model.cause import NO_CAUSE
from ultracrawl.model.record_changes import demoted
from ultracrawl.run import IndexWriter
from ultracrawl.run.run_counters import RunCounters
from ultracrawl.stores import QueueEntry, SqliteStore

BEGAN = 100.0


class Run:
    """A run that adds, demotes and commits documents, by their keys."""

    def __init__(self, folder: Path, *, since: float) -> None:
        self.state, self.index, self.counters = (
            SqliteStore(":memory:", "s"),
            MemoryIndex({}),
            RunCounters("s"),
        )
        destinations = DestinationQueues.single(folder, InlineIndexer(self.index))
        self.writer = IndexWriter("s", DocumentCache(folder), destinations, self.state, self.counters)
        self.writer.commits.since = since

    def add(self, key: int, outcome: UrlOutcome = UrlOutcome.NEW, *, found: float = BEGAN) -> None:
        """Add the document of a URL that was found at a time; it is fetched after the run began."""
        entry = QueueEntry(key, f"http://h/{key}", "http://h", 0, key)
        self.state.records.discover_url(entry, found)
        self.state.flush()
        self.writer.add(key, IndexDocument("s", entry.url, "T", "text"))
        known = self.record(key)
        if known.indexed:
            self.writer.commits.note_replaced(known)
        self.state.records.finish_url(
            entry, replace(known, outcome=outcome, submitted=True, indexed=False, last_fetched=BEGAN + key)
        )
        self.state.flush()

    def demote(self, key: int) -> None:
        """Take a document out of the index, if it is there, because another one has its content."""
        record = self.record(key)
        if record.searchable:
            self.writer.delete(key, record)
            after = demoted(record, StatusCode.DUPLICATE_DETECTED, NO_CAUSE)
            self.state.records.amend_record(key, after)
            self.state.flush()

    def record(self, key: int) -> UrlRecord:
        """Return what is known of a URL."""
        record = self.state.records.get_record(key)
        assert record is not None
        return record

    def commit(self) -> None:
        """Have the index take what waits."""
        self.writer.drain()
        self.writer.collect()
        self.state.flush()

    @property
    def counts(self) -> tuple[int, int]:
        """The documents that count as indexed, and as deleted."""
        return self.counters.indexed, self.counters.deleted

    def close(self) -> None:
        """Release all files."""
        self.writer.close(1.0)
        self.state.close()


@pytest.mark.parametrize("seed", range(20))
def test_the_first_run_has_indexed_what_the_index_has(tmp_path: Path, seed: int) -> None:
    chance, run = random.Random(seed), Run(tmp_path, since=BEGAN)
    for _ in range(40):
        key = chance.randrange(1, 6)
        record = run.state.records.get_record(key)
        if chance.random() < 0.3:
            run.commit()
        elif record is not None and record.searchable and chance.random() < 0.7:
            run.demote(key)
        else:
            run.add(key)
    run.commit()
    assert run.counts == (run.index.count(), 0)
    run.close()


@pytest.mark.parametrize("committed", [False, True], ids=["in one segment", "in two"])
@pytest.mark.parametrize(
    ("outcome", "found", "deleted"),
    [
        pytest.param(UrlOutcome.NEW, BEGAN, 0, id="found by the run"),
        pytest.param(UrlOutcome.NEW, BEGAN - 50, 0, id="known before"),
        pytest.param(UrlOutcome.MODIFIED, BEGAN - 50, 1, id="in the index before"),
    ],
)
def test_a_copy_counts_as_deleted_if_the_index_had_it_before_the_run(
    tmp_path: Path, outcome: UrlOutcome, found: float, deleted: int, committed: bool
) -> None:
    run = Run(tmp_path, since=BEGAN)
    run.add(1, outcome, found=found)
    if committed:
        run.commit()
        assert run.counts == (1, 0)
    run.demote(1)
    run.add(2)
    run.commit()
    assert run.counts == (1, deleted)
    run.close()
