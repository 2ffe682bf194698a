"""Lists the rows of a source: all of them, to be compared, or those that a log of changes names."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ultracrawl.agents.port import Batch, Complete, Entry, KindSetup, Listed, Lister, Partial
from ultracrawl.agents.table.change_log import ChangeLog
from ultracrawl.agents.table.database import Database, database_url
from ultracrawl.agents.table.rows import Repeated, Row, RowReader
from ultracrawl.agents.table.section import TableSection, ValueListSection
from ultracrawl.agents.table.shape import Relation, read_relation
from ultracrawl.errors import WorkError
from ultracrawl.rules.attributes.schema import ListedValue, ValueList

logger = logging.getLogger(__name__)

BATCH = 500
"""Rows of a batch, and keys of a statement."""
DOCUMENTS_BATCH = 25
"""The same where rows hold documents in bytes, which may be large."""
AHEAD = 20
"""Batches that are read with one statement, but of SQLite: nobody can write there meanwhile."""


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
            reader = self._reader(connection)
            if self._log is not None:
                self._log.check_columns(connection)
                reader.keys.check_logged(self._database.name)
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
        """Yield entries with validators; what they hold is read by the fetcher.

        No transaction is open while the crawl takes a batch, which may last: it would keep the database from clearing
        away what is old, and from changing its tables.
        """
        try:
            yield from self._listing(since, json.loads(cursor) if cursor else [])
        except WorkError as error:
            yield Partial(str(error))

    def _listing(self, since: str, behind: Sequence[str]) -> Iterator[Listed]:
        with self._database.reading() as connection:
            reader = self._reader(connection)
        if self._log is None:
            yield from self._all_rows(reader, behind)
            yield Complete()
            return
        basis = f"{reader.digest} {self._database.place_digest} {self._options.changes.log}"
        reader.keys.check_logged(self._database.name)
        generation, _, noted = since.partition(" ")
        if noted != basis or not reader.relation.sample:  # of an empty table it is not known what keys are
            generation = ""
        if not behind:
            self._log.begin(generation)
        if generation:
            yield from self._changes(reader, self._log, generation, behind)
        else:
            yield from self._all_rows(reader, behind)
        yield Complete(f"{self._log.token_after(generation)} {basis}", changes_only=bool(generation))

    # ---- all rows

    def _all_rows(self, reader: RowReader, cursor: Sequence[str]) -> Iterator[Batch]:
        behind: Sequence[object] | None = reader.keys.values_of(cursor) if cursor else None
        while True:
            batches, behind = self._read_ahead(reader, behind)
            yield from batches
            if behind is None:
                return

    def _read_ahead(
        self, reader: RowReader, behind: Sequence[object] | None
    ) -> tuple[list[Batch], Sequence[object] | None]:
        """Return the next batches behind a key, and the key of their last row; None if there are no more."""
        by_column, count = self._options.changes.column is not None, AHEAD if self._database.streams else 1
        size = DOCUMENTS_BATCH if reader.holds_documents and not by_column else BATCH
        wanted = reader.select(reader.listed).order_by(*reader.keys.columns).limit(size * count)
        wanted = wanted if behind is None else wanted.where(reader.keys.behind(behind))
        options = {"stream_results": True, "yield_per": size}
        batches, last, key = list[Batch](), tuple[str, ...](), behind
        with self._database.reading() as connection, self._database.reading() as other:
            with closing(connection.execution_options(**options).execute(wanted)) as found:
                for part in found.partitions(size):
                    rows = [dict(zip(reader.listed, row, strict=True)) for row in part]
                    repeated = {} if by_column else reader.repeated_of(other, rows)
                    batches.append(_batch(reader, rows, repeated, last))
                    last, key = reader.key_of(rows[-1]), part[-1][: len(self._options.key)]
            is_last = sum(len(one.entries) for one in batches) < size * count
            if is_last and behind is not None:
                reader.check_keys(connection)  # rows without a key are behind none
        return batches, None if is_last else key

    # ---- what changed

    def _changes(
        self, reader: RowReader, log: ChangeLog, since: str, behind: Sequence[str]
    ) -> Iterator[Batch]:
        while True:
            with self._database.reading() as connection:
                keys = log.read_keys(connection, since, behind, BATCH * AHEAD)
            for start in range(0, len(keys), BATCH):
                part = keys[start : start + BATCH]
                with self._database.reading() as connection:
                    changed = self._changed(reader, connection, part)
                yield Batch(changed, cursor=json.dumps(part[-1]))
            if len(keys) < BATCH * AHEAD:
                return
            behind = keys[-1]

    @staticmethod
    def _changed(reader: RowReader, connection: Connection, keys: Sequence[tuple[str, ...]]) -> list[Entry]:
        rows = reader.rows_of(connection, keys)
        repeated = reader.repeated_of(connection, list(rows.values()))
        # A key that a collation takes for another finds the row of that one: it is listed as it is written now.
        changed = [reader.listed_entry(row, repeated.get(key, {})) for key, row in rows.items()]
        forms = [{written, reader.keys.canonical(written)} for written in keys]
        gone = sorted(set().union(*(one for one in forms if one.isdisjoint(rows))))
        return changed + [Entry(reader.keys.url_of(key), deleted=True) for key in gone]

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


def _batch(
    reader: RowReader,
    rows: Sequence[Row],
    repeated: Mapping[tuple[str, ...], Repeated],
    last: tuple[str, ...],
) -> Batch:
    entries = []
    for row in rows:
        key = reader.key_of(row)
        if key == last:
            raise WorkError(f"key: two rows have the key {', '.join(key)}; name columns that tell all apart")
        last = key
        entries.append(reader.listed_entry(row, repeated.get(key, {})))
    return Batch(entries, cursor=json.dumps(last))
