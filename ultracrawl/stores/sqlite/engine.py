"""The storage engines `sqlite` (a file per store) and `memory`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ultracrawl.stores.file_notes import FileNotes, notes_beside, sources_of_files, state_errors
from ultracrawl.stores.port.notes import NotesOf
from ultracrawl.stores.shared.schedule_store import SqlScheduleStore
from ultracrawl.stores.sqlite.database import COMPANIONS, MEMORY, Files, checkpoint_file, lock_file
from ultracrawl.stores.sqlite.shared import SCHEDULES, SqliteSiteStore, SqliteTables
from ultracrawl.stores.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from ultracrawl.stores.sqlite.transfer import SqliteExport, SqliteImport


class SqliteEngine:
    """Keeps each store in a SQLite file of its own; see `StoreEngine`, `NamedStoreEngine` and `TransferEngine`."""

    def open_store(
        self, folder: Path, source: str, *, read_only: bool = False, renew: bool = False
    ) -> SqliteStore:
        """Open the store of one source."""
        return SqliteStore(self.source_file(folder, source), source, read_only=read_only, renew=renew)

    def open_sites(self, folder: Path, *, read_only: bool = False, renew: bool = False) -> SqliteSiteStore:
        """Open the shared store of sites."""
        return SqliteSiteStore(self._files(folder).sites, read_only=read_only, renew=renew)

    def open_schedules(
        self, folder: Path, *, read_only: bool = False, renew: bool = False
    ) -> SqlScheduleStore:
        """Open the store of schedules."""
        file = self._files(folder).schedules
        return SqlScheduleStore(SqliteTables(SCHEDULES, file, read_only=read_only, renew=renew))

    def has_store(self, folder: Path, source: str) -> bool:
        """Return whether the file of a source exists."""
        return self.source_file(folder, source).exists()

    def remove_store(self, folder: Path, source: str) -> None:
        """Delete the file of a source and its companions."""
        file = self.source_file(folder, source)
        for suffix in ("", *COMPANIONS):
            file.with_name(file.name + suffix).unlink(missing_ok=True)

    def source_file(self, folder: Path, source: str) -> Path:
        """Return the file of a source."""
        return folder / f"{source}.sqlite"

    def open_notes(self, folder: Path, source: str, of: NotesOf = NotesOf.SOURCE) -> FileNotes:
        """Return the notes beside the file of a source, or in the folder of schedules."""
        return notes_beside(self.source_file(folder, source), of)

    def stored_sources(self, folder: Path) -> list[str]:
        """Return the sources that have a file."""
        return sources_of_files(folder, self.source_file(folder, "*").name)

    def noting_sources(self, folder: Path, name: str) -> list[str]:
        """Return the sources that have a file of a note."""
        return sources_of_files(folder, f"{self.source_file(folder, '*').name}.{name}")

    def lock_source(self, folder: Path, source: str) -> closing[IO[str]]:
        """Hold the lock file of a source."""
        return closing(lock_file(self.source_file(folder, source), source))

    def rename_store(self, folder: Path, source: str, new: str) -> None:
        """Rename the file of a source."""
        file = self.source_file(folder, source)
        if not file.exists():
            return
        checkpoint_file(file)
        with state_errors(file):
            file.rename(self.source_file(folder, new))

    def exporting(self, folder: Path) -> AbstractContextManager[SqliteExport]:
        """Open all files to be read."""
        from ultracrawl.stores.sqlite.transfer import export_files  # noqa: PLC0415 - copies need it, crawls do not

        return export_files(self._files(folder, self.stored_sources(folder)))

    def importing(self, folder: Path, sources: Sequence[str]) -> AbstractContextManager[SqliteImport]:
        """Create the files of sources."""
        from ultracrawl.stores.sqlite.transfer import import_files  # noqa: PLC0415 - copies need it, crawls do not

        return import_files(self._files(folder, sources))

    def _files(self, folder: Path, sources: Sequence[str] = ()) -> Files:
        """Return the files; the shared ones have folders of their own, as a source may be named like them."""
        own = {source: self.source_file(folder, source) for source in sources}
        return Files(own, folder / "sites" / "sites.sqlite", folder / "schedules" / "schedules.sqlite")

    def state_version(self, folder: Path, source: str) -> object | None:
        """Return a value that changes with every write to the store; None if there is no store."""
        file, marks = self.source_file(folder, source), list[object]()
        for path in (file, file.with_name(file.name + COMPANIONS[0])):
            with suppress(FileNotFoundError):
                stat = path.stat()
                marks.append((path.name, stat.st_ino, stat.st_size, stat.st_mtime_ns))
        return marks or None


class MemoryEngine:
    """Keeps each store in memory; see `StoreEngine`."""

    def open_store(
        self, folder: Path, source: str, *, read_only: bool = False, renew: bool = False
    ) -> SqliteStore:
        """Create the store of one source."""
        return SqliteStore(MEMORY, source, read_only=read_only, renew=renew)

    def open_sites(self, folder: Path, *, read_only: bool = False, renew: bool = False) -> SqliteSiteStore:
        """Create the store of sites of one crawl."""
        return SqliteSiteStore(MEMORY)

    def open_schedules(
        self, folder: Path, *, read_only: bool = False, renew: bool = False
    ) -> SqlScheduleStore:
        """Create the store of schedules."""
        return SqlScheduleStore(SqliteTables(SCHEDULES, MEMORY))

    def has_store(self, folder: Path, source: str) -> bool:
        """Return False: nothing outlives the process."""
        return False

    def remove_store(self, folder: Path, source: str) -> None:
        """Do nothing: the store ends with its process."""

    def state_version(self, folder: Path, source: str) -> None:
        """Return None: no other process writes to the store."""

    def open_notes(self, folder: Path, source: str, of: NotesOf = NotesOf.SOURCE) -> None:
        """Return None: other processes cannot see the store."""
