"""The schedule store: status, history, paused sources, orders."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from ultracrawl.model import ScheduleStatus
from ultracrawl.stores.port.schedule_store import (
    KeptSchedule,
    ScheduleCommand,
    ScheduleOrder,
    ScheduleRun,
    own_key,
)

if TYPE_CHECKING:
    from ultracrawl.stores.shared.tables import Row, SharedTables, Statements

KEPT_RUNS = 100
"""Number of runs in the history of a schedule."""
SELECT_SCHEDULES = "SELECT name, status, error, due, begun, ended, log, unfinished FROM schedule"
"""Rows for `kept_schedule`."""
_PUT = """
    INSERT INTO schedule (name, status, error, due, begun, ended, log, unfinished)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (name) DO UPDATE SET status = excluded.status,
    error = excluded.error, due = excluded.due, begun = excluded.begun, ended = excluded.ended, log = excluded.log,
    unfinished = excluded.unfinished"""
_GET_RUNS = """
    SELECT begun, ended, status, error, log, sources FROM schedule_run WHERE schedule = %s
    ORDER BY number DESC LIMIT %s"""
_HAS_RUN = "SELECT 1 FROM schedule_run WHERE schedule = %s AND begun = %s AND ended = %s"
_PUT_RUN = """
    INSERT INTO schedule_run (schedule, begun, ended, status, error, log, sources)
    VALUES (%s, %s, %s, %s, %s, %s, %s)"""
_DELETE_OLD_RUNS = """
    DELETE FROM schedule_run WHERE schedule = %s AND number <= (
        SELECT number FROM schedule_run WHERE schedule = %s ORDER BY number DESC LIMIT 1 OFFSET %s)"""
_GET_ORDERS = """
    SELECT number, name, of_source, command, at FROM command
    WHERE at < %s OR NOT of_source AND name = ANY(%s) OR of_source AND name = ANY(%s) ORDER BY number"""


class SqlScheduleStore:
    """The schedules of a project; see `ScheduleStore`."""

    def __init__(self, tables: SharedTables) -> None:
        self._tables = tables
        self.renewed = tables.renewed
        self._taken: dict[int, Row] = {}
        """Orders that were read and may be deleted, but were not returned yet."""

    def get_schedule(self, name: str) -> KeptSchedule | None:
        """Return the status of a schedule, None if it was never stored."""
        rows = self._tables.read(f"{SELECT_SCHEDULES} WHERE name = %s", name)
        return kept_schedule(rows[0]) if rows else None

    def put_schedule(self, schedule: KeptSchedule, run: ScheduleRun | None = None) -> None:
        """Replace the stored status of a schedule, and add a finished run to its history."""
        s = schedule
        row = (s.name, s.status.value, s.error, s.due, s.begun, s.ended, s.log, json.dumps(s.left))

        def put_rows(db: Statements) -> None:
            if self._may_put(db, s.name):
                db.run(_PUT, *row)
                if run is not None:
                    _put_run(db, s.name, run)

        self._tables.transact(put_rows)

    def _may_put(self, db: Statements, name: str) -> bool:
        """Return, in the transaction that writes it, whether the status of a schedule is written."""
        return True

    def runs(self, name: str, limit: int) -> list[ScheduleRun]:
        """Return the latest runs of a schedule."""
        return [
            ScheduleRun(begun, ended, ScheduleStatus(status), error, log, json.loads(sources))
            for begun, ended, status, error, log, sources in self._tables.read(_GET_RUNS, name, limit)
        ]

    def paused_sources(self) -> frozenset[str]:
        """Return the paused sources."""
        return frozenset(source for (source,) in self._tables.read("SELECT source FROM paused"))

    def set_paused(self, source: str, *, paused: bool) -> None:
        """Store whether a source is paused."""
        insert = "INSERT INTO paused (source) VALUES (%s) ON CONFLICT DO NOTHING"
        self._tables.read(insert if paused else "DELETE FROM paused WHERE source = %s", source)

    def rename_source(self, source: str, new: str = "") -> None:
        """Give everything that is stored of a source another name, or delete it."""
        self._tables.transact(lambda db: _rename_source(db, source, new))

    def leave_order(self, order: ScheduleOrder, at: float) -> None:
        """Store an order."""
        insert = "INSERT INTO command (name, of_source, command, at) VALUES (%s, %s, %s, %s)"
        values = (order.name, order.of_source, order.command.value, at)
        self._tables.transact(lambda db: db.run(insert, *values))

    def has_order(self, order: ScheduleOrder) -> bool:
        """Return whether an order is stored and not taken yet."""
        query = "SELECT 1 FROM command WHERE name = %s AND of_source = %s AND command = %s LIMIT 1"
        return bool(self._tables.read(query, order.name, order.of_source, order.command.value))

    def take_orders(
        self, schedules: Collection[str], sources: Collection[str], *, since: float
    ) -> list[ScheduleOrder]:
        """Return and delete the orders for these; orders older than `since` are deleted unread."""
        # Read before they are deleted: if the answer to the deletion is lost, the orders are known here.
        found = self._tables.read(_GET_ORDERS, since, list(schedules), list(sources))
        self._taken.update((row[0], row) for row in found)
        if found:
            self._tables.read("DELETE FROM command WHERE number = ANY(%s)", [row[0] for row in found])
        taken, self._taken = self._taken, {}
        return [
            ScheduleOrder(name, ScheduleCommand(command), bool(of_source))
            for _, (_, name, of_source, command, at) in sorted(taken.items())
            if at >= since
        ]

    def close(self) -> None:
        """Release the store."""
        self._tables.close()


def kept_schedule(row: Row) -> KeptSchedule:
    """Return the status of a schedule by its row of `SELECT_SCHEDULES`."""
    name, status, error, due, begun, ended, log, left = row
    return KeptSchedule(name, ScheduleStatus(status), error, due, begun, ended, log, tuple(json.loads(left)))


def _put_run(db: Statements, name: str, run: ScheduleRun) -> None:
    """Add a run to the history, unless it was added before and the answer was lost."""
    if not db.rows(_HAS_RUN, name, run.begun, run.ended):
        told = (run.status.value, run.error, run.log, json.dumps(dict(run.sources)))
        db.run(_PUT_RUN, name, run.begun, run.ended, *told)
        db.run(_DELETE_OLD_RUNS, name, name, KEPT_RUNS)


def _rename_source(db: Statements, source: str, new: str) -> None:
    own, other = own_key(source), own_key(new)
    rows = db.rows("SELECT name, unfinished FROM schedule ORDER BY name FOR UPDATE")
    if any(name == own for name, _ in rows):  # else this was done before, and the answer was lost
        db.run("DELETE FROM schedule WHERE name = %s", other)
    if new:
        db.run(
            "INSERT INTO paused SELECT %s FROM paused WHERE source = %s ON CONFLICT DO NOTHING", new, source
        )
        db.run("UPDATE schedule SET name = %s WHERE name = %s", other, own)
        db.run("UPDATE schedule_run SET schedule = %s WHERE schedule = %s", other, own)
        db.run("UPDATE command SET name = %s WHERE of_source AND name = %s", new, source)
        for number, kept in db.rows("SELECT number, sources FROM schedule_run ORDER BY number"):
            ended = {new if one == source else one: error for one, error in json.loads(kept).items()}
            db.run("UPDATE schedule_run SET sources = %s WHERE number = %s", json.dumps(ended), number)
    db.run("DELETE FROM schedule WHERE name = %s", own)
    db.run("DELETE FROM schedule_run WHERE schedule = %s", own)
    db.run("DELETE FROM paused WHERE source = %s", source)
    db.run("DELETE FROM command WHERE of_source AND name = %s", source)
    for name, left in rows:
        kept = json.dumps(_replaced(json.loads(left), source, new))
        db.run("UPDATE schedule SET unfinished = %s WHERE name = %s", kept, other if name == own else name)


def _replaced(names: Iterable[str], source: str, new: str) -> list[str]:
    """Return names with another one for a source, or without it."""
    return list(dict.fromkeys(filter(None, (new if one == source else one for one in names))))
