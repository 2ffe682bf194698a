"""A state store: SQLite under other names of files."""

from pathlib import Path

from ultracrawl.stores.sqlite.engine import SqliteEngine


class ShelfEngine(SqliteEngine):
    """Keeps a source in `NAME.shelf`."""

    def source_file(self, folder: Path, source: str) -> Path:
        """Return the file of a source."""
        return folder / f"{source}.shelf"
