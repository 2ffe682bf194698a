"""The file of the store of a source: damaged, on a full disk, copied, and rows that are missing in its tables."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.sentences import sentence

from ultracrawl.errors import StateError
from ultracrawl.stores import Advice, QueueEntry, SqliteStore
from ultracrawl.stores.sqlite.copying import copy_database
from ultracrawl.stores.sqlite.database import translated
from ultracrawl.system.files import full_disk


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.sqlite"


def filled(path: Path | str, *keys: int) -> SqliteStore:
    state = SqliteStore(path, "s")
    for key in keys:
        state.records.discover_url(QueueEntry(key, f"http://h/{key}", "h", 0, key), 1.0)
    state.flush()
    return state


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s.sqlite").write_bytes(b"certainly not a database" * 100)
    with pytest.raises(StateError, match=sentence("stores.file_not_database")):
        SqliteStore(tmp_path / "s.sqlite", "s")


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
    assert (str(path) in str(raised.value)) != told


def test_a_full_disk_is_one_line_for_all_its_files(tmp_path: Path) -> None:
    told = {full_disk(tmp_path / name) for name in ("a.sqlite", "state/b.sqlite", "missing/yet/c.sqlite")}
    assert len(told) == 1


def test_a_copy_to_a_full_disk_names_the_target(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SqliteStore(path, "s").close()
    monkeypatch.setattr("ultracrawl.stores.sqlite.copying.is_disk_full", lambda error, path: True)
    with pytest.raises(OSError, match=sentence("stores.no_space_left_on_device")) as raised:
        copy_database(path, path.parent / "none" / "copy.sqlite")
    assert raised.value.filename.endswith("copy.sqlite")


def test_a_url_that_left_the_table_is_not_noted(path: Path) -> None:
    with closing(filled(path, 1, 2)) as state:
        state.drop_urls([1])
        state.visits.note_seen([1, 2])
        state.flush()
        assert state._access.read("SELECT count(*) FROM revisit") == [(1,)]


def test_advice_counts_for_a_url_that_nothing_was_noted_of_yet(path: Path) -> None:
    with closing(filled(path, 9)) as state:
        state._db.execute("DELETE FROM revisit")
        state.visits.note_advice([Advice(9, "daily", 0.7)])
        state.flush()
        (page,) = state.visits.known_pages([9])
    assert (page.changefreq, page.priority) == ("daily", 0.7)
