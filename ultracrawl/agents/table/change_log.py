"""The change log of a table: reads the keys of changed rows, and deletes processed ones (Ultra Search 2.2).

Triggers insert the keys of changed rows with the mark `F`. A listing updates all these, and those with unknown marks,
to the mark of its generation (`A` and `B` alternate) and reads them; rows that change meanwhile get a new log row
marked `F`. The token of a listing names its generation; its log rows are deleted once all its documents are in the
index. So a crawl killed at any time finds them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ultracrawl.agents.table.database import Database
from ultracrawl.agents.table.shape import rows_after, table_clause

FRESH_MARK = "F"
_GENERATIONS = ("A", "B")
MARK_COLUMN = "mark"


def key_columns(count: int) -> list[str]:
    """Return the names of the log columns for a key of `count` columns."""
    return [f"k{number + 1}" for number in range(count)]


class ChangeLog:
    """The change log of one source; its methods raise `WorkError` on database errors."""

    def __init__(self, name: str, key_size: int, database: Database) -> None:
        self._database = database
        self._columns: list[sa.ColumnClause[Any]] = [sa.column(column) for column in key_columns(key_size)]
        self._mark: sa.ColumnClause[Any] = sa.column(MARK_COLUMN)
        table = table_clause(name)
        self._table = sa.table(table.name, *self._columns, self._mark, schema=table.schema)

    def start_generation(self, since: str) -> int:
        """Mark the new log rows for the listing that follows `since`; if that is empty, mark all rows.

        Rows with other marks than `F`, `A` and `B` are new ones too; returns their number.
        """
        is_unknown = sa.or_(self._mark.is_(None), self._mark.not_in((FRESH_MARK, *_GENERATIONS)))
        with self._database.writable_connection() as connection:
            number = sa.select(sa.func.count()).select_from(self._table).where(is_unknown)
            unknown = connection.execute(number).scalar_one()
            update = sa.update(self._table).values({MARK_COLUMN: self.token_after(since)})
            is_new = sa.or_(self._mark == FRESH_MARK, is_unknown)
            connection.execute(update.where(is_new) if since else update)
        return int(unknown)

    @staticmethod
    def token_after(since: str) -> str:
        """Return the token of the listing that follows another one."""
        return _GENERATIONS[1] if since == _GENERATIONS[0] else _GENERATIONS[0]

    def read_keys(
        self, connection: Connection, since: str, after: Sequence[str], limit: int
    ) -> list[tuple[str, ...]]:
        """Return distinct keys of the listing that follows `since`, in order, starting after a key."""
        is_marked = self._mark == self.token_after(since)
        has_key = (column.is_not(None) for column in self._columns)
        keys = sa.select(*self._columns).distinct().where(is_marked, *has_key)
        keys = keys.where(rows_after(self._columns, after)) if after else keys
        return [tuple(row) for row in connection.execute(keys.order_by(*self._columns).limit(limit))]

    def names_no_key(self, connection: Connection, since: str) -> bool:
        """Return whether the listing that follows `since` has log rows that lack a value of the key."""
        lacks_value = sa.or_(*(column.is_(None) for column in self._columns))
        rows = sa.select(sa.literal(1)).select_from(self._table)
        marked = self._mark == self.token_after(since)
        return connection.execute(rows.where(marked, lacks_value).limit(1)).first() is not None

    def check_columns(self, connection: Connection) -> None:
        """Check that the log exists and has its columns."""
        connection.execute(sa.select(*self._columns, self._mark).select_from(self._table).limit(1))

    def confirm(self, token: str) -> None:
        """Delete the log rows of a listing whose documents are in the index."""
        with self._database.writable_connection() as connection:
            connection.execute(sa.delete(self._table).where(self._mark == token))
