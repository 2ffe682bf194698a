"""Rows of the document table lie in the order of discovery, in new files and in those brought up to date."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.recrawl.adaptive import ChangeHistory
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.stores import QueueEntry, SqliteStore
from ultracrawl.stores.sqlite import database
from ultracrawl.stores.sqlite.former_causes import add_functions
from ultracrawl.stores.sqlite.migrations import MIGRATIONS

ORDERED = next(number for number, step in enumerate(MIGRATIONS) if "url_in_order" in step)
"""The step that puts the rows in order."""


def columns(db: sqlite3.Connection) -> dict[str, set[str]]:
    tables = db.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall()
    return {table: {row[1] for row in db.execute(f"PRAGMA table_info({table})")} for (table,) in tables}


RENAMED = {"reason": "detail", "leaving": "removal_code", "handed": "submitted"}


def test_no_step_loses_a_column_of_the_document_table() -> None:
    db = sqlite3.connect(":memory:")
    add_functions(db)
    known: set[str] = set()
    for step in MIGRATIONS:
        db.executescript(step)
        now = columns(db)["url"]
        assert now | {old for old, new in RENAMED.items() if new in now} >= known, step
        known = now
    db.close()


def test_an_older_file_keeps_rows_histories_and_queue(tmp_path: Path) -> None:
    file = tmp_path / "s.sqlite"
    db = sqlite3.connect(file)
    for step in MIGRATIONS[:ORDERED]:
        db.executescript(step)
    for key, seen in ((7, 2.0), (-9, 1.0), (3, 3.0)):
        db.execute(
            "INSERT INTO url (key, url, site, depth, outcome, etag, first_seen, links, leaving) "
            "VALUES (?, ?, 'h', 1, 'NEW', 'e', ?, x'01', 'orphan')",
            (key, f"http://h/{key}", seen),
        )
        db.execute("INSERT INTO revisit (key, seen, first, last) VALUES (?, 4, 5.0, ?)", (key, 5.0 + seen))
    db.execute("INSERT INTO queue (site, depth, seq, key) VALUES ('h', 1, 1, -9)")
    db.execute("INSERT INTO run (number, started, scope, cycle) VALUES (4, 1.0, '', 4)")
    db.execute(f"PRAGMA user_version={ORDERED}")
    db.commit()
    db.close()
    state = SqliteStore(file, "s")
    assert state.begin_run(2.0, "")[1] is True
    assert [one.key for one in state.queue.entries_of("h", 9)] == [-9]
    record = state.records.get_record(7)
    assert record is not None
    assert (record.url, record.etag, record.links, str(record.removal)) == (
        "http://h/7",
        "e",
        b"\1",
        "orphan",
    )
    assert state.visits.history_of(3) == ChangeHistory(5.0, 8.0)
    state.drop_urls([3])
    assert state.visits.history_of(3) == ChangeHistory()
    state.close()
    db = sqlite3.connect(file)
    assert db.execute("SELECT key FROM url ORDER BY id").fetchall() == [(-9,), (7,)]
    assert db.execute("SELECT id FROM revisit").fetchall() == db.execute("SELECT id FROM url").fetchall()
    db.close()


def test_what_is_found_together_lies_together(tmp_path: Path) -> None:
    file = tmp_path / "s.sqlite"
    state = SqliteStore(file, "s")
    state.begin_run(1.0, "")
    urls = [f"http://h/{number}" for number in range(50)]
    for number, url in enumerate(urls):
        entry = QueueEntry(url_key(url), url, "h", 1, number + 1)
        state.records.discover_url(entry, 1.0)
        if number % 7 == 0:
            state.records.finish_url(entry, UrlRecord(url, "s", outcome=UrlOutcome.NEW))
            state.flush()
    state.close()
    db = sqlite3.connect(file)
    assert [url for (url,) in db.execute("SELECT url FROM url ORDER BY id")] == urls
    db.close()


def test_a_new_file_is_as_one_that_took_every_step(tmp_path: Path) -> None:
    """What is made at once has the same tables, indexes and triggers, in the same order, and the same first rows."""
    stepwise = sqlite3.connect(":memory:")
    add_functions(stepwise)
    for step in MIGRATIONS:
        stepwise.executescript(step)
    SqliteStore(tmp_path / "s.sqlite", "s").close()
    new = sqlite3.connect(tmp_path / "s.sqlite")
    made, expected = (re.sub(r'"|\s', "", "".join(one.iterdump())) for one in (new, stepwise))
    assert new.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    new.close()
    stepwise.close()
    assert made == expected


def test_a_step_that_came_after_the_text_for_new_files_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "MIGRATIONS", (*MIGRATIONS, "CREATE TABLE later (a);"))
    monkeypatch.setattr(database, "SCHEMA_VERSION", len(MIGRATIONS) + 1)
    db = database.connect(":memory:", read_only=False)
    assert db.execute("SELECT count(*) FROM later").fetchone() == (0,)
    assert db.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS) + 1,)
    db.close()
