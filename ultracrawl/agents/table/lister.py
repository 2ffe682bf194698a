"""The lister of the kind `table`: lists all rows with validators, or the changed rows of a change log."""

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
from ultracrawl.errors import UserError, WorkError
from ultracrawl.rules.attributes.schema import ListedValue, ValueList

logger = logging.getLogger(__name__)

BATCH_SIZE = 500
"""Rows in a batch, and keys in a statement."""
DOCUMENT_BATCH_SIZE = 25
"""Batch size if rows hold documents in bytes, which may be large."""
BATCHES_PER_STATEMENT = 20
"""Batches that one statement reads; for SQLite it is one, since reading blocks writers there."""


class TableLister(Lister):
    """Lists rows. Without a change log every listing reads all rows; with one, listings after the first read it."""

    def __init__(self, setup: KindSetup[TableSection]) -> None:
        self._setup = setup
        self._options = setup.options
        self._database = Database(database_url(setup.options, setup.secrets, setup.base))
        log = self._options.changes.log
        self._log = ChangeLog(log, len(self._options.key), self._database) if log else None

    def check_connection(self) -> None:
        """Connect, and check that the columns of the definition exist."""
        with self._database.read_only_connection() as connection:
            reader = self._reader(connection)
            if binary := reader.binary_attributes():
                raise UserError(
                    f"attributes: {', '.join(binary)}: an attribute cannot hold bytes; "
                    "remove the column, or convert it to a text with a view or a `select`"
                )
            if self._log is not None:
                self._log.check_columns(connection)
                reader.keys.check_loggable(self._database.name)
            for name, section in self._options.value_lists.items():
                next(self._values(connection, name, section), None)

    def _reader(self, connection: Connection) -> RowReader:
        reader = RowReader(connection, self._setup.source, self._options)
        extracted = self._setup.source.extract.keys() | {name.lower() for name in self._setup.source.extract}
        unknown = [name for name in reader.unknown_attributes() if name not in extracted]
        if unknown and not self._options.media_type:
            logger.warning("attributes: no column, and no list, is called %s", ", ".join(unknown))
        if binary := reader.binary_attributes():
            logger.warning(
                "attributes: left out, because an attribute cannot hold bytes: %s", ", ".join(binary)
            )
        return reader

    def list_entries(self, since: str, cursor: str) -> Iterator[Listed]:
        """Yield entries with validators but without bodies, which the fetcher reads.

        No transaction is open while the crawl processes a batch, which may take long: it would keep the database from
        removing old row versions (vacuum) and from altering tables. A mistake of the user, such as two rows with one
        key, ends the run if it shows before the first batch; else the listing is partial.
        """
        has_batches = False
        try:
            for listed in self._listing(since, json.loads(cursor) if cursor else []):
                yield listed
                has_batches = True
        except UserError as error:
            if not has_batches:
                raise
            yield Partial(str(error), mistake=True)
        except WorkError as error:
            yield Partial(str(error))

    def _listing(self, since: str, after: Sequence[str]) -> Iterator[Listed]:
        with self._database.read_only_connection() as connection:
            reader = self._reader(connection)
        if self._log is None:
            yield from self._all_rows(reader, after)
            yield Complete()
            return
        basis = f"{reader.digest} {self._database.address_digest} {self._options.changes.log}"
        reader.keys.check_loggable(self._database.name)
        generation, _, last_basis = since.partition(" ")
        if last_basis != basis or not reader.relation.sample:  # the key types of an empty table are unknown
            generation = ""
        if not after:
            self._start_generation(self._log, generation)
        if generation:
            yield from self._changes(reader, self._log, generation, after)
        else:
            yield from self._all_rows(reader, after)
        yield Complete(f"{self._log.token_after(generation)} {basis}", changes_only=bool(generation))

    @staticmethod
    def _start_generation(log: ChangeLog, generation: str) -> None:
        if unknown := log.start_generation(generation):
            logger.warning(
                "%d rows of the change log have a mark other than F, A and B; they are read like those with F",
                unknown,
            )

    # ---- all rows

    def _all_rows(self, reader: RowReader, cursor: Sequence[str]) -> Iterator[Batch]:
        after: Sequence[object] | None = reader.keys.values_of(cursor) if cursor else None
        while True:
            batches, after = self._next_batches(reader, after)
            yield from batches
            if after is None:
                return

    def _next_batches(
        self, reader: RowReader, after: Sequence[object] | None
    ) -> tuple[list[Batch], Sequence[object] | None]:
        """Return the batches that follow a key, and the key of their last row; None after the last row."""
        by_column = self._options.changes.column is not None
        count = BATCHES_PER_STATEMENT if self._database.can_stream else 1
        size = DOCUMENT_BATCH_SIZE if reader.holds_documents and not by_column else BATCH_SIZE
        statement = reader.select(reader.listing_columns).order_by(*reader.keys.columns).limit(size * count)
        statement = statement if after is None else statement.where(reader.keys.rows_after(after))
        options = {"stream_results": True, "yield_per": size}
        batches, last, key = list[Batch](), tuple[str, ...](), after
        with (
            self._database.read_only_connection() as connection,
            self._database.read_only_connection() as second_connection,
        ):
            with closing(connection.execution_options(**options).execute(statement)) as result:
                for part in result.partitions(size):
                    rows = [dict(zip(reader.listing_columns, row, strict=True)) for row in part]
                    repeated = {} if by_column else reader.repeated_of(second_connection, rows)
                    batches.append(_batch(reader, rows, repeated, last))
                    last, key = reader.key_of(rows[-1]), part[-1][: len(self._options.key)]
            is_last = sum(len(batch.entries) for batch in batches) < size * count
            if is_last and after is not None:
                reader.check_keys(
                    connection
                )  # rows with NULL keys follow no key, so no statement returned them
        return batches, None if is_last else key

    # ---- what changed

    def _changes(
        self, reader: RowReader, log: ChangeLog, since: str, after: Sequence[str]
    ) -> Iterator[Batch]:
        while True:
            with self._database.read_only_connection() as connection:
                keys = log.read_keys(connection, since, after, BATCH_SIZE * BATCHES_PER_STATEMENT)
            for start in range(0, len(keys), BATCH_SIZE):
                part = keys[start : start + BATCH_SIZE]
                with self._database.read_only_connection() as connection:
                    changed = self._changed(reader, connection, part)
                yield Batch(changed, cursor=json.dumps(part[-1]))
            if len(keys) < BATCH_SIZE * BATCHES_PER_STATEMENT:
                return
            after = keys[-1]

    @staticmethod
    def _changed(reader: RowReader, connection: Connection, keys: Sequence[tuple[str, ...]]) -> list[Entry]:
        rows = reader.rows_of(connection, keys)
        repeated = reader.repeated_of(connection, list(rows.values()))
        # A logged key may match a row whose key differs but is equal in its collation: the row's own key is listed.
        changed = [reader.listed_entry(row, repeated.get(key, {})) for key, row in rows.items()]
        forms = [{logged, reader.keys.canonical(logged)} for logged in keys]
        deleted = sorted(set().union(*(form for form in forms if form.isdisjoint(rows))))
        return changed + [Entry(reader.keys.url_of(key), deleted=True) for key in deleted]

    def confirm(self, token: str) -> None:
        """Delete the change-log rows of a listing."""
        if self._log is not None and token:
            self._log.confirm(token.partition(" ")[0])

    def value_lists(self) -> Sequence[ValueList]:
        """Read the lists of values."""
        if not self._options.value_lists:
            return ()
        with self._database.read_only_connection() as connection:
            return [
                ValueList(name, tuple(self._values(connection, name, section)))
                for name, section in self._options.value_lists.items()
            ]

    def _values(self, connection: Connection, name: str, section: ValueListSection) -> Iterator[ListedValue]:
        for row in connection.execute(self._values_statement(connection, name, section)):
            value, display = row[0], row[-1] if len(row) > 1 else None
            if value is not None:
                yield ListedValue(str(value), {} if display is None else {"": str(display)})

    def _values_statement(
        self, connection: Connection, name: str, section: ValueListSection
    ) -> sa.Select[tuple[object, ...]]:
        option = f"value_lists.{name}"
        relation: Relation = (
            read_relation(connection, self._options.table, self._options.select)
            if section.column
            else read_relation(connection, section.table, section.select)
        )
        if section.column:
            columns = [relation.column(section.column, f"{option}.column")]
        elif section.table:
            columns = [
                relation.column(column, option) for column in (section.value, section.display) if column
            ]
        else:
            columns = list(relation.columns.values())[:2]
        return sa.select(*columns).select_from(relation.origin).distinct().order_by(*columns)

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
            raise UserError(
                f"key: two rows have the key {', '.join(key)}; choose columns that identify each row"
            )
        last = key
        entries.append(reader.listed_entry(row, repeated.get(key, {})))
    return Batch(entries, cursor=json.dumps(last))
