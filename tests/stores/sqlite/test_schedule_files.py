"""The file with the schedules of a project: missing, damaged, and small beside its log."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from ultracrawl.errors import StateDamagedError
from ultracrawl.model import ScheduleStatus
from ultracrawl.stores.port.schedule_store import KeptSchedule, ScheduleRun
from ultracrawl.stores.sqlite.engine import SqliteEngine

ROW = KeptSchedule("nightly", ScheduleStatus.FAILED, "full", 7.5, 1.0, 2.0, "/a.log\n/b.log", ("a", "b"))


def test_the_file_beside_it_stays_small(tmp_path: Path) -> None:
    sizes = []
    with contextlib.closing(SqliteEngine().open_schedules(tmp_path)) as store:
        for number in range(1500):
            store.put_schedule(ROW, ScheduleRun(number, number, ScheduleStatus.FAILED, "why" * 100))
            sizes.append(sum(path.stat().st_size for path in tmp_path.rglob("*-wal")))
    assert max(sizes) < 2_000_000


def test_what_is_not_there_is_empty_to_a_reader(tmp_path: Path) -> None:
    with contextlib.closing(SqliteEngine().open_schedules(tmp_path, read_only=True)) as store:
        assert store.get_schedule("nightly") is None
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    folder = tmp_path / "schedules"
    folder.mkdir()
    (folder / "schedules.sqlite").write_bytes(b"nothing of SQLite" * 500)
    for read_only in (False, True):
        with pytest.raises(StateDamagedError, match=r"sqlite is damaged \(.*\); the next schedule runner"):
            SqliteEngine().open_schedules(tmp_path, read_only=read_only)
    with contextlib.closing(SqliteEngine().open_schedules(tmp_path, renew=True)) as store:
        assert "set aside" in store.renewed
        assert store.get_schedule("nightly") is None
