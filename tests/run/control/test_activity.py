"""How long a crawl has only waited."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support import clock

from ultracrawl.model import UrlRecord
from ultracrawl.run.context import CrawlContext
from ultracrawl.run.control.activity import Activity
from ultracrawl.run.results import FetchResult
from ultracrawl.run.visit import Visit
from ultracrawl.stores import QueueEntry

URL = "http://a.example/"


@dataclass
class Crawl:
    """What an activity looks at."""

    answers: int = 0
    visits: dict[int, Visit] = field(default_factory=dict)
    counters: Any = field(default_factory=lambda: SimpleNamespace(not_asked=0))
    documents: Any = field(default_factory=lambda: SimpleNamespace(congested=False))

    def __post_init__(self) -> None:
        self.activity = Activity(cast(CrawlContext, self), lambda: self.answers)

    def quiet(self) -> int:
        """Return for how long it has waited, in thousands of seconds: this machine is not that slow."""
        return int(self.activity.quiet_seconds() / 1000)


@pytest.fixture
def crawl() -> Crawl:
    crawl = Crawl()
    clock.leap(40_000)
    assert crawl.quiet() == 40
    return crawl


def visited(crawl: Crawl) -> Visit:
    crawl.visits[1] = Visit(QueueEntry(1, URL, "a.example", 0, 1), UrlRecord(URL, "a"))
    return crawl.visits[1]


def test_a_request_in_flight_is_waiting(crawl: Crawl) -> None:
    visited(crawl)
    clock.leap(10_000)
    assert crawl.quiet() == 50


def test_an_answer_of_any_kind_is_none(crawl: Crawl) -> None:
    crawl.answers += 1
    assert crawl.quiet() == 0
    clock.leap(10_000)
    assert crawl.quiet() == 10


def test_neither_are_documents_that_a_lister_confirms(crawl: Crawl) -> None:
    crawl.counters.not_asked += 1
    assert crawl.quiet() == 0


def test_nor_is_an_answer_that_comes_slowly_or_is_converted(crawl: Crawl) -> None:
    visit = visited(crawl)
    visit.note_answer_begun()
    assert crawl.quiet() == 0
    visit.prepare_retry(counts=True)
    clock.leap(10_000)
    assert crawl.quiet() == 10, "it failed, and is asked again"
    visit.note_answer(FetchResult(status=200))
    assert crawl.quiet() == 0


def test_nor_an_index_that_cannot_keep_up(crawl: Crawl) -> None:
    crawl.documents.congested = True
    assert crawl.quiet() == 0


def test_nor_the_end_of_the_crawl(crawl: Crawl) -> None:
    crawl.activity.note_end()
    clock.leap(500_000)
    assert crawl.quiet() == 0
