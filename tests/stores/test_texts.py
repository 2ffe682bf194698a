"""Texts with what PostgreSQL cannot hold: every store replaces it, so that all hold the same."""

from __future__ import annotations

from array import array

import pytest
from stores.conftest import Place

from ultracrawl.model import Cause, CauseCode, Removal, RemovalReason, ScheduleStatus, UrlOutcome, UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.stores import QueueEntry, SiteClock
from ultracrawl.stores.port.schedule_store import KeptSchedule, ScheduleRun
from ultracrawl.stores.port.site_store import StoredRobots
from ultracrawl.stores.port.texts import storable

WRITTEN, STORED = "a\0ü\ud800b", "a\N{REPLACEMENT CHARACTER}ü?b"


@pytest.mark.parametrize(
    ("text", "stored"),
    [("", ""), ("abc", "abc"), ("ä€𝄞", "ä€𝄞"), ("a\0", "a\N{REPLACEMENT CHARACTER}"), (WRITTEN, STORED)],
)
def test_a_text_is_changed_only_where_it_must_be(text: str, stored: str) -> None:
    assert storable(text) == stored


def test_each_store_holds_the_same_of_a_source(place: Place) -> None:
    with_it = place.open()
    with_it.begin_run(1.0, "")
    entry = QueueEntry(url_key("http://h/1"), "http://h/1", "h", 0, 1)
    cause = Cause(CauseCode.STATED, WRITTEN, WRITTEN)
    record = UrlRecord(
        entry.url, "s", display_url=WRITTEN, outcome=UrlOutcome.FAILED, cause=cause, etag=WRITTEN,
        last_modified=WRITTEN, indexed=True, removal=Removal(RemovalReason.GONE, cause), language=WRITTEN,
    )  # fmt: skip
    with_it.records.discover_url(entry, 1.0)
    with_it.records.finish_url(entry, record)
    met = entry._replace(key=url_key("http://h/2"), url="http://h/2", seq=2, display_url=WRITTEN)
    with_it.records.discover_url(met, 1.0)
    with_it.note_listing(1, WRITTEN)
    mark = with_it.links.note_anchor(entry.key, WRITTEN, WRITTEN)
    with_it.links.put_page_anchors(7, array("q", [mark]).tobytes())
    with_it.flush()
    found, only_met = with_it.records.all_records()
    assert (only_met.display_url, with_it.listings()) == (STORED, [(1, STORED)])
    assert found.removal is not None
    for one in (found.cause, found.removal.cause):
        assert (one.subject, one.detail) == (STORED, STORED)
    assert {found.display_url, found.etag, found.last_modified, found.language} == {STORED}
    assert with_it.links.anchor_texts([entry.key])[entry.key].parts == ((STORED, STORED),)


def test_each_store_holds_the_same_of_sites_and_schedules(place: Place) -> None:
    sites = place.open_sites()
    crawl = sites.register_crawl("s", 20.0)
    assert sites.lease_sites(crawl, {"h": ["h"]})
    sites.put_clocks(crawl, [SiteClock("h", why=WRITTEN, last_error=WRITTEN)])
    clock = sites.get_clock("h")
    assert clock is not None
    assert (clock.why, clock.last_error) == (STORED, STORED)
    sites.put_robots(StoredRobots("http://h", sites.now(), 0, b"", WRITTEN), "*")
    robots = sites.get_robots("http://h", "*")
    assert robots is not None
    assert robots.error == STORED
    schedules = place.engine.open_schedules(place.folder)
    failed = ScheduleStatus.FAILED
    schedules.put_schedule(KeptSchedule("n", failed, WRITTEN), ScheduleRun(1.0, 2.0, failed, WRITTEN))
    kept = schedules.get_schedule("n")
    assert kept is not None
    assert (kept.error, schedules.runs("n", 1)[0].error) == (STORED, STORED)
    schedules.close()
