"""Errors of URLs, and documents that are to leave, in the state store."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.sentences import sentence

from ultracrawl.errors import StateError
from ultracrawl.model import Cause, CauseCode, Removal, RemovalReason, UrlOutcome
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.stores import QueueEntry, SqliteStore
from ultracrawl.stores.sqlite.copying import copy_database
from ultracrawl.stores.sqlite.database import translated

URL = "http://h/a"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.sqlite"


def known(state: SqliteStore, url: str = URL) -> int:
    key = url_key(url)
    state.records.discover_url(QueueEntry(key, url, site_of(url), 0, state.queue.next_seq()), 1.0)
    state.flush()
    return key


def test_errors_are_counted_by_rule_and_survive(path: Path) -> None:
    state = SqliteStore(path, "s")
    key = known(state)
    assert [state.visits.count_failure(key, "5xx"), state.visits.count_failure(key, "5xx")] == [1, 2]
    assert state.visits.count_failure(key, "net") == 1
    state.close()
    state = SqliteStore(path, "s")
    assert state.visits.count_failure(key, "5xx") == 3
    state.visits.forget_failures(key)
    assert state.visits.count_failure(key, "5xx") == 1
    state.close()
    state = SqliteStore(path, "s")
    assert (state.visits.count_failure(key, "5xx"), state.visits.count_failure(key, "net")) == (2, 1)
    state.close()


def test_what_was_not_flushed_is_as_it_was_before(path: Path) -> None:
    state = SqliteStore(path, "s")
    key = known(state)
    state.visits.count_failure(key, "net")
    state.flush()
    state.visits.forget_failures(key)
    reader = SqliteStore(path, "s", read_only=True)
    assert reader.visits.count_failure(key, "net") == 2
    reader._db.close()
    state.close()


def test_errors_of_dropped_urls_are_forgotten(path: Path) -> None:
    state = SqliteStore(path, "s")
    key = known(state)
    state.visits.count_failure(key, "net")
    state.drop_urls([key])
    known(state)
    assert state.visits.count_failure(key, "net") == 1
    state.close()


def test_documents_that_are_to_leave_are_listed_and_kept(path: Path) -> None:
    state = SqliteStore(path, "s")
    key = known(state)
    gone = replace(
        state.records.get_record(key),
        outcome=UrlOutcome.GONE,
        indexed=True,
        removal=Removal(RemovalReason.GONE, Cause(CauseCode.STATUS, "404")),
        failed_runs=9,
    )  # type: ignore[type-var]
    state.records.amend_record(key, gone)
    state.flush()
    assert [record.removal for record in state.records.records_to_remove()] == [gone.removal]
    assert (state.records.count_urls().removals, gone.retained) == (1, False)
    assert state.records.forgettable_urls() == set(), "as long as the document is in the index"
    state.records.amend_record(key, replace(gone, removal=None, indexed=False))
    state.flush()
    assert (list(state.records.records_to_remove()), state.records.forgettable_urls()) == ([], {key})
    state.close()


@pytest.mark.parametrize(
    ("code", "free", "told"),
    [
        (sqlite3.SQLITE_FULL, 1 << 30, True),
        (sqlite3.SQLITE_IOERR | 3 << 8, 0, True),
        (sqlite3.SQLITE_IOERR | 3 << 8, 1 << 30, False),
        (sqlite3.SQLITE_BUSY, 0, False),
    ],
)
def test_a_full_disk_is_reported_as_such(
    path: Path, monkeypatch: pytest.MonkeyPatch, code: int, free: int, told: bool
) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=free, f_frsize=1))
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = code
    with closing(sqlite3.connect(path)) as db, pytest.raises(StateError) as raised, translated(db):
        raise error
    assert (sentence("files.disk_is_full") in str(raised.value)) == told
    assert str(path) in str(raised.value)


def test_a_copy_to_a_full_disk_names_the_target(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SqliteStore(path, "s").close()
    monkeypatch.setattr("ultracrawl.stores.sqlite.copying.is_disk_full", lambda error, path: True)
    with pytest.raises(OSError, match="No space left on device") as raised:
        copy_database(path, path.parent / "none" / "copy.sqlite")
    assert raised.value.filename.endswith("copy.sqlite")
