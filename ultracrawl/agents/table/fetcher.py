"""Reads rows by their keys, some hundreds with a statement."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.engine import Connection

from ultracrawl.agents.port import Entry, Failure, Fetcher, KindSetup, Wanted
from ultracrawl.agents.table.database import Database, database_url
from ultracrawl.agents.table.lister import BATCH, DOCUMENTS_BATCH
from ultracrawl.agents.table.rows import RowReader
from ultracrawl.agents.table.section import TableSection
from ultracrawl.agents.table.shape import ColumnError
from ultracrawl.model.status import StatusCode


class TableFetcher(Fetcher):
    """The fetcher of a source of the type `table`."""

    def __init__(self, setup: KindSetup[TableSection]) -> None:
        self._setup = setup
        self._database = Database(database_url(setup.options, setup.secrets, setup.base))
        self.batch_size = DOCUMENTS_BATCH
        self._reader: RowReader | None = None

    def fetch(self, wanted: Sequence[Wanted]) -> Sequence[Entry | Failure]:
        """Return the rows as entries with their text; a row that is gone is not found."""
        with self._database.reading() as connection:
            try:
                reader = self._known_reader(connection)
            except ColumnError as error:
                return [Failure(StatusCode.BAD_COLUMN, str(error))] * len(wanted)
            keys = [reader.keys.texts_of(one.access_url) for one in wanted]
            rows = reader.rows_of(connection, [key for key in keys if key is not None])
            repeated = reader.repeated_of(connection, list(rows.values()))
            return [
                reader.entry_of(rows[key], repeated.get(key, {}))
                if key in rows
                else Failure(StatusCode.NOT_FOUND, "there is no such row")
                for key in keys
            ]

    def _known_reader(self, connection: Connection) -> RowReader:
        if self._reader is None or not self._reader.relation.sample:
            self._reader = RowReader(connection, self._setup.source, self._setup.options)
            if not self._reader.holds_documents:
                self.batch_size = BATCH
        return self._reader

    def close(self) -> None:
        """Close the connections."""
        self._database.close()
