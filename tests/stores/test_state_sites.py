"""The table of sites, levels of the queue, and older files brought up to date."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.stores import (
    QueueEntry,
    QueueStart,
    SiteClock,
    SqliteSiteStore,
    SqliteStore,
    StoredRobots,
    StoredSite,
)
from ultracrawl.stores.opening import migrate_sites
from ultracrawl.stores.sqlite.migrations import MIGRATIONS


def entry(path: str, seq: int, level: int = 1, depth: int = 1) -> QueueEntry:
    url = f"http://a.example.com/{path}"
    return QueueEntry(url_key(url), url, "a.example.com", depth, seq, level=level)


def test_a_site_is_remembered(tmp_path: Path) -> None:
    row = StoredSite("a", 12.5, None, 3, "2 rules", "b")
    state = SqliteStore(tmp_path / "s.sqlite", "s")
    state.sites.put_site(StoredSite("a"))
    state.sites.put_site(row)
    assert state.sites.get_site("a") == row
    reader = SqliteStore(tmp_path / "s.sqlite", "s", read_only=True)
    assert reader.sites.get_site("a") is None
    state.flush()
    assert reader.sites.get_site("a") == row
    state.sites.put_site(StoredSite("free", 5.0))
    state.sites.put_site(StoredSite("slow", 5.0, own_delay=3.0))
    state.flush()
    assert {one.site for one in reader.sites.special_sites()} == {"a", "slow"}
    assert reader.sites.get_site("b") is None
    reader.close()
    state.close()


def test_fast_17_sites_begin_afresh_in_the_next_run_and_not_in_a_resumed_one(tmp_path: Path) -> None:
    state = SqliteStore(tmp_path / "s.sqlite", "s")
    run, _ = state.begin_run(100.0, "scope")
    state.sites.put_site(StoredSite("a", 160.0, given_up=run.number))
    state.flush()
    assert state.begin_run(110.0, "scope")[1] is True
    given_up = state.sites.get_site("a")
    assert given_up is not None
    assert given_up.given_up == run.number
    assert state.sites.renewed == ()
    state.begin_run(120.0, "another scope")
    assert state.sites.get_site("a") == StoredSite("a", 160.0)
    assert state.sites.renewed == ("a",)
    state.begin_run(40 * 86_400.0, "yet another")
    assert state.sites.get_site("a") is None, "long ago"
    state.close()


def test_fast_148_entries_come_back_by_level_then_depth_then_order(tmp_path: Path) -> None:
    state = SqliteStore(tmp_path / "s.sqlite", "s")
    state.begin_run(1.0, "")
    for one in (
        entry("e", 1, 2),
        entry("c", 2, 1, 2),
        entry("b", 3),
        entry("d", 4, 2, 0),
        entry("a", 5, 1, 0),
    ):
        state.records.discover_url(one, 1.0)
    names = [one.url[-1] for one in state.queue.entries_of("a.example.com", 9)]
    assert names == ["a", "b", "c", "d", "e"]
    assert [one.url[-1] for one in state.queue.entries_of("a.example.com", 9, range(2, 3))] == ["d", "e"]
    assert state.queue.number_by_level("a.example.com") == {1: 3, 2: 2}
    first = state.queue.entries_of("a.example.com", 1)[0]
    record = state.records.get_record(first.key)
    assert record is not None
    state.records.finish_url(first, record)
    assert state.queue.number_by_level("a.example.com") == {1: 2, 2: 2}
    state.begin_run(2.0, "again", QueueStart(level_of=lambda url: 7 if url.endswith("b") else 3))
    assert [(one.url[-1], one.level) for one in state.queue.entries_of("a.example.com", 9)][-1] == ("b", 7)
    assert state.queue.number_by_level("a.example.com") == {3: 4, 7: 1}
    state.close()


def test_a_queue_without_levels_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    db = sqlite3.connect(path)
    for number in range(3):
        db.executescript(MIGRATIONS[number])
    db.executescript(
        "INSERT INTO url (key, url, site, depth) VALUES (5, 'http://a/', 'a', 2);"
        "INSERT INTO queue (site, depth, seq, key, hops) VALUES ('a', 2, 7, 5, 1);"
        "INSERT INTO run (number, started, scope) VALUES (1, 1.0, '');"
        "PRAGMA user_version=3;"
    )
    db.close()
    state = SqliteStore(path, "s")
    assert state.begin_run(2.0, "")[1] is True
    assert state.queue.entries_of("a", 9) == [QueueEntry(5, "http://a/", "a", 2, 7, 1, level=1)]
    state.close()


def test_what_a_source_knew_of_sites_for_itself_goes_to_the_project(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with closing(sqlite3.connect(path)) as db:
        for number in range(21):
            db.executescript(MIGRATIONS[number])
        db.executescript(
            "INSERT INTO site VALUES ('a', 160.0, '60 s (back-off)', 2.0, 3, 60.0, 'refused', 99.0, 7, '1 rules', 'b');"
            "INSERT INTO site VALUES ('c', 9.0, 'held back', NULL, 0, 0, '', 0, 0, '', '');"
            "INSERT INTO robots VALUES ('http://a', 5.0, 200, x'41', '', 1, 6.0, 7.0);"
            "PRAGMA user_version=21;"
        )
    with closing(SqliteStore(path, "s")) as state, closing(SqliteSiteStore.in_memory()) as sites:
        assert state.sites.get_site("a") == StoredSite("a", 160.0, 2.0, 7, "1 rules", "b")
        migrate_sites(state, sites, "plain")
        clock = SiteClock(
            "a", 160.0, why="60 s (back-off)", errors=3, slowed=60.0, last_error="refused", error_at=99.0
        )
        assert sites.get_clock("a") == clock
        assert sites.get_clock("c") == SiteClock("c", 9.0, why="held back", on_hold=True)
        kept = StoredRobots("http://a", 5.0, 200, b"A", timed_out=True, failed=6.0, guessed=7.0)
        assert sites.get_robots("http://a", "plain") == kept
        sites.import_former_sites([SiteClock("a", 170.0)], [], "plain")
        migrate_sites(state, sites, "plain")
        assert sites.get_clock("a") == SiteClock("a", 170.0), "once is enough"
