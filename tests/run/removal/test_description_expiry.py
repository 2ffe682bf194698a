"""Descriptions that expire, on a clock that the test turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import pytest
from support.context import made_context

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.ending import Ending
from ultracrawl.run.hooks import Feature
from ultracrawl.run.placement.documents import Documents
from ultracrawl.run.removal.expiry import ExpirySweeper, expiry_of
from ultracrawl.run.visit import Visit
from ultracrawl.stores import QueueEntry, SqliteStore

URL = "http://h/a"
DAY = 86_400.0
IN_TEN_DAYS = {"rd-expires": ["Sun, 11 Jan 1970 00:00:00 GMT"]}


class Robot:
    """A crawl without a network: runs of one URL, each at a day."""

    def __init__(self) -> None:
        self.state = SqliteStore(":memory:", "s")
        self.now = 0.0
        self.left: list[UrlRecord] = []
        """Documents for which a copy was looked for."""
        self.state.records.discover_url(QueueEntry(url_key(URL), URL, "h", 0, 1), 0.0)

    def run(self, day: float, outcome: UrlOutcome | None, rd: dict[str, list[str]] | None = None) -> Visit:
        """Visit the URL on a day (None: not at all), with a description or none; the run ends after an hour."""
        self.now = day * DAY
        run, _ = self.state.begin_run(self.now, "scope")
        context = made_context(clock=lambda: self.now, store=self.state)
        context.run.mark = run
        context.hooks.call(Feature.document_leaving, self.left.append)
        context.ports.documents = Documents(context, *cast("Any", [None] * 5))
        sweeper = ExpirySweeper(context)
        sweeper.opened()
        context.hooks.add(sweeper)
        record = self.state.records.get_record(url_key(URL)) or UrlRecord(URL, "s")
        visit = Visit(QueueEntry(url_key(URL), URL, "h", 0, 1), record)
        if outcome is not None:
            sweeper.judge_visit(visit)
            if rd is not None:
                sweeper.note_description(visit, rd)
            visit.note_ending(Ending(outcome))
            held = outcome in (UrlOutcome.NEW, UrlOutcome.MODIFIED) or record.indexed
            self.state.records.finish_url(
                visit.entry, replace(record, outcome=outcome, last_fetched=self.now, indexed=held)
            )
            for told in context.hooks[Feature.visit_ended]:
                told(visit)
        self.now += 3600
        sweeper.run_ending(complete=True)
        self.state.end_run(replace(run, finished=self.now))
        return visit

    @property
    def leaving(self) -> str:
        record = self.state.records.get_record(url_key(URL))
        assert record is not None
        return str(record.removal or "")


@pytest.fixture
def robot() -> Iterator[Robot]:
    one = Robot()
    yield one
    one.state.close()


def test_a_description_that_has_not_expired_stays(robot: Robot) -> None:
    robot.run(0, UrlOutcome.NEW, IN_TEN_DAYS)
    assert robot.state.documents.expiries(DAY) == (0, 10 * DAY)
    assert not robot.run(9, UrlOutcome.NETWORK_ERROR).rescan
    assert robot.leaving == ""


@pytest.mark.parametrize(
    "outcome", [None, UrlOutcome.NETWORK_ERROR, UrlOutcome.HTTP_ERROR], ids=["not asked", "network", "server"]
)
def test_an_expired_description_that_a_run_does_not_renew_leaves(
    robot: Robot, outcome: UrlOutcome | None
) -> None:
    robot.run(0, UrlOutcome.NEW, IN_TEN_DAYS)
    assert robot.state.documents.expiries(11 * DAY) == (1, 0.0)
    robot.run(11, outcome)
    assert robot.leaving == "EXPIRED: rd-expires 1970-01-11"
    assert [record.url for record in robot.left] == [URL], "a copy of it takes its place"
    record = robot.state.records.get_record(url_key(URL))
    assert record is not None
    assert (record.checksum, record.etag) == (b"", ""), "a later visit makes it anew"


def test_an_expired_description_is_asked_for_in_full_and_renewed(robot: Robot) -> None:
    robot.run(0, UrlOutcome.NEW, IN_TEN_DAYS)
    later = {"rd-expires": ["Wed, 11 Feb 1970 00:00:00 GMT"]}
    visit = robot.run(11, UrlOutcome.MODIFIED, later)
    assert (visit.rescan, visit.page.renewed, robot.leaving) == (True, True, "")
    assert robot.state.documents.expiries(12 * DAY) == (0, 41 * DAY)
    assert not robot.run(12, UrlOutcome.NOT_MODIFIED).rescan


def test_what_is_expired_from_its_birth_stays_as_long_as_runs_find_it(robot: Robot) -> None:
    visit = robot.run(20, UrlOutcome.NEW, IN_TEN_DAYS)
    assert (visit.page.renewed, robot.leaving) == (False, "")
    visit = robot.run(21, UrlOutcome.UNMODIFIED, IN_TEN_DAYS)
    assert (visit.rescan, visit.page.renewed, robot.leaving) == (True, False, "")
    robot.run(22, UrlOutcome.NETWORK_ERROR)
    assert robot.leaving.startswith("EXPIRED")


def test_a_description_without_a_date_any_more_does_not_expire(robot: Robot) -> None:
    robot.run(0, UrlOutcome.NEW, IN_TEN_DAYS)
    robot.run(11, UrlOutcome.MODIFIED, {})
    robot.run(12, UrlOutcome.NETWORK_ERROR)
    assert (robot.leaving, robot.state.documents.expiries(13 * DAY)) == ("", (0, 0.0))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], 0.0),
        (["soon"], 0.0),
        (["Sun, 11 Jan 1970 00:00:00 GMT"], 10 * DAY),
        (["1970-01-11"], 10 * DAY),
        (["soon", "1970-01-11T00:00:00Z"], 10 * DAY),
        (["Thu, 01 Jan 1970 00:00:00 GMT"], 1.0),
    ],
    ids=["none", "no date", "HTTP date", "ISO day", "first that is one", "the epoch is a date too"],
)
def test_expiry_of(texts: list[str], expected: float) -> None:
    assert expiry_of({"rd-expires": texts}) == expected
