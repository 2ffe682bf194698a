"""The schedule store on SQLite: status, history, paused sources, orders."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from ultracrawl.model import ScheduleStatus
from ultracrawl.stores.port.schedule_store import (
    KeptSchedule,
    ScheduleCommand,
    ScheduleOrder,
    ScheduleRun,
    own_key,
)
from ultracrawl.stores.port.texts import storable
from ultracrawl.stores.sqlite.database import transaction, translated
from ultracrawl.stores.sqlite.shared.tables import SharedDatabase, open_tables

KEPT_RUNS = 100
"""Number of runs in the history of a schedule."""
_SCHEDULE_COLUMNS = "status, error, due, begun, ended, log, left"
_RUN_COLUMNS = "begun, ended, status, error, log, sources"
_GET = f"SELECT {_SCHEDULE_COLUMNS} FROM schedule WHERE name=?"  # noqa: S608 - constant column names
_PUT = f"INSERT OR REPLACE INTO schedule (name, {_SCHEDULE_COLUMNS}) VALUES (?,?,?,?,?,?,?,?)"  # noqa: S608 - as above
_GET_RUNS = f"SELECT {_RUN_COLUMNS} FROM run WHERE schedule=? ORDER BY number DESC LIMIT ?"  # noqa: S608 - as above
_PUT_RUN = f"INSERT INTO run (schedule, {_RUN_COLUMNS}) VALUES (?,?,?,?,?,?,?)"  # noqa: S608 - as above
_DELETE_OLD_RUNS = """
    DELETE FROM run WHERE schedule=?1 AND number <=
    (SELECT number FROM run WHERE schedule=?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)"""

SCHEDULES = SharedDatabase(
    what="the schedules of the project",
    remedy=(
        "the next schedule runner creates it again; "
        "schedules that were disabled, stopped or paused are enabled again"
    ),
    lost="schedules that were disabled, stopped or paused are enabled again",
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
        """With `renew`, a damaged file is set aside and a new one created; `renewed` then has a message."""
        self._db, self.renewed = open_tables(SCHEDULES, path, read_only=read_only, renew=renew)
        self._translated = translated(self._db, SCHEDULES.remedy)

    def get_schedule(self, name: str) -> KeptSchedule | None:
        """Return the status of a schedule, None if it was never stored."""
        for status, error, due, begun, ended, log, left in self._read(_GET, name):
            sources = json.loads(left)
            return KeptSchedule(name, ScheduleStatus(status), error, due, begun, ended, log, tuple(sources))
        return None

    def put_schedule(self, schedule: KeptSchedule, run: ScheduleRun | None = None) -> None:
        """Replace the stored status of a schedule, and add a finished run to its history."""
        s = schedule
        row = (s.name, s.status.value, storable(s.error), s.due, s.begun, s.ended, s.log, json.dumps(s.left))
        with self._translated, transaction(self._db):
            self._db.execute(_PUT, row)
            if run is not None:
                ended = (run.begun, run.ended, run.status.value, storable(run.error), run.log)
                self._db.execute(_PUT_RUN, (s.name, *ended, json.dumps(dict(run.sources))))
                self._db.execute(_DELETE_OLD_RUNS, (s.name, KEPT_RUNS))

    def runs(self, name: str, limit: int) -> list[ScheduleRun]:
        """Return the latest runs of a schedule."""
        return [
            ScheduleRun(begun, ended, ScheduleStatus(status), error, log, json.loads(sources))
            for begun, ended, status, error, log, sources in self._read(_GET_RUNS, name, limit)
        ]

    def paused_sources(self) -> frozenset[str]:
        """Return the paused sources."""
        return frozenset(source for (source,) in self._read("SELECT source FROM paused"))

    def set_paused(self, source: str, *, paused: bool) -> None:
        """Store whether a source is paused."""
        insert = "INSERT OR IGNORE INTO paused (source) VALUES (?)"
        self._read(insert if paused else "DELETE FROM paused WHERE source=?", source)

    def rename_source(self, source: str, new: str = "") -> None:
        """Give everything that is stored of a source another name, or delete it."""
        own, other = own_key(source), own_key(new)
        rows = self._read("SELECT name, left FROM schedule")
        runs = self._read("SELECT number, sources FROM run") if new else []
        with self._translated, transaction(self._db):
            run = self._db.execute
            run("DELETE FROM schedule WHERE name=?", (other,))
            if new:
                run("INSERT OR IGNORE INTO paused SELECT ? FROM paused WHERE source=?", (new, source))
                run("UPDATE schedule SET name=? WHERE name=?", (other, own))
                run("UPDATE run SET schedule=? WHERE schedule=?", (other, own))
                run("UPDATE command SET name=? WHERE of_source AND name=?", (new, source))
            run("DELETE FROM schedule WHERE name=?", (own,))
            run("DELETE FROM run WHERE schedule=?", (own,))
            run("DELETE FROM paused WHERE source=?", (source,))
            run("DELETE FROM command WHERE of_source AND name=?", (source,))
            for name, left in rows:
                names = [new if one == source else one for one in json.loads(left)]
                row = (json.dumps(list(dict.fromkeys(filter(None, names)))), other if name == own else name)
                run("UPDATE schedule SET left=? WHERE name=?", row)
            for number, kept in runs:
                sources = {new if one == source else one: error for one, error in json.loads(kept).items()}
                run("UPDATE run SET sources=? WHERE number=?", (json.dumps(sources), number))

    def leave_order(self, order: ScheduleOrder, at: float) -> None:
        """Store an order."""
        values = (order.name, order.of_source, order.command.value, at)
        self._read("INSERT INTO command (name, of_source, command, at) VALUES (?,?,?,?)", *values)

    def has_order(self, order: ScheduleOrder) -> bool:
        """Return whether an order is stored and not taken yet."""
        query = "SELECT 1 FROM command WHERE name=? AND of_source=? AND command=?"
        return bool(self._read(query, order.name, order.of_source, order.command.value))

    def take_orders(
        self, schedules: Collection[str], sources: Collection[str], *, since: float
    ) -> list[ScheduleOrder]:
        """Return and delete the orders for these; orders older than `since` are deleted unread."""
        wanted = {(name, 0) for name in schedules} | {(name, 1) for name in sources}
        rows = self._read("SELECT number, name, of_source, command, at FROM command ORDER BY number")
        taken = [row for row in rows if row[1:3] in wanted or row[4] < since]
        if taken:
            with self._translated, transaction(self._db):
                self._db.executemany("DELETE FROM command WHERE number=?", [row[:1] for row in taken])
        return [
            ScheduleOrder(name, ScheduleCommand(command), bool(of_source))
            for _, name, of_source, command, at in taken
            if at >= since
        ]

    def close(self) -> None:
        """Release the store."""
        self._db.close()

    def _read(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._translated:
            return self._db.execute(query, values).fetchall()
