"""The stores of a project on SQLite: a file each, or in memory."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from ultracrawl.stores.sqlite.database import COMPANIONS, MEMORY
from ultracrawl.stores.sqlite.shared.schedule_store import SqliteScheduleStore
from ultracrawl.stores.sqlite.shared.site_store import SqliteSiteStore
from ultracrawl.stores.sqlite.store import SqliteStore


class SqliteEngine:
    """Keeps each store in a file of its own; see `StoreEngine`."""

    def open_store(
        self, folder: Path, source: str, *, read_only: bool = False, renew: bool = False
    ) -> SqliteStore:
        """Open the document table and queue of one source."""
        return SqliteStore(self.control_file(folder, source), source, read_only=read_only, renew=renew)

    def open_sites(self, folder: Path, *, read_only: bool = False, renew: bool = False) -> SqliteSiteStore:
        """Open what all sources know of sites."""
        # In a folder of its own: beside the files of the sources it could be taken for that of a source `sites`.
        return SqliteSiteStore(folder / "sites" / "sites.sqlite", read_only=read_only, renew=renew)

    def open_schedules(
        self, folder: Path, *, read_only: bool = False, renew: bool = False
    ) -> SqliteScheduleStore:
        """Open what is known of schedules."""
        file = folder / "schedules" / "schedules.sqlite"
        return SqliteScheduleStore(file, read_only=read_only, renew=renew)

    def has_store(self, folder: Path, source: str) -> bool:
        """Return whether a source was ever crawled."""
        return self.control_file(folder, source).exists()

    def remove_store(self, folder: Path, source: str) -> None:
        """Delete the file of a source, and what SQLite keeps beside it."""
        file = self.control_file(folder, source)
        for suffix in ("", *COMPANIONS):
            file.with_name(file.name + suffix).unlink(missing_ok=True)

    def control_file(self, folder: Path, source: str) -> Path:
        """Return the file of a source."""
        return folder / f"{source}.sqlite"

    def state_mark(self, folder: Path, source: str) -> object | None:
        """Return what changes with everything that is written; None if there is nothing."""
        file, marks = self.control_file(folder, source), list[object]()
        for path in (file, file.with_name(file.name + COMPANIONS[0])):
            with suppress(FileNotFoundError):
                found = path.stat()
                marks.append((path.name, found.st_ino, found.st_size, found.st_mtime_ns))
        return marks or None


class MemoryEngine:
    """Keeps nothing after the process ends; see `StoreEngine`."""

    def open_store(
        self, folder: Path, source: str, *, read_only: bool = False, renew: bool = False
    ) -> SqliteStore:
        """Begin the document table and queue of one source."""
        return SqliteStore(MEMORY, source, read_only=read_only, renew=renew)

    def open_sites(self, folder: Path, *, read_only: bool = False, renew: bool = False) -> SqliteSiteStore:
        """Begin what a crawl knows of sites."""
        return SqliteSiteStore.in_memory()

    def open_schedules(
        self, folder: Path, *, read_only: bool = False, renew: bool = False
    ) -> SqliteScheduleStore:
        """Begin what is known of schedules."""
        return SqliteScheduleStore(MEMORY)

    def has_store(self, folder: Path, source: str) -> bool:
        """Return False: nothing is kept."""
        return False

    def remove_store(self, folder: Path, source: str) -> None:
        """Do nothing: it ends with its process."""

    def control_file(self, folder: Path, source: str) -> None:
        """Return None: nobody else sees it."""
