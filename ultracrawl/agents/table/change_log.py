"""The log of changes of a table: which keys it names, and when its rows may go (Ultra Search 2.2).

Triggers write the keys of changed rows into it, with the mark `F`. A listing gives all of them the mark of its own
generation, `A` or `B` in turns, and reads those; what changes meanwhile is marked `F` again. The token of the listing
names the generation: its rows go when all that it brought is in the index, and not before. So a crawl that is killed
anywhere finds them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ultracrawl.agents.table.database import Database
from ultracrawl.agents.table.shape import rows_behind, written_table

FRESH = "F"
_GENERATIONS = ("A", "B")
MARK = "mark"


def key_columns(count: int) -> list[str]:
    """Return the names of the columns that hold a key of so many parts."""
    return [f"k{number + 1}" for number in range(count)]


class ChangeLog:
    """The log of one source."""

    def __init__(self, name: str, count: int, database: Database) -> None:
        self._database = database
        self._columns: list[sa.ColumnClause[Any]] = [sa.column(one) for one in key_columns(count)]
        self._mark: sa.ColumnClause[Any] = sa.column(MARK)
        table = written_table(name)
        self._table = sa.table(table.name, *self._columns, self._mark, schema=table.schema)

    def begin(self, since: str) -> None:
        """Take the changes so far for the listing that begins; without `since` it reads all, whatever they are."""
        with self._database.changing() as connection:
            taken = sa.update(self._table).values({MARK: self.token_after(since)})
            connection.execute(taken.where(self._mark == FRESH) if since else taken)

    @staticmethod
    def token_after(since: str) -> str:
        """Return the token of the listing that follows another one."""
        return _GENERATIONS[1] if since == _GENERATIONS[0] else _GENERATIONS[0]

    def read_keys(
        self, connection: Connection, since: str, behind: Sequence[str], size: int
    ) -> list[tuple[str, ...]]:
        """Return the first keys, each once, of the listing that follows `since`, from behind a key on."""
        marked = self._mark == self.token_after(since)
        keys = (
            sa.select(*self._columns).distinct().where(marked, *(one.is_not(None) for one in self._columns))
        )
        keys = keys.where(rows_behind(self._columns, behind)) if behind else keys
        return [tuple(row) for row in connection.execute(keys.order_by(*self._columns).limit(size))]

    def check_columns(self, connection: Connection) -> None:
        """See that the log is there, with its columns."""
        connection.execute(sa.select(*self._columns, self._mark).select_from(self._table).limit(1))

    def confirm(self, token: str) -> None:
        """Remove the rows of a listing whose documents are in the index."""
        with self._database.changing() as connection:
            connection.execute(sa.delete(self._table).where(self._mark == token))
