"""How the queue is read from its table: places of rows, sites ahead of being asked for, few queries."""

from __future__ import annotations

from ultracrawl.model import Cause, CauseCode, UrlOutcome, UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.stores import QueueEntry, SqliteStore
from ultracrawl.stores.sqlite.queue import MAX_ROW_IDS
from ultracrawl.stores.state.read_ahead import MAX_ROWS, MAX_SITE_ROWS, MIN_ROWS, PAUSE_SITES, FollowingSites


def filled(sites: int, urls: int) -> SqliteStore:
    state = SqliteStore(":memory:", "s")
    state.begin_run(1.0, "")
    for number in range(urls):
        for site in range(sites):
            url, seq = f"http://s{site:04}/{number}", state.queue.next_seq()
            state.records.discover_url(QueueEntry(url_key(url), url, f"s{site:04}", 1, seq), 1.0)
    state.flush()
    return state


def test_more_places_than_are_remembered() -> None:
    state = filled(1, 3)
    waiting = state.queue.entries_of("s0000", 9)
    state.queue.row_ids.remember((number, 1) for number in range(MAX_ROW_IDS + 1))
    state.queue.entries_of("s0000", 1)  # forgets the places of the others
    for one in waiting:
        state.records.finish_url(
            one, UrlRecord(one.url, "s", outcome=UrlOutcome.NEW, cause=Cause(CauseCode.STATED, one.url))
        )
    state.flush()
    assert all(one.reason == one.url for one in state.records.all_records())
    assert state.records.count_urls().queued == 0


def test_small_sites_in_order_cost_few_queries() -> None:
    state = filled(2000, 1)
    asked: list[str] = []
    state._db.set_trace_callback(asked.append)
    for site in range(2000):
        assert len(state.queue.entries_of(f"s{site:04}", 16, range(1, 2))) == 1
    assert len(asked) < 30


def test_after_reading_in_vain_it_rests() -> None:
    ahead = FollowingSites()
    rows = [(0, 0, "", f"s{number}") for number in range(MIN_ROWS)]
    assert ahead.wanted(MAX_SITE_ROWS + 1) == 0, "a large site has a query of its own"
    assert ahead.wanted(1) == MIN_ROWS
    ahead.fill(rows, more=True, without=set())
    assert [ahead.take_site(name) for name in ("other", f"s{MIN_ROWS - 1}")] == [None, None], (
        "the last may be cut"
    )
    assert [ahead.wanted(1) for _ in range(PAUSE_SITES + 1)] == [*[0] * PAUSE_SITES, MIN_ROWS]
    ahead.fill(rows, more=False, without={"s0"})
    assert (ahead.take_site("s0"), ahead.take_site("s1")) == (None, [rows[1]])
    sizes = []
    for _ in range(5):
        sizes.append(ahead.wanted(1))
        ahead.fill(rows, more=False, without=set())
        ahead.take_site("s1")
    assert sizes[-1] == MAX_ROWS
