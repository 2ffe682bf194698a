"""Interface of a storage engine: opens the store of each source and the shared stores of the project."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

from ultracrawl.stores.port.schedule_store import ScheduleStore
from ultracrawl.stores.port.site_store import SiteStore
from ultracrawl.stores.port.store import Store


@runtime_checkable
class StoreEngine(Protocol):
    """A storage engine, a plug-in of the entry-point group `ultracrawl.stores`; instantiated without arguments.

    `folder` is the path in the definition (`state: {engine: NAME, path: FOLDER}`); it need not exist. The engine is
    created and called in the thread of a crawl, or of a command that reads the state from another process.
    """

    def open_store(self, folder: Path, source: str, *, read_only: bool = False, renew: bool = False) -> Store:
        """Open the store of one source; without `read_only` a missing store is created.

        With `renew`, a damaged store is set aside and a new one created. Raises `UserError` if another process writes
        to it, `StateError` if it cannot be read or written.
        """

    def open_sites(self, folder: Path, *, read_only: bool = False, renew: bool = False) -> SiteStore:
        """Open the shared store of sites; with `read_only` a missing store is empty. Raises `StateError`.

        With `renew`, a damaged store is set aside and a new one created.
        """

    def has_store(self, folder: Path, source: str) -> bool:
        """Return whether a source has a store, that is, whether it was ever crawled."""

    def remove_store(self, folder: Path, source: str) -> None:
        """Delete the store of a source for good; the caller has it open for writing, and closes it afterwards."""

    def control_file(self, folder: Path, source: str) -> Path | None:
        """Return the base path of the control files of a crawl (see `control_channel`); it need not exist.

        None if the stores are in memory, invisible to other processes.
        """


@runtime_checkable
class ScheduleEngine(Protocol):
    """A store engine that also keeps schedules; for other engines `SqliteEngine` keeps them."""

    def open_schedules(self, folder: Path, *, read_only: bool = False, renew: bool = False) -> ScheduleStore:
        """Open the store of schedules; with `read_only` a missing store is empty. Raises `StateError`.

        With `renew`, a damaged store is set aside and a new one created.
        """
