"""Crawling and indexing at once, or in turn (Ultra Search 6)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest

from ultracrawl.index import IndexDocument, engines
from ultracrawl.index.writing.cache import DocumentCache
from ultracrawl.index.writing.destination_queue import Indexer
from ultracrawl.index.writing.destination_queues import DestinationQueues
from ultracrawl.index.writing.segments import Committed, Report
from ultracrawl.run.run_counters import RunCounters
from ultracrawl.run.writing.writer import (
    CHEAP_EAGER_SIZE,
    EAGER_AFTER,
    EAGER_SIZE,
    FIRST_AFTER,
    LATEST_AFTER,
    CommitPolicy,
    IndexWriter,
)
from ultracrawl.stores import SqliteStore


class Waiting:
    """An indexer that commits when it is told to."""

    def __init__(self) -> None:
        self.segments: list[Path] = []
        self._done: list[Report] = []

    @property
    def busy(self) -> int:
        return len(self.segments)

    def prepare(self) -> None:
        pass

    def submit(self, path: Path) -> None:
        self.segments.append(path)

    def commit(self) -> None:
        self._done.append(Committed(self.segments.pop(0), 1, 0.0))

    def poll(self) -> list[Report]:
        done, self._done = self._done, []
        return done

    def close(self, timeout: float) -> list[Report]:
        return []


@pytest.fixture
def state() -> Any:
    store = SqliteStore(":memory:", "s")
    yield store
    store.close()


def feed(tmp_path: Path, state: SqliteStore, two_phases: bool) -> tuple[IndexWriter, Waiting]:
    indexer = Waiting()
    cache = DocumentCache(tmp_path, 3 * EAGER_SIZE)
    destinations = DestinationQueues.single(tmp_path, cast(Indexer, indexer))
    policy = CommitPolicy(two_phases=two_phases)
    return IndexWriter("s", cache, destinations, state, RunCounters("s"), policy=policy), indexer


def add(taking: IndexWriter, number: int, size: int = EAGER_SIZE) -> None:
    taking.add(number, IndexDocument("s", f"http://x/{number}", "t", "word " * (size // 5)))
    taking.tick()


@pytest.mark.parametrize("two_phases", [False, True])
def test_ultra_search_5_when_the_cache_is_full_caching_stops_and_indexing_starts(
    tmp_path: Path, state: SqliteStore, two_phases: bool
) -> None:
    taking, indexer = feed(tmp_path, state, two_phases)
    add(taking, 1)
    assert indexer.busy == (0 if two_phases else 1), "in two phases the index waits for a full cache"
    add(taking, 2)
    add(taking, 3)
    assert indexer.busy == 1
    assert taking.congested is two_phases
    indexer.commit()
    taking.tick()
    assert not taking.congested, "ultra_search_7: crawling goes on"
    taking.close(0)


def test_ultra_search_6_when_the_queue_is_empty_indexing_starts_though_the_cache_is_not_full(
    tmp_path: Path, state: SqliteStore
) -> None:
    taking, indexer = feed(tmp_path, state, True)
    add(taking, 1)
    taking.drain()
    assert indexer.busy == 1
    taking.close(0)


def test_what_waits_for_long_is_handed_over_though_it_is_little(tmp_path: Path, state: SqliteStore) -> None:
    now = [100.0]
    indexer = Waiting()
    destinations = DestinationQueues.single(tmp_path, cast(Indexer, indexer))
    taking = IndexWriter(
        "s", DocumentCache(tmp_path), destinations, state, RunCounters("s"), clock=lambda: now[0]
    )

    def is_handed_over(seconds: float) -> bool:
        now[0] += seconds
        taking.tick()
        handed = indexer.busy == 1
        if handed:
            indexer.commit()
            taking.tick()
        return handed

    assert not is_handed_over(FIRST_AFTER), "nothing waits"
    add(taking, 1, 1000)
    assert not is_handed_over(FIRST_AFTER - 0.1)
    assert is_handed_over(0.1), "the first document of a crawl can soon be found"
    add(taking, 2, EAGER_SIZE // 12)
    assert not is_handed_over(EAGER_AFTER), "less than a tenth of what is worth a commit"
    add(taking, 3, EAGER_SIZE // 12)
    assert is_handed_over(0), "it waits for ten seconds, and is more than what went before"
    add(taking, 4, EAGER_SIZE // 8)
    assert not is_handed_over(EAGER_AFTER), "it is less than what went before"
    add(taking, 5, EAGER_SIZE // 8)
    assert is_handed_over(0)
    add(taking, 6, 500)
    assert not is_handed_over(LATEST_AFTER - 0.1)
    assert is_handed_over(0.1), "nothing waits for longer"
    taking.close(0)


class Crawled(NamedTuple):
    """What the index has got of a crawl."""

    seconds: float
    segments: int
    longest: float
    """Seconds that a document has waited at most."""


def crawl_in_time(folder: Path, pages: int, page_seconds: float, eager_size: int = EAGER_SIZE) -> Crawled:
    """Crawl pages of 40 kB on a virtual clock."""
    now, state, indexer = [100.0], SqliteStore(":memory:", "s"), Waiting()
    destinations = DestinationQueues.single(folder, cast(Indexer, indexer))
    policy = CommitPolicy(eager_size=eager_size)
    cache, counters = DocumentCache(folder), RunCounters("s")
    taking = IndexWriter("s", cache, destinations, state, counters, policy=policy, clock=lambda: now[0])
    waiting, longest, segments = list[float](), 0.0, 0
    for number in range(pages):
        add(taking, number, 40_000)
        waiting.append(now[0])
        for _ in range(max(1, round(page_seconds))):
            now[0] += page_seconds / max(1, round(page_seconds))
            taking.tick()
            if indexer.busy:
                segments += 1
                longest = max(longest, now[0] - waiting[0])
                waiting.clear()
                indexer.commit()
                taking.tick()
    taking.close(0)
    state.close()
    return Crawled(now[0] - 100, segments + bool(waiting), longest)


@pytest.mark.parametrize("eager_size", [EAGER_SIZE, CHEAP_EAGER_SIZE])
def test_a_busy_machine_makes_no_more_segments(tmp_path: Path, eager_size: int) -> None:
    quiet = crawl_in_time(tmp_path / "1", 240, 0.025, eager_size)
    for slower in (3, 10, 30, 60):
        slow = crawl_in_time(tmp_path / str(slower), 240, 0.025 * slower, eager_size)
        assert slow.segments <= quiet.segments + 5 + slow.seconds // LATEST_AFTER, slower
        assert slow.longest <= LATEST_AFTER + 1, slower


@pytest.mark.parametrize("page_seconds", [0.1, 1.0, 30.0])
def test_documents_of_a_polite_crawl_wait_for_a_minute_at_most(tmp_path: Path, page_seconds: float) -> None:
    crawled = crawl_in_time(tmp_path, 120, page_seconds)
    assert FIRST_AFTER <= crawled.longest <= LATEST_AFTER + 1
    assert crawled.segments <= 7 + crawled.seconds // LATEST_AFTER, (
        "each has a minute, but for the first ones"
    )


def test_the_more_was_handed_over_the_larger_are_the_segments(tmp_path: Path, state: SqliteStore) -> None:
    taking, indexer = feed(tmp_path, state, two_phases=False)
    for number in range(4):
        add(taking, number)
        assert indexer.busy == 1, "a quarter of what went before is no more than is worth a commit anyway"
        indexer.commit()
    add(taking, 4, int(EAGER_SIZE * 0.9))
    assert indexer.busy == 0
    add(taking, 5, int(EAGER_SIZE * 0.2))
    assert indexer.busy == 1
    indexer.commit()
    taking.tick()
    add(taking, 6)
    assert indexer.busy == 0, "a quarter of what went before is more now"
    add(taking, 7, int(EAGER_SIZE * 0.4))
    assert indexer.busy == 1
    taking.close(0)


@pytest.mark.parametrize("is_cheap", [False, True])
def test_where_commits_are_cheap_less_is_worth_one(
    tmp_path: Path, state: SqliteStore, is_cheap: bool
) -> None:
    indexer = Waiting()
    cache, destinations = DocumentCache(tmp_path), DestinationQueues.single(tmp_path, cast(Indexer, indexer))
    policy = CommitPolicy(eager_size=CHEAP_EAGER_SIZE if is_cheap else EAGER_SIZE)
    taking = IndexWriter("s", cache, destinations, state, RunCounters("s"), policy=policy)
    add(taking, 1, CHEAP_EAGER_SIZE // 2)
    assert indexer.busy == 0
    add(taking, 2, CHEAP_EAGER_SIZE)
    assert indexer.busy == (1 if is_cheap else 0)
    taking.close(0)


@pytest.mark.parametrize(
    ("engine", "core", "is_cheap"),
    [
        ("whoosh", "used", True),
        ("whoosh", "off", False),
        ("tantivy", "used", False),
        ("tantivy", "off", False),
    ],
)
def test_the_compiled_core_makes_commits_of_whoosh_cheap_and_of_no_other_engine(
    monkeypatch: pytest.MonkeyPatch, engine: str, core: str, is_cheap: bool
) -> None:
    monkeypatch.setattr(engines, "usable_core", lambda: object() if core == "used" else None)
    assert engines.has_cheap_commits(engine) is is_cheap
