"""The end of a cycle: documents that the spider no longer yields, expired documents, orphans."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy.exceptions import DontCloseSpider
from support.context import made_context

from ultracrawl.errors import StateError
from ultracrawl.model import Cause, CauseCode, UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.hooks import Feature
from ultracrawl.run.removal.orphans import Sweep
from ultracrawl.scheduler.cycle_end import CycleEnd, GivenUrls
from ultracrawl.stores import QueueEntry, RunMark, UnseenUrl

BEGAN = 1000.0


class End:
    """The end of a cycle over a store that is empty but for what a test puts there."""

    def __init__(
        self, *, waiting: int = 0, unsettled: int = 0, tracks: bool = True, site: str = "h.test"
    ) -> None:
        self.unsettled, self.woken = unsettled, list[float]()
        self.removed: list[str] = []
        self.queued: list[int] = []
        self.sweeps: list[Sweep] = []
        self.asked = 0
        records = SimpleNamespace(get_record=lambda key: UrlRecord(f"http://h.test/{key}", "s"))
        store = SimpleNamespace(
            queue=SimpleNamespace(waiting_sites=lambda: [(site, 1)] * waiting),
            records=records,
            flush=lambda: None,
        )
        documents = SimpleNamespace(settle=self._settle, writer=SimpleNamespace(sync=lambda: None))
        source = SimpleNamespace(name="s", type="web", orphans=SimpleNamespace(after=2, delete=True))
        self.context = made_context(source, rules=SimpleNamespace(seeds=()), store=store, documents=documents)
        activator = SimpleNamespace(on=tracks, queue_orphan=self.queued.append)
        self.dispatcher = SimpleNamespace(connected=[])
        self.dispatcher.connect = lambda function, signal: self.dispatcher.connected.append(function)
        self.set_aside = 0
        self.end = CycleEnd(
            self.context,
            cast("Any", activator),
            self.woken.append,
            cast("Any", self.dispatcher),
            self._begin_second_attempts,
            {"gone.test"},
        )
        self.end._sweeper = cast("Any", SimpleNamespace(sweep=self._sweep))

    def _begin_second_attempts(self) -> bool:
        self.set_aside -= 1
        return self.set_aside >= 0

    def _settle(self, *, complete: bool) -> bool:
        self.complete = complete
        self.unsettled -= 1
        return self.unsettled >= 0

    def _sweep(self) -> Sweep:
        self.asked += 1
        return self.sweeps.pop(0) if self.sweeps else Sweep()


def test_it_acts_when_the_spider_is_idle() -> None:
    one = End()
    assert one.dispatcher.connected == [one.end.idle]


def test_what_was_set_aside_is_read_before_anything_is_decided() -> None:
    one = End(unsettled=1)
    one.set_aside = 1
    one.end.idle()
    assert (one.woken, one.unsettled, one.asked) == ([0.0], 1, 0)


@pytest.mark.parametrize(("site", "complete"), [("h.test", False), ("gone.test", True)])
def test_what_waits_is_decided_about_without_the_sites_that_are_given_up(site: str, complete: bool) -> None:
    one = End(waiting=1, site=site)
    one.end.idle()
    assert (one.complete, one.asked) == (complete, 0), "links of what waits are not known"


def test_documents_are_settled_before_anything_is_removed() -> None:
    one = End(unsettled=1)
    with pytest.raises(DontCloseSpider):
        one.end.idle()
    assert (one.woken, one.asked) == ([0.0], 0)
    one.end.idle()
    assert (one.woken, one.asked, one.complete) == ([0.0], 1, True)


def test_nothing_is_concluded_while_urls_wait_that_this_run_does_not_fetch() -> None:
    one = End(waiting=1)
    one.end.idle()
    assert (one.asked, one.complete) == (0, False)


def test_a_run_that_failed_ends() -> None:
    one = End()
    one.context.run.fail("a problem")
    one.end.idle()
    assert one.asked == 0


def test_orphans_are_asked_for_only_where_links_are_tracked() -> None:
    for tracks, asked in ((False, 0), (True, 1)):
        one = End(tracks=tracks)
        one.end.idle()
        assert one.asked == asked


def test_an_orphan_whose_fate_the_server_decides_is_queued() -> None:
    one = End()
    one.sweeps.append(Sweep(ask=(UnseenUrl(5, "http://h.test/5", "http://h.test/5", has_document=True),)))
    one.end.idle()
    assert (one.queued, one.woken) == ([5], [0.0])
    one.end.idle()
    assert (one.queued, one.woken) == ([5], [0.0]), "nothing is left"


def test_a_feature_that_removed_something_keeps_the_cycle_going() -> None:
    one = End()

    class Sweeper(Feature):
        left = 1

        def cycle_ended(self) -> int:
            left, self.left = self.left, 0
            return left

    one.context.hooks.add(Sweeper())
    one.end.idle()
    one.end.idle()
    assert one.woken == [0.0]


def test_a_store_that_fails_ends_the_run() -> None:
    one = End()

    def fail() -> Sweep:
        raise StateError("the disk is full")

    one.end._sweeper = cast("Any", SimpleNamespace(sweep=fail))
    one.end.idle()
    assert one.context.run.failed


# ---- URLs whose documents the spider yields itself


class Given:
    """URLs of which an earlier run was given documents."""

    def __init__(self) -> None:
        self.given: set[int] = set()
        self.placed: list[str] = []
        self.requeued: list[str] = []
        self.records: dict[int, UrlRecord] = {}
        store = SimpleNamespace(
            records=SimpleNamespace(get_record=self.records.get, finish_url=lambda *_: None),
            queue=SimpleNamespace(requeue_url=lambda one: self.requeued.append(one.url)),
        )
        self.context = made_context(store=store)
        self.context.run.mark = RunMark(2, BEGAN)
        self.urls = GivenUrls(self.context, self.given, lambda one: self.placed.append(one.url))

    def entry(self, path: str, *, code: CauseCode = CauseCode.GIVEN, fetched: float = 1.0) -> QueueEntry:
        url = f"http://h.test{path}"
        self.records[url_key(url)] = UrlRecord(url, "s", last_fetched=fetched, cause=Cause(code))
        return QueueEntry(url_key(url), url, "h.test", 0, 1)


def test_a_url_whose_document_was_yielded_before_waits_until_the_spider_is_done() -> None:
    one = Given()
    kept, missed = one.entry("/kept"), one.entry("/missed")
    assert one.urls.holds_back(kept)
    assert one.urls.holds_back(missed)
    one.given.add(kept.key)
    assert one.urls.cycle_ended() == 1
    assert (one.requeued, one.placed) == (["http://h.test/missed"], ["http://h.test/missed"])
    assert not one.urls.holds_back(missed), "the spider is done"
    assert one.urls.cycle_ended() == 0


def test_of_a_spider_that_failed_nothing_is_concluded() -> None:
    one = Given()
    assert one.urls.holds_back(one.entry("/missed"))
    one.context.run.note_spider_failure()
    assert one.urls.cycle_ended() == 0
    assert (one.requeued, one.placed) == ([], [])
    assert len(one.context.run.problems) == 1


@pytest.mark.parametrize(
    ("code", "fetched", "held"),
    [
        (CauseCode.GIVEN, 1.0, True),
        (CauseCode.GIVEN, BEGAN + 1, False),
        (CauseCode.DIRECTORY, 1.0, False),
    ],
    ids=["of an earlier run", "of this run", "of a page"],
)
def test_only_urls_of_documents_from_earlier_runs_wait(code: CauseCode, fetched: float, held: bool) -> None:
    one = Given()
    assert one.urls.holds_back(one.entry("/1", code=code, fetched=fetched)) is held


def test_a_url_that_was_yielded_in_this_run_is_not_requested() -> None:
    one = Given()
    entry = one.entry("/1", code=CauseCode.DIRECTORY)
    one.given.add(entry.key)
    assert one.urls.holds_back(entry)
    assert one.urls.cycle_ended() == 0


def test_a_url_that_nobody_knows_is_requested() -> None:
    one = Given()
    assert not one.urls.holds_back(QueueEntry(1, "http://h.test/new", "h.test", 0, 1))
