"""Interface of a storage engine: opens the store of each source and the shared stores of the project."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, runtime_checkable

from ultracrawl.stores.port.node_store import NodeStore
from ultracrawl.stores.port.notes import Notes, NotesOf
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

    def open_schedules(self, folder: Path, *, read_only: bool = False, renew: bool = False) -> ScheduleStore:
        """Open the store of schedules; with `read_only` a missing store is empty. Raises `StateError`.

        With `renew`, a damaged store is set aside and a new one created.
        """

    def has_store(self, folder: Path, source: str) -> bool:
        """Return whether a source has a store, that is, whether it was ever crawled."""

    def remove_store(self, folder: Path, source: str) -> None:
        """Delete the store of a source for good; the caller has it open for writing, and closes it afterwards."""

    def state_version(self, folder: Path, source: str) -> object | None:
        """Return a value that changes with every write to the store of a source; None if there is none."""

    def open_notes(self, folder: Path, source: str, of: NotesOf = NotesOf.SOURCE) -> Notes | None:
        """Return the notes of a source or its robot, which need no store, or of the service (`source` is empty).

        None if the stores are in memory, invisible to other processes: such a crawl cannot be steered.
        """


@runtime_checkable
class NamedStoreEngine(Protocol):
    """A store engine that can list and rename the stores of sources; others cannot tell which sources are left over."""

    def stored_sources(self, folder: Path) -> list[str]:
        """Return the sources that have a store, sorted."""

    def noting_sources(self, folder: Path, name: str) -> list[str]:
        """Return the sources that have a note of this name, sorted; they need not have a store."""

    def lock_source(self, folder: Path, source: str) -> AbstractContextManager[object]:
        """Hold the write lock of a source, which need not have a store.

        Raises `UserError` if another process writes to its store, `StateError`.
        """

    def rename_store(self, folder: Path, source: str, new: str) -> None:
        """Give the store of a source another name, in one step; the caller holds both locks.

        Nobody has the store open for writing. Does nothing if there is none. Raises `StateError`.
        """


@runtime_checkable
class SavingEngine(Protocol):
    """A store engine whose stores are in no folder, so that it saves and restores them itself."""

    def save_stores(self, folder: Path, target: Path) -> None:
        """Write all stores of a project, as they are at one moment, to files in a new folder `target`.

        Crawls may go on. Raises `StateError`, `OSError`.
        """

    def restoring_stores(
        self, folder: Path, saved: Path, *, force: bool = False
    ) -> AbstractContextManager[None]:
        """Replace all stores by those in a folder when the block ends, and change nothing if it fails.

        Raises `UserError` if they are of a later version, and for stores that are there, unless these are to be
        replaced by `force`; `StateError`.
        """


@runtime_checkable
class NodeEngine(Protocol):
    """A store engine whose stores several machines can use at a time."""

    def open_nodes(self, folder: Path, token: str = "", *, read_only: bool = False) -> NodeStore:
        """Open the store of nodes, for the node of this token; with `read_only` a missing store is empty.

        Raises `StateError`.
        """
