"""The fetcher of the kind `table`: reads rows by key, some hundreds per statement."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.engine import Connection

from ultracrawl.agents.port import Entry, Failure, Fetcher, KindSetup, Wanted
from ultracrawl.agents.table.database import Database, database_url
from ultracrawl.agents.table.lister import BATCH_SIZE, DOCUMENT_BATCH_SIZE
from ultracrawl.agents.table.rows import RowReader
from ultracrawl.agents.table.section import TableSection
from ultracrawl.agents.table.shape import ColumnError
from ultracrawl.model.status import StatusCode


class TableFetcher(Fetcher):
    """Reads rows by key. Its batch size adapts to whether rows hold documents in bytes."""

    def __init__(self, setup: KindSetup[TableSection]) -> None:
        self._setup = setup
        self._database = Database(database_url(setup.options, setup.secrets, setup.base))
        self.batch_size = DOCUMENT_BATCH_SIZE
        self._reader: RowReader | None = None

    def fetch(self, wanted: Sequence[Wanted]) -> Sequence[Entry | Failure]:
        """Return the rows as entries with their text; `Failure` 404 for missing rows."""
        with self._database.read_only_connection() as connection:
            try:
                reader = self._known_reader(connection)
            except ColumnError as error:
                return [Failure(StatusCode.BAD_COLUMN, str(error))] * len(wanted)
            keys = [reader.keys.texts_of(document.access_url) for document in wanted]
            rows = reader.rows_of(connection, [key for key in keys if key is not None]).rows
            repeated = reader.repeated_of(connection, list(rows.values()))
            return [
                reader.entry_of(key, rows[key], repeated.get(key, {}))
                if key is not None and key in rows
                else Failure(StatusCode.NOT_FOUND, "there is no such row")
                for key in keys
            ]

    def _known_reader(self, connection: Connection) -> RowReader:
        if self._reader is None or not self._reader.relation.sample:
            self._reader = RowReader(connection, self._setup.source, self._setup.options)
            if not self._reader.holds_documents:
                self.batch_size = BATCH_SIZE
        return self._reader

    def close(self) -> None:
        """Close the connections."""
        self._database.close()
