"""Stored responses in place of requests: which documents are made again, and what is left alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.context import made_context

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.control.second_attempts import MAX_IN_VAIN
from ultracrawl.run.ending import Ending
from ultracrawl.run.visit import HANDLED_KEY, META_KEY
from ultracrawl.scheduler import replay
from ultracrawl.scheduler.replay import ReplayQueue, ReplayScheduler


def key(path: str) -> int:
    return url_key(f"http://{path}")


class Replayed:
    """A replay of documents, by host and path: those in the index, those stored, those marked for removal."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, indexed: str, stored: str, leaving: str = "", sites: str = ""
    ) -> None:
        paths = {*indexed.split(), *stored.split(), *leaving.split()}
        records = {key(path): UrlRecord(f"http://{path}", "s", 1) for path in paths}
        self.records = records
        gone = [records[key(path)] for path in leaving.split()]
        store = SimpleNamespace(
            flush=lambda: None,
            records=SimpleNamespace(get_record=records.get, records_to_remove=lambda: gone),
            documents=SimpleNamespace(kept_keys=lambda: frozenset(map(key, indexed.split()))),
        )
        self.documents = SimpleNamespace(congested=False)
        self.ended: list[Any] = []
        endings = SimpleNamespace(end_visit=lambda visit, ending: self.ended.append(ending))
        self.context = made_context(store=store, documents=self.documents, endings=endings, replay=True)
        self.control, self.conversion = SimpleNamespace(paused=False), SimpleNamespace(congested=False)
        self.begun: list[Any] = []
        watch = SimpleNamespace(begin_visit=self.begun.append, suspend_visit=self.begun.remove)
        settings = SimpleNamespace(getlist=lambda _: sites.split())
        self.woken = 0
        slot = SimpleNamespace(nextcall=SimpleNamespace(schedule=self._wake))
        crawler = SimpleNamespace(settings=settings, engine=SimpleNamespace(_slot=slot))
        monkeypatch.setattr(replay, "begin_crawl", lambda _: True)
        responses = SimpleNamespace(store=SimpleNamespace(stored_keys=lambda: map(key, stored.split())))
        self.scheduler = ReplayScheduler(
            cast("Any", crawler),
            self.context,
            cast("Any", responses),
            cast("Any", self.control),
            cast("Any", self.conversion),
            cast("Any", watch),
        )
        spider = SimpleNamespace(visit=lambda _: None, failed=lambda _: None)
        self.scheduler.open(cast("Any", spider))

    def _wake(self) -> None:
        self.woken += 1

    def requested(self) -> list[str]:
        """Return what is requested until nothing is."""
        found = []
        while (request := self.scheduler.next_request()) is not None:
            found.append(request.url.removeprefix("http://"))
        return sorted(found)


def test_the_stored_documents_of_the_index_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Replayed(
        monkeypatch, "a.test/1 a.test/2 a.test/left", "a.test/1 a.test/2 a.test/left", "a.test/left"
    )
    assert one.requested() == ["a.test/1", "a.test/2"]
    assert one.context.counters.scheduled == 2
    assert one.context.run.problems == []
    assert not one.scheduler.has_pending_requests()


def test_documents_without_a_stored_response_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Replayed(monkeypatch, "a.test/1 a.test/2", "a.test/1")
    assert (one.requested(), len(one.context.run.problems)) == (["a.test/1"], 1)


def test_documents_of_chosen_sites_only(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Replayed(monkeypatch, "a.test/1 b.test/1", "a.test/1 b.test/1", sites="b.test")
    assert (one.requested(), one.context.run.problems) == (["b.test/1"], [])
    none = Replayed(monkeypatch, "a.test/1", "a.test/1", sites="c.test")
    assert (none.requested(), len(none.context.run.problems)) == ([], 1)


def test_a_request_belongs_to_a_visit_that_is_answered_from_the_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = Replayed(monkeypatch, "a.test/1", "a.test/1")
    request = one.scheduler.next_request()
    assert request is not None
    visit = request.meta[META_KEY]
    assert (visit.from_store, visit.rescan, one.begun) == (True, True, [visit])
    assert one.context.visits == {key("a.test/1"): visit}
    one.scheduler.visit_ended(visit)
    assert one.context.visits == {}


def test_second_attempts_are_made_alone_until_that_is_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    number = MAX_IN_VAIN + 5
    paths = " ".join(f"a.test/{one}" for one in range(number))
    one = Replayed(monkeypatch, paths, paths)

    def requested() -> list[Any]:
        found = []
        while (request := one.scheduler.next_request()) is not None:
            found.append(request.meta[META_KEY])
        return found

    first = requested()
    assert len(first) == number
    for visit in first:
        assert one.context.queue.set_aside(visit, "too slow")
    for _ in range(MAX_IN_VAIN):
        (again,) = requested()
        assert again.alone
        assert not one.context.queue.set_aside(again, "too slow")
        again.note_ending(Ending(UrlOutcome.FAILED))
        one.scheduler.visit_ended(again)
    assert len(requested()) == 5, "side by side"
    assert not one.scheduler.has_pending_requests()


def test_it_waits_while_it_is_paused_or_the_index_is_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Replayed(monkeypatch, "a.test/1", "a.test/1")
    timers: list[float] = []
    one.scheduler._alarm = cast("Any", SimpleNamespace(set_timer=timers.append))
    one.control.paused = True
    assert one.scheduler.next_request() is None
    one.control.paused = False
    for congested in (one.documents, one.conversion):
        congested.congested = True
        assert one.scheduler.next_request() is None
        congested.congested = False
    assert len(timers) == 2
    one.scheduler.resumed()
    assert (one.woken, one.requested()) == (1, ["a.test/1"])


def test_a_run_that_failed_requests_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Replayed(monkeypatch, "a.test/1", "a.test/1")
    one.context.run.fail("a problem")
    assert one.scheduler.next_request() is None


def test_requests_of_the_spider_are_refused_unless_they_are_handled_already(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = Replayed(monkeypatch, "a.test/1", "a.test/1")
    request = one.scheduler.next_request()
    assert request is not None
    assert not one.scheduler.enqueue_request(request)
    request.meta[HANDLED_KEY] = True
    assert one.scheduler.enqueue_request(request)


def test_a_copy_is_made_into_a_document_when_the_one_that_it_repeats_gives_up_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = Replayed(monkeypatch, "a.test/1", "a.test/1 a.test/copy")
    assert one.requested() == ["a.test/1"]
    copy, unstored = one.records[key("a.test/copy")], UrlRecord("http://a.test/none", "s")
    for record in (copy, unstored, copy):
        one.context.queue.requeue(record)
    assert one.requested() == ["a.test/copy"], "once"


def test_a_document_that_is_set_aside_is_made_alone_and_last(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Replayed(monkeypatch, "a.test/1 a.test/2", "a.test/1 a.test/2")
    first, other = (one.scheduler.next_request() for _ in range(2))
    assert first is not None
    assert other is not None
    assert one.context.queue.set_aside(first.meta[META_KEY], "too slow")
    assert one.scheduler.next_request() is None
    assert one.scheduler.has_pending_requests()
    one.scheduler.visit_ended(other.meta[META_KEY])
    again = one.scheduler.next_request()
    assert again is not None
    visit = again.meta[META_KEY]
    assert (again.url, visit.alone, visit.from_store, one.begun[-1]) == (first.url, True, True, visit)
    assert not one.context.queue.set_aside(visit, "too slow")
    assert not one.scheduler.has_pending_requests()


def test_nothing_new_is_queued_and_a_response_that_cannot_be_read_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = Replayed(monkeypatch, "a.test/1", "a.test/1")
    request = one.scheduler.next_request()
    assert request is not None
    visit, queue = request.meta[META_KEY], one.context.queue
    assert isinstance(queue, ReplayQueue)
    assert queue.seed(["http://a.test/x"]) == queue.offer_links(["http://a.test/x"], 1) == 0
    assert queue.follow(visit, ["/x"], visit.url) == 0
    queue.retry(visit, 0.0)
    assert [ending.outcome for ending in one.ended] == [UrlOutcome.FAILED]
    changed = UrlRecord(visit.url, "s", 9)
    queue.update_record(changed)
    assert visit.record is changed
    assert one.requested() == []
