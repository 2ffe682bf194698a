"""The schedules of a project on SQLite: what each does, its history, and orders."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from ultracrawl.model import ScheduleStatus
from ultracrawl.stores.port.schedule_store import KeptSchedule, ScheduleCommand, ScheduleOrder, ScheduleRun
from ultracrawl.stores.sqlite.database import transaction, translated
from ultracrawl.stores.sqlite.shared.tables import SharedTables, open_tables

KEPT_RUNS = 100
"""Runs of a schedule that its history has."""
_ROW = "status, error, due, begun, ended, log, left"
_RUN = "begun, ended, status, error, log, sources"
_GET = f"SELECT {_ROW} FROM schedule WHERE name=?"  # noqa: S608 - constant column names
_PUT = f"INSERT OR REPLACE INTO schedule (name, {_ROW}) VALUES (?,?,?,?,?,?,?,?)"  # noqa: S608 - as above
_RUNS = f"SELECT {_RUN} FROM run WHERE schedule=? ORDER BY number DESC LIMIT ?"  # noqa: S608 - as above
_PUT_RUN = f"INSERT INTO run (schedule, {_RUN}) VALUES (?,?,?,?,?,?,?)"  # noqa: S608 - as above
_FORGET_RUNS = """
    DELETE FROM run WHERE schedule=?1 AND number <=
    (SELECT number FROM run WHERE schedule=?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)"""

SCHEDULES = SharedTables(
    what="the schedules of the project",
    remedy="the next runner of schedules makes it anew; which were disabled, stopped or paused is forgotten",
    lost="schedules that were disabled, stopped or paused are so no more",
    version=1,
    tables=(
        """
        CREATE TABLE schedule (
            name TEXT PRIMARY KEY,
            status TEXT NOT NULL,
            error TEXT NOT NULL,
            due REAL,
            begun REAL NOT NULL,
            ended REAL NOT NULL,
            log TEXT NOT NULL,
            left TEXT NOT NULL
        ) WITHOUT ROWID""",
        """
        CREATE TABLE run (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            schedule TEXT NOT NULL,
            begun REAL NOT NULL,
            ended REAL NOT NULL,
            status TEXT NOT NULL,
            error TEXT NOT NULL,
            log TEXT NOT NULL,
            sources TEXT NOT NULL
        )""",
        "CREATE INDEX run_of_schedule ON run (schedule, number)",
        "CREATE TABLE paused (source TEXT PRIMARY KEY) WITHOUT ROWID",
        """
        CREATE TABLE command (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL,
            of_source INTEGER NOT NULL,
            command TEXT NOT NULL,
            at REAL NOT NULL
        )""",
    ),
    every_table="SELECT left, sources, source, of_source FROM schedule, run, paused, command LIMIT 0",
)


class SqliteScheduleStore:
    """The schedules of a project in one SQLite file in WAL mode, or in memory; see `ScheduleStore`."""

    def __init__(self, path: Path | str, *, read_only: bool = False, renew: bool = False) -> None:
        """With `renew`, a file that is damaged is set aside, and a new one begun (`renewed` says so)."""
        self._db, self.renewed = open_tables(SCHEDULES, path, read_only=read_only, renew=renew)
        self._translated = translated(self._db, SCHEDULES.remedy)

    def get_schedule(self, name: str) -> KeptSchedule | None:
        """Return a schedule."""
        for status, error, due, begun, ended, log, left in self._read(_GET, name):
            kept = json.loads(left)
            return KeptSchedule(name, ScheduleStatus(status), error, due, begun, ended, log, tuple(kept))
        return None

    def put_schedule(self, schedule: KeptSchedule, run: ScheduleRun | None = None) -> None:
        """Keep a schedule, and a run that has ended."""
        one = schedule
        row = (one.name, one.status.value, one.error, one.due, one.begun, one.ended, one.log)
        with self._translated, transaction(self._db):
            self._db.execute(_PUT, (*row, json.dumps(one.left)))
            if run is not None:
                ended = (run.begun, run.ended, run.status.value, run.error, run.log)
                self._db.execute(_PUT_RUN, (one.name, *ended, json.dumps(dict(run.sources))))
                self._db.execute(_FORGET_RUNS, (one.name, KEPT_RUNS))

    def runs(self, name: str, limit: int) -> list[ScheduleRun]:
        """Return the latest runs of a schedule."""
        return [
            ScheduleRun(begun, ended, ScheduleStatus(status), error, log, json.loads(sources))
            for begun, ended, status, error, log, sources in self._read(_RUNS, name, limit)
        ]

    def paused_sources(self) -> frozenset[str]:
        """Return the sources that are not begun."""
        return frozenset(source for (source,) in self._read("SELECT source FROM paused"))

    def set_paused(self, source: str, *, paused: bool) -> None:
        """Remember whether a source is not to be begun."""
        add = "INSERT OR IGNORE INTO paused (source) VALUES (?)"
        self._read(add if paused else "DELETE FROM paused WHERE source=?", source)

    def leave_order(self, order: ScheduleOrder, at: float) -> None:
        """Leave an order."""
        values = (order.name, order.of_source, order.command.value, at)
        self._read("INSERT INTO command (name, of_source, command, at) VALUES (?,?,?,?)", *values)

    def has_order(self, order: ScheduleOrder) -> bool:
        """Return whether an order waits."""
        query = "SELECT 1 FROM command WHERE name=? AND of_source=? AND command=?"
        return bool(self._read(query, order.name, order.of_source, order.command.value))

    def take_orders(
        self, schedules: Collection[str], sources: Collection[str], *, since: float
    ) -> list[ScheduleOrder]:
        """Return the orders for these, and forget them and older ones."""
        wanted = {(name, 0) for name in schedules} | {(name, 1) for name in sources}
        found = self._read("SELECT number, name, of_source, command, at FROM command ORDER BY number")
        ours = [row for row in found if row[1:3] in wanted or row[4] < since]
        if ours:
            with self._translated, transaction(self._db):
                self._db.executemany("DELETE FROM command WHERE number=?", [row[:1] for row in ours])
        return [
            ScheduleOrder(name, ScheduleCommand(one), bool(of_source))
            for _, name, of_source, one, at in ours
            if at >= since
        ]

    def close(self) -> None:
        """Release the store."""
        self._db.close()

    def _read(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._translated:
            return self._db.execute(query, values).fetchall()
