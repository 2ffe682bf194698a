"""Lists the rows of a source: all of them, to be compared, or those that a log of changes names."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ultracrawl.agents.port import Batch, Complete, Entry, KindSetup, Listed, Lister, Partial
from ultracrawl.agents.table.change_log import ChangeLog
from ultracrawl.agents.table.database import Database, database_url
from ultracrawl.agents.table.rows import Row, RowReader
from ultracrawl.agents.table.section import TableSection, ValueListSection
from ultracrawl.agents.table.shape import Relation, read_relation
from ultracrawl.errors import WorkError
from ultracrawl.rules.attributes.schema import ListedValue, ValueList

logger = logging.getLogger(__name__)

BATCH = 500
"""Rows of a batch, and keys of a statement."""
DOCUMENTS_BATCH = 25
"""The same where rows hold documents in bytes, which may be large."""


class TableLister(Lister):
    """The lister of a source of the type `table`."""

    def __init__(self, setup: KindSetup[TableSection]) -> None:
        self._setup = setup
        self._options = setup.options
        self._database = Database(database_url(setup.options, setup.secrets, setup.base))
        log = self._options.changes.log
        self._log = ChangeLog(log, len(self._options.key), self._database) if log else None

    def check_connection(self) -> None:
        """Connect, and see that all columns that the definition names are there."""
        with self._database.reading() as connection:
            self._reader(connection)
            if self._log is not None:
                self._log.check_columns(connection)
            for name, one in self._options.value_lists.items():
                next(self._values(connection, name, one), None)

    def _reader(self, connection: Connection) -> RowReader:
        reader = RowReader(connection, self._setup.source, self._options)
        made = self._setup.source.extract.keys() | {name.lower() for name in self._setup.source.extract}
        unknown = [one for one in reader.unknown_attributes() if one not in made]
        if unknown and not self._options.media_type:
            logger.warning("attributes: no column, and no list, is called %s", ", ".join(unknown))
        return reader

    def list_entries(self, since: str, cursor: str) -> Iterator[Listed]:
        """Yield entries with validators; what they hold is read by the fetcher."""
        try:
            with self._database.reading() as connection:
                yield from self._listing(connection, since, json.loads(cursor) if cursor else [])
        except WorkError as error:
            yield Partial(str(error))

    def _listing(self, connection: Connection, since: str, behind: Sequence[str]) -> Iterator[Listed]:
        reader = self._reader(connection)
        if self._log is None:
            yield from self._all_rows(connection, reader, behind)
            yield Complete()
            return
        basis = f"{reader.digest} {self._options.changes.log}"
        generation, _, noted = since.partition(" ")
        if noted != basis:
            generation = ""
        if not behind:
            self._log.begin(generation)
            connection.rollback()  # what a transaction has begun to read may stay as it was before
        if generation:
            yield from self._changes(connection, reader, self._log, generation, behind)
        else:
            yield from self._all_rows(connection, reader, behind)
        yield Complete(f"{self._log.token_after(generation)} {basis}", changes_only=bool(generation))

    def _all_rows(self, connection: Connection, reader: RowReader, behind: Sequence[str]) -> Iterator[Batch]:
        names = reader.listed
        size = DOCUMENTS_BATCH if self._options.media_type and self._options.changes.column is None else BATCH
        last = tuple(behind)
        for part in self._parts(reader, names, last, size):
            batch = self._batch(reader, [dict(zip(names, row, strict=True)) for row in part], last)
            last = tuple(json.loads(batch.cursor))
            yield batch

    def _parts(
        self, reader: RowReader, names: Sequence[str], behind: Sequence[str], size: int
    ) -> Iterator[Sequence[Sequence[Any]]]:
        """Yield rows from behind a key on: by a cursor of the server, or page by page, which locks nobody out."""
        rows, key = reader.select(names).order_by(*reader.keys.columns), reader.keys.values_of(behind)
        with self._database.reading() as connection:
            while True:
                wanted = rows.where(reader.keys.behind(key)) if behind and key else rows
                if self._database.streams:
                    options = {"stream_results": True, "yield_per": size}
                    with closing(connection.execution_options(**options).execute(wanted)) as found:
                        yield from found.partitions(size)
                    return
                page = connection.execute(wanted.limit(size)).all()
                if not page:
                    return
                yield page
                behind = key = page[-1][: len(self._options.key)]

    def _batch(self, reader: RowReader, rows: Sequence[Row], last: tuple[str, ...]) -> Batch:
        repeated = reader.repeated_of(rows) if self._options.changes.column is None else {}
        entries = []
        for row in rows:
            key = reader.key_of(row)
            if key == last:
                raise WorkError(
                    f"key: two rows have the key {', '.join(key)}; name columns that tell all apart"
                )
            last = key
            entries.append(reader.listed_entry(row, repeated.get(key, {})))
        return Batch(entries, cursor=json.dumps(last))

    def _changes(
        self, connection: Connection, reader: RowReader, log: ChangeLog, since: str, behind: Sequence[str]
    ) -> Iterator[Batch]:
        for keys in log.read(connection, since, behind, BATCH):
            yield Batch(self._changed(reader, keys), cursor=json.dumps(keys[-1]))

    @staticmethod
    def _changed(reader: RowReader, keys: Sequence[tuple[str, ...]]) -> list[Entry]:
        rows = reader.rows_of(keys)
        repeated = reader.repeated_of(list(rows.values()))
        entries = {}
        for written in keys:
            key = reader.keys.canonical(written)
            entries[key] = (
                reader.listed_entry(rows[key], repeated.get(key, {}))
                if key in rows
                else Entry(reader.keys.url_of(key), deleted=True)
            )
        return list(entries.values())

    def confirm(self, token: str) -> None:
        """Remove what the log of changes had for a listing."""
        if self._log is not None and token:
            self._log.confirm(token.partition(" ")[0])

    def value_lists(self) -> Sequence[ValueList]:
        """Read the lists of values."""
        if not self._options.value_lists:
            return ()
        with self._database.reading() as connection:
            return [
                ValueList(name, tuple(self._values(connection, name, one)))
                for name, one in self._options.value_lists.items()
            ]

    def _values(self, connection: Connection, name: str, written: ValueListSection) -> Iterator[ListedValue]:
        for row in connection.execute(self._values_statement(connection, name, written)):
            value, display = row[0], row[-1] if len(row) > 1 else None
            if value is not None:
                yield ListedValue(str(value), {} if display is None else {"": str(display)})

    def _values_statement(
        self, connection: Connection, name: str, written: ValueListSection
    ) -> sa.Select[tuple[object, ...]]:
        place = f"value_lists.{name}"
        relation: Relation = (
            read_relation(connection, self._options.table, self._options.select)
            if written.column
            else read_relation(connection, written.table, written.select)
        )
        if written.column:
            wanted = [relation.column(written.column, f"{place}.column")]
        elif written.table:
            wanted = [relation.column(one, place) for one in (written.value, written.display) if one]
        else:
            wanted = list(relation.columns.values())[:2]
        return sa.select(*wanted).select_from(relation.origin).distinct().order_by(*wanted)

    def close(self) -> None:
        """Close the connections."""
        self._database.close()
