"""The schedule store: status, history, paused sources, orders."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection

import psycopg

from ultracrawl.model import ScheduleStatus
from ultracrawl.stores.port.schedule_store import (
    KeptSchedule,
    ScheduleCommand,
    ScheduleOrder,
    ScheduleRun,
    own_key,
)
from ultracrawl.stores.postgresql.access.database import Database, Row

KEPT_RUNS = 100
"""Number of runs in the history of a schedule."""
_GET = b"SELECT name, status, error, due, begun, ended, log, unfinished FROM schedule WHERE name = %s"
_PUT = b"""
    INSERT INTO schedule (name, status, error, due, begun, ended, log, unfinished)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (name) DO UPDATE SET status = excluded.status,
    error = excluded.error, due = excluded.due, begun = excluded.begun, ended = excluded.ended, log = excluded.log,
    unfinished = excluded.unfinished"""
_GET_RUNS = b"""
    SELECT begun, ended, status, error, log, sources FROM schedule_run WHERE schedule = %s
    ORDER BY number DESC LIMIT %s"""
_PUT_RUN = b"""
    INSERT INTO schedule_run (schedule, begun, ended, status, error, log, sources)
    SELECT %(name)s, %(begun)s, %(ended)s, %(status)s, %(error)s, %(log)s, %(sources)s
    WHERE NOT EXISTS (SELECT FROM schedule_run WHERE schedule = %(name)s AND begun = %(begun)s AND ended = %(ended)s)"""
_DELETE_OLD_RUNS = b"""
    DELETE FROM schedule_run WHERE schedule = %s AND number <= (
        SELECT number FROM schedule_run WHERE schedule = %s ORDER BY number DESC LIMIT 1 OFFSET %s)"""
_GET_ORDERS = b"""
    SELECT number, name, of_source, command, at FROM command
    WHERE at < %s OR NOT of_source AND name = ANY(%s) OR of_source AND name = ANY(%s) ORDER BY number"""


class PostgresScheduleStore:
    """The schedules of a project; see `ScheduleStore`."""

    renewed = ""
    """PostgreSQL repairs itself: nothing is ever set aside."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._taken: dict[int, Row] = {}
        """Orders that were read and may be deleted, but were not returned yet."""

    def get_schedule(self, name: str) -> KeptSchedule | None:
        """Return the status of a schedule, None if it was never stored."""
        return next(map(kept_schedule, self._database.read(_GET, name)), None)

    def put_schedule(self, schedule: KeptSchedule, run: ScheduleRun | None = None) -> None:
        """Replace the stored status of a schedule, and add a finished run to its history."""
        self._put_schedule(schedule, run, lambda _db, _key: True)

    def _put_schedule(
        self, schedule: KeptSchedule, run: ScheduleRun | None, may: Callable[[psycopg.Connection, str], bool]
    ) -> None:
        """Write a status and a run, if `may` says so in the same transaction."""
        s = schedule

        def put_rows(db: psycopg.Connection) -> None:
            if not may(db, s.name):
                return
            row = (s.name, s.status.value, s.error, s.due, s.begun, s.ended, s.log, json.dumps(s.left))
            db.execute(_PUT, row)
            if run is not None:
                ended = {"name": s.name, "begun": run.begun, "ended": run.ended, "status": run.status.value}
                told = {"error": run.error, "log": run.log, "sources": json.dumps(dict(run.sources))}
                db.execute(_PUT_RUN, ended | told)
                db.execute(_DELETE_OLD_RUNS, [s.name, s.name, KEPT_RUNS])

        self._database.transact(put_rows)

    def runs(self, name: str, limit: int) -> list[ScheduleRun]:
        """Return the latest runs of a schedule."""
        return [
            ScheduleRun(begun, ended, ScheduleStatus(status), error, log, json.loads(sources))
            for begun, ended, status, error, log, sources in self._database.read(_GET_RUNS, name, limit)
        ]

    def paused_sources(self) -> frozenset[str]:
        """Return the paused sources."""
        return frozenset(source for (source,) in self._database.read(b"SELECT source FROM paused"))

    def set_paused(self, source: str, *, paused: bool) -> None:
        """Store whether a source is paused."""
        insert = b"INSERT INTO paused (source) VALUES (%s) ON CONFLICT DO NOTHING"
        self._database.read(insert if paused else b"DELETE FROM paused WHERE source = %s", source)

    def rename_source(self, source: str, new: str = "") -> None:
        """Give everything that is stored of a source another name, or delete it."""
        self._database.transact(lambda db: _rename_source(db, source, new))

    def leave_order(self, order: ScheduleOrder, at: float) -> None:
        """Store an order."""
        values = (order.name, order.of_source, order.command.value, at)
        query = b"INSERT INTO command (name, of_source, command, at) VALUES (%s, %s, %s, %s)"
        self._database.transact(lambda db: db.execute(query, values))

    def has_order(self, order: ScheduleOrder) -> bool:
        """Return whether an order is stored and not taken yet."""
        query = b"SELECT 1 FROM command WHERE name = %s AND of_source = %s AND command = %s LIMIT 1"
        return bool(self._database.read(query, order.name, order.of_source, order.command.value))

    def take_orders(
        self, schedules: Collection[str], sources: Collection[str], *, since: float
    ) -> list[ScheduleOrder]:
        """Return and delete the orders for these; orders older than `since` are deleted unread."""
        # Read before they are deleted: if the answer to the deletion is lost, the orders are known here.
        found = self._database.read(_GET_ORDERS, since, list(schedules), list(sources))
        self._taken.update((row[0], row) for row in found)
        if found:
            self._database.read(b"DELETE FROM command WHERE number = ANY(%s)", [row[0] for row in found])
        taken, self._taken = self._taken, {}
        return [
            ScheduleOrder(name, ScheduleCommand(command), of_source)
            for _, (_, name, of_source, command, at) in sorted(taken.items())
            if at >= since
        ]

    def close(self) -> None:
        """Release the store."""
        self._database.close()


def kept_schedule(row: Row) -> KeptSchedule:
    """Return the status of a schedule by its row, whose columns are in the order of `_GET`."""
    name, status, error, due, begun, ended, log, left = row
    return KeptSchedule(name, ScheduleStatus(status), error, due, begun, ended, log, tuple(json.loads(left)))


def _rename_source(db: psycopg.Connection, source: str, new: str) -> None:
    own, other = own_key(source), own_key(new)
    rows = db.execute(b"SELECT name, unfinished FROM schedule ORDER BY name FOR UPDATE").fetchall()
    if any(name == own for name, _ in rows):  # else this was done before, and the answer was lost
        db.execute(b"DELETE FROM schedule WHERE name = %s", [other])
    if new:
        runs = db.execute(b"SELECT number, sources FROM schedule_run ORDER BY number").fetchall()
        db.execute(
            b"INSERT INTO paused SELECT %s FROM paused WHERE source = %s ON CONFLICT DO NOTHING",
            [new, source],
        )
        db.execute(b"UPDATE schedule SET name = %s WHERE name = %s", [other, own])
        db.execute(b"UPDATE schedule_run SET schedule = %s WHERE schedule = %s", [other, own])
        db.execute(b"UPDATE command SET name = %s WHERE of_source AND name = %s", [new, source])
        for number, kept in runs:
            sources = {new if one == source else one: error for one, error in json.loads(kept).items()}
            db.execute(
                b"UPDATE schedule_run SET sources = %s WHERE number = %s", [json.dumps(sources), number]
            )
    db.execute(b"DELETE FROM schedule WHERE name = %s", [own])
    db.execute(b"DELETE FROM schedule_run WHERE schedule = %s", [own])
    db.execute(b"DELETE FROM paused WHERE source = %s", [source])
    db.execute(b"DELETE FROM command WHERE of_source AND name = %s", [source])
    for name, left in rows:
        names = [new if one == source else one for one in json.loads(left)]
        kept = json.dumps(list(dict.fromkeys(filter(None, names))))
        db.execute(
            b"UPDATE schedule SET unfinished = %s WHERE name = %s", [kept, other if name == own else name]
        )
