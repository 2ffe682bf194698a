"""The line of segments before each index: in order, whatever fails, and found again after a crash."""

from __future__ import annotations

import errno
import os
from itertools import pairwise
from pathlib import Path
from typing import cast

import pytest
from support.until import until

from ultracrawl.index import Deletion, IndexDocument
from ultracrawl.index.engines import IndexConfig
from ultracrawl.index.writing.cache import DocumentCache
from ultracrawl.index.writing.destination_queue import (
    FIRST_RETRY_SECONDS,
    LONGEST_RETRY_SECONDS,
    DestinationQueue,
    Indexer,
)
from ultracrawl.index.writing.destination_queues import DestinationQueues, queue_folder
from ultracrawl.index.writing.pause_switch import EVERYTHING, PauseSwitch
from ultracrawl.index.writing.process import IndexProcess
from ultracrawl.index.writing.segments import Committed, Failed, Report


class Moody:
    """An indexer that fails as often as it is told to."""

    def __init__(self, failures: int = 0) -> None:
        self.applied: list[str] = []
        self._failures = failures
        self._waiting: list[Path] = []

    def prepare(self) -> None:
        pass

    def submit(self, path: Path) -> None:
        self._waiting.append(path)

    def poll(self) -> list[Report]:
        reports: list[Report] = []
        for path in self._waiting:
            if self._failures:
                self._failures -= 1
                reports.append(Failed(path, "no room"))
            else:
                self.applied.append(path.stem)
                reports.append(Committed(path, 1, 0.0))
        self._waiting.clear()
        return reports

    def close(self, timeout: float) -> list[Report]:
        return self.poll()


def fill(cache: DocumentCache, number: int) -> Path:
    cache.append(number, IndexDocument("s", f"http://h/{number}", "t", "text"))
    path = cache.seal()
    assert path
    return path


def settle(destination: DestinationQueue, times: int = 5) -> None:
    for _ in range(times):
        for report in destination.poll():
            if isinstance(report, Committed):
                destination.remove_delivered(report.path)


def test_fast_123_a_segment_that_failed_is_tried_again_before_any_later_one(tmp_path: Path) -> None:
    now, indexer, cache = [0.0], Moody(failures=2), DocumentCache(tmp_path)
    destination = DestinationQueue(tmp_path, cast(Indexer, indexer), clock=lambda: now[0])
    for number in range(1, 4):
        destination.add(fill(cache, number))
    settle(destination)
    assert (indexer.applied, destination.in_progress, len(destination.waiting), destination.problem) == (
        [],
        0,
        3,
        "no room",
    )
    now[0] = FIRST_RETRY_SECONDS
    settle(destination)
    assert indexer.applied == [], "the second failure waits twice as long"
    now[0] = FIRST_RETRY_SECONDS * 2.9
    settle(destination)
    assert indexer.applied == []
    now[0] = FIRST_RETRY_SECONDS * 3
    settle(destination)
    assert indexer.applied == ["0000000001", "0000000002", "0000000003"]
    assert (len(destination.waiting), destination.size, destination.problem) == (0, 0, "")


def test_an_index_that_was_down_for_long_gets_its_segments_within_a_minute(tmp_path: Path) -> None:
    now, tried, indexer = [0.0], list[float](), Moody(failures=10**6)
    submit = indexer.submit

    def noted(path: Path) -> None:
        tried.append(now[0])
        submit(path)

    indexer.submit = noted  # type: ignore[method-assign]
    destination = DestinationQueue(tmp_path, cast(Indexer, indexer), clock=lambda: now[0])
    destination.add(fill(DocumentCache(tmp_path), 1))
    while now[0] < 5 * 3600:
        now[0] += 1
        settle(destination, 1)
    pauses = [after - before for before, after in pairwise(tried)]
    assert min(pauses) >= FIRST_RETRY_SECONDS
    assert max(pauses) <= LONGEST_RETRY_SECONDS + 1, "it is asked every second"
    assert LONGEST_RETRY_SECONDS <= 60
    indexer._failures, released = 0, now[0]  # a disk was made free, a block taken away
    while not indexer.applied:
        now[0] += 1
        settle(destination, 1)
    assert now[0] - released <= LONGEST_RETRY_SECONDS + 1
    assert (destination.waiting, destination.problem) == ((), "")


def test_an_index_that_failed_can_be_tried_at_once(tmp_path: Path) -> None:
    indexer = Moody(failures=1)
    destination = DestinationQueue(tmp_path, cast(Indexer, indexer), clock=lambda: 0.0)
    destination.add(fill(DocumentCache(tmp_path), 1))
    destination.retry()
    assert len(indexer._waiting) == 1, "nothing has failed yet"
    settle(destination)
    assert (destination.is_active, indexer.applied) == (False, [])
    destination.retry()
    assert destination.is_active
    settle(destination)
    assert indexer.applied == ["0000000001"]


def test_fast_116_a_paused_line_keeps_its_order_over_a_restart(tmp_path: Path) -> None:
    cache = DocumentCache(tmp_path)
    paused = DestinationQueue(tmp_path, cast(Indexer, Moody()))
    paused.paused = True
    for number in range(1, 4):
        paused.add(fill(cache, number))
    settle(paused)
    assert len(paused.waiting) == 3
    indexer = Moody()
    again = DestinationQueue(tmp_path, cast(Indexer, indexer))
    again.recover()
    again.add(fill(DocumentCache(tmp_path), 4))
    settle(again)
    assert indexer.applied == [f"{number:010d}" for number in range(1, 5)]


def shared(tmp_path: Path) -> tuple[DestinationQueues, list[Moody]]:
    indexers = [Moody(), Moody()]
    found = [
        DestinationQueue(queue_folder(tmp_path, name), cast(Indexer, indexer), label=name, index=name)
        for name, indexer in zip(("one", "two"), indexers, strict=True)
    ]
    return DestinationQueues(tmp_path, found, shared=True), indexers


def test_outlets_are_idle_when_nothing_is_on_its_way_and_some_take_what_comes(tmp_path: Path) -> None:
    destinations, _ = shared(tmp_path)
    cache = DocumentCache(tmp_path)
    destinations.recover(cache)
    one, two = destinations.all
    assert (destinations.is_idle, destinations.is_busy) == (True, False)
    two.paused = True
    assert destinations.is_idle, "one of them takes it"
    destinations.deliver(fill(cache, 1))
    assert (destinations.is_idle, destinations.is_busy) == (False, True)
    settle(one)
    assert (destinations.is_idle, destinations.is_busy, len(two.waiting)) == (True, False, 1), (
        "a paused one is waited for by nobody"
    )
    one.paused = True
    assert (destinations.is_idle, destinations.is_busy) == (False, False)


def test_fast_121_a_kill_between_two_folders_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    cache = DocumentCache(tmp_path)
    first, _ = shared(tmp_path)
    first.recover(cache)
    path = fill(cache, 1)
    os.link(path, queue_folder(tmp_path, "one") / path.name)  # killed here
    destinations, indexers = shared(tmp_path)
    destinations.recover(DocumentCache(tmp_path))
    for destination in destinations.all:
        settle(destination)
    assert [one.applied for one in indexers] == [["0000000001"]] * 2
    assert cache.sealed() == []


def test_a_file_system_without_links_gets_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    destinations, indexers = shared(tmp_path)
    cache = DocumentCache(tmp_path)
    destinations.recover(cache)
    destinations.deliver(fill(cache, 1))
    for destination in destinations.all:
        settle(destination)
    assert [one.applied for one in indexers] == [["0000000001"]] * 2


def test_fast_124_an_engine_that_is_missing_is_a_problem_of_its_destination_only(tmp_path: Path) -> None:
    indexer = IndexProcess(IndexConfig("nonsense", tmp_path / "index"))
    destination = DestinationQueue(tmp_path, indexer)
    destination.add(fill(DocumentCache(tmp_path), 1))

    def is_done() -> bool:
        destination.poll()
        return not destination.in_progress

    until(is_done)
    assert (destination.is_active, len(destination.waiting)) == (False, 1)
    assert "unknown index engine 'nonsense'" in destination.problem
    destination.close(1.0)


def test_numbers_go_on_behind_what_waits_for_an_index_only(tmp_path: Path) -> None:
    destinations, _ = shared(tmp_path)
    cache = DocumentCache(tmp_path)
    destinations.recover(cache)
    destinations.all[1].paused = True
    destinations.deliver(fill(cache, 1))
    settle(destinations.all[0])
    later = DocumentCache(tmp_path)
    later.append(2, Deletion("s", "http://h/1"))
    path = later.seal()
    assert path
    assert path.stem == "0000000002", "else it would stand before the older change"


def test_orders_hold_while_the_definition_stays(tmp_path: Path) -> None:
    switch = PauseSwitch(tmp_path)
    assert not switch.reload_if_changed()
    switch.set_paused(EVERYTHING, paused=True, defined=False)
    other = PauseSwitch(tmp_path)
    assert other.reload_if_changed()
    assert other.paused(EVERYTHING, False)
    assert not other.reload_if_changed(), "a look costs no reading"
    assert not PauseSwitch(tmp_path / "none").paused(EVERYTHING, False)
    (tmp_path / "feeding.json").write_text("[broken")
    assert other.reload_if_changed()
    assert other.paused(EVERYTHING, True), "what cannot be read says nothing"


def test_an_index_that_is_fed_alone_again_is_filled_once(tmp_path: Path) -> None:
    """While the source fed other indexes, that of the project missed what came."""
    single = DestinationQueues.single(tmp_path, cast(Indexer, Moody()))
    assert single.unfilled() == (), "it never fed another"
    single.mark_filled()
    assert list(tmp_path.iterdir()) == []
    several, _ = shared(tmp_path)
    assert several.unfilled() == several.all
    several.recover(DocumentCache(tmp_path))
    several.mark_filled()
    assert several.unfilled() == ()
    assert single.unfilled() == single.all
    single.mark_filled()
    assert single.unfilled() == ()
    single.mark_former_unfilled()
    assert several.unfilled() == several.all, "they missed what came meanwhile"
