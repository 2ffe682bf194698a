"""Where the rows of each kind stand in the tables of a schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ultracrawl.stores.port.transfer import OF_PROJECT
from ultracrawl.stores.postgresql.record_row import COLUMNS, READ_COLUMNS, READ_JOINS
from ultracrawl.stores.rows import PLACES, QueueRow, RevisitRow, Row, UrlRow


class Table(NamedTuple):
    """A table with rows of one kind."""

    name: str
    columns: str
    """Its columns that are written, without source and part."""
    select: str
    """The query of all rows, with the fields of the kind in their order; `{own}` is the source."""


def _plain(kind: type[Row]) -> Table:
    """Return a table whose columns are the fields of a kind."""
    name, columns, key = PLACES[kind].postgresql
    own, names = "WHERE {own}" if PLACES[kind].of_source else "", ", ".join(columns)
    return Table(name, names, f"SELECT {names} FROM {name} {own} ORDER BY {', '.join(key)}")  # noqa: S608 - names of ours


def _read_by(kind: type[Row], select: str) -> Table:
    """Return a table whose rows a query of its own reads."""
    place = PLACES[kind].postgresql
    return Table(place.table, ", ".join(place.columns), select)


TABLES: Mapping[type[Row], Table] = {
    **{kind: _plain(kind) for kind in PLACES},
    UrlRow: Table(
        "url",
        COLUMNS,
        # Without an order: rows stand about as they were discovered, and sorting them would take as much room again.
        f"SELECT u.number, w.name, {READ_COLUMNS} FROM url u JOIN host w ON {{w}} AND w.site = u.site {READ_JOINS}",  # noqa: S608 - constant names
    ),
    RevisitRow: _read_by(
        RevisitRow,
        """
        SELECT r.key, seen, first_at, last_at, checks, changes, quiet, modified, markup, coalesce(changefreq, ''),
        priority, coalesce(told, 0) FROM revisit r JOIN url u ON {u} AND u.key = r.key WHERE {r}""",
    ),
    QueueRow: _read_by(
        QueueRow,
        """
        SELECT w.name, q.level, q.rank, q.depth, q.seq, q.key, q.hops FROM queue q
        JOIN host w ON {w} AND w.site = q.site JOIN url u ON {u} AND u.key = q.key WHERE {q}
        ORDER BY w.name, q.level, q.rank, q.depth, q.seq""",
    ),
}
"""The table of each kind of rows."""
SHARED_TABLES = ("waiting", *(TABLES[kind].name for kind in OF_PROJECT))
"""The tables that sources share, beside that of crawls, whose numbers are never given twice."""
