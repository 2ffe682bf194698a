"""Runs as rows of SQLite, and which URLs a new run forgets."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ultracrawl.stores.port.store import RunMark

if TYPE_CHECKING:
    import sqlite3

Read = Callable[..., list[tuple[Any, ...]]]
"""Runs a query with its values and returns the rows."""

GONE_RUNS = 3
"""A URL that nothing links to any more is forgotten when it was gone in this many runs in a row."""

ADD_RUN = "INSERT INTO run (number, started, scope, cycle, minor, due, mode) VALUES (?,?,?,?,?,?,?)"
END_RUN = "UPDATE run SET finished=?, report=?, scope=?, deleted=? WHERE number=?"


def latest_runs(read: Read, limit: int) -> list[RunMark]:
    """Return the latest runs, newest first."""
    rows = read(
        "SELECT number, started, finished, scope, report, cycle, minor, due, mode, deleted FROM run "
        "ORDER BY number DESC LIMIT ?",
        limit,
    )
    return [RunMark(*row) for row in rows]


def forgettable(db: sqlite3.Connection) -> set[int]:
    """Return the keys of URLs that were gone several times in a row and that no known page links to."""
    rows = db.execute("SELECT key FROM url WHERE outcome='GONE' AND failures>=? AND leaving=''", (GONE_RUNS,))
    gone = {key for (key,) in rows}
    if gone:
        for (links,) in db.execute("SELECT links FROM url WHERE outcome<>'GONE' AND links<>x''"):
            gone.difference_update(array("q", links))
    return gone
