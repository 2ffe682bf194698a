"""The lister of the kind `table`: lists all rows with validators, or the changed rows of a change log."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ultracrawl.agents.port import Batch, Complete, Entry, KindSetup, LeftOut, Listed, Lister, Partial
from ultracrawl.agents.table.change_log import ChangeLog
from ultracrawl.agents.table.database import Database, database_url
from ultracrawl.agents.table.row_groups import RowGroups, format_columns, rows_without_key
from ultracrawl.agents.table.rows import RowReader
from ultracrawl.agents.table.section import TableSection, ValueListSection
from ultracrawl.agents.table.shape import Relation, key_texts, read_relation
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
        removing old row versions (vacuum) and from altering tables. A mistake of the user, such as a table without a
        row that has a key, ends the run if it shows before the first batch; else the listing is partial.
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

    def _all_rows(self, reader: RowReader, cursor: Sequence[object]) -> Iterator[Batch]:
        after: Sequence[object] | None = reader.keys.values_of_cursor(cursor) if cursor else None
        left_out: Sequence[LeftOut] = () if after else self._without_key(reader)
        while True:
            groups, is_last = self._next_rows(reader, after)
            for part in groups.parts(self._batch_size(reader)):
                after = last = part.last_values
                found = (*left_out, *part.left_out(reader.keys))
                yield Batch(list(part.rows.values()), reader.keys.cursor_after(last), found)
                left_out = ()
            if left_out:
                names = format_columns(column.name for column in reader.keys.columns)
                raise UserError(f"key: no row has a value in {names}; {left_out[0].advice}")
            if is_last:
                return

    def _without_key(self, reader: RowReader) -> list[LeftOut]:
        with self._database.read_only_connection() as connection:
            return list(rows_without_key(connection, reader.relation, reader.keys))

    def _batch_size(self, reader: RowReader) -> int:
        reads_documents = reader.holds_documents and self._options.changes.column is None
        return DOCUMENT_BATCH_SIZE if reads_documents else BATCH_SIZE

    def _next_rows(self, reader: RowReader, after: Sequence[object] | None) -> tuple[RowGroups[Entry], bool]:
        """Return the rows of the next statement, which follow a key, and whether they are the last.

        Rows without a key are in no statement: NULL is neither before nor after a key. All rows of the last key are
        read once more, because no later statement has the rest of them, and so are those that could not be compared.
        """
        size, keys = self._batch_size(reader), reader.keys
        limit = size * (BATCHES_PER_STATEMENT if self._database.can_stream else 1)
        rows = reader.select(reader.listing_columns).where(keys.are_complete)
        follow = rows if after is None else rows.where(keys.rows_after(after))
        with (
            self._database.read_only_connection() as connection,
            self._database.read_only_connection() as second_connection,
        ):
            source = _Rows(reader, self._options.changes.column is None, connection, second_connection)
            groups, number = source.read(follow.order_by(*keys.columns).limit(limit), size)
            undecided = groups.undecided(with_last=number == limit)
            for start in range(0, len(undecided), size):
                some = keys.is_among(undecided[start : start + size])
                groups.replace(source.read(rows.where(some), size, in_order=False)[0])
            if keys.are_mixed:
                groups.join_types(_other_types(reader, connection, groups.keys()))
        return groups, number < limit

    # ---- what changed

    def _changes(
        self, reader: RowReader, log: ChangeLog, since: str, after: Sequence[str]
    ) -> Iterator[Batch]:
        with self._database.read_only_connection() as connection:
            if not after and log.names_no_key(connection, since):
                yield Batch((), left_out=list(rows_without_key(connection, reader.relation, reader.keys)))
        while True:
            with self._database.read_only_connection() as connection:
                keys = log.read_keys(connection, since, after, BATCH_SIZE * BATCHES_PER_STATEMENT)
            for start in range(0, len(keys), BATCH_SIZE):
                part = keys[start : start + BATCH_SIZE]
                with self._database.read_only_connection() as connection:
                    changed, left_out = self._changed(reader, connection, part)
                yield Batch(changed, json.dumps(part[-1]), left_out)
            if len(keys) < BATCH_SIZE * BATCHES_PER_STATEMENT:
                return
            after = keys[-1]

    @staticmethod
    def _changed(
        reader: RowReader, connection: Connection, keys: Sequence[tuple[str, ...]]
    ) -> tuple[list[Entry], list[LeftOut]]:
        groups = reader.rows_of(connection, keys)
        rows = groups.rows
        repeated = reader.repeated_of(connection, list(rows.values()))
        # A logged key may match a row whose key differs but is equal in its collation: the row's own key is listed.
        changed = [reader.listed_entry(key, row, repeated.get(key, {})) for key, row in rows.items()]
        forms = [reader.keys.forms_of(logged) for logged in keys]
        deleted = sorted(set().union(*(form for form in forms if form.isdisjoint(rows))))
        entries = changed + [Entry(reader.keys.url_of(key), deleted=True) for key in deleted]
        return entries, list(groups.left_out(reader.keys))

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


class _Rows:
    """Reads rows of a statement as entries."""

    def __init__(
        self, reader: RowReader, with_repeated: bool, connection: Connection, second_connection: Connection
    ) -> None:
        self._reader = reader
        self._with_repeated = with_repeated
        self._connection = connection
        self._second_connection = second_connection

    def read(
        self, statement: sa.Select[Any], size: int, *, in_order: bool = True
    ) -> tuple[RowGroups[Entry], int]:
        """Return the rows by their keys, and their number; `size` of them are in memory at once.

        If they do not come in the order of their keys, one row of each key stays in memory.
        """
        reader, groups, number = self._reader, RowGroups[Entry](in_order=in_order), 0
        for part in reader.read(self._connection, statement, reader.listing_columns, size):
            number += len(part)
            found = [row for _, row in part]
            repeated = reader.repeated_of(self._second_connection, found) if self._with_repeated else {}
            for values, row in part:
                key = key_texts(values)
                entry = reader.listed_entry(key, row, repeated.get(key, {}))
                groups.add(key, values, entry, partial(reader.order_of, row))
        return groups, number


def _other_types(
    reader: RowReader, connection: Connection, keys: Collection[Sequence[str]]
) -> RowGroups[None]:
    """Return all rows with some keys, whatever the types of their values."""
    groups, names = RowGroups[None](), reader.listing_columns[: len(reader.keys.columns)]
    for values, _ in reader.matching(connection, names, list(keys)):
        groups.add(key_texts(values), values, None)
    return groups
