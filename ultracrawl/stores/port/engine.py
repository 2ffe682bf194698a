"""What keeps the stores of a project: one of each source, and one of the sites of all."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

from ultracrawl.stores.port.schedule_store import ScheduleStore
from ultracrawl.stores.port.site_store import SiteStore
from ultracrawl.stores.port.store import Store


@runtime_checkable
class StoreEngine(Protocol):
    """What an entry point of the group `ultracrawl.stores` names: a class that is made without arguments.

    `folder` is the path that the definition gives (`state: {engine: NAME, path: FOLDER}`), which need not exist. Made
    and called in the thread of a crawl, or of a command that looks at one from another process.
    """

    def open_store(self, folder: Path, source: str, *, read_only: bool = False, renew: bool = False) -> Store:
        """Open the store of one source; without `read_only` a store that is not there is begun.

        With `renew`, a damaged one is set aside and a new one begun. Raises `UserError` if another process writes
        to it, `StateError` if it cannot be read or written.
        """

    def open_sites(self, folder: Path, *, read_only: bool = False, renew: bool = False) -> SiteStore:
        """Open the store of sites; with `read_only` one that is not there is empty. Raises `StateError`.

        With `renew`, a damaged one is set aside and a new one begun.
        """

    def has_store(self, folder: Path, source: str) -> bool:
        """Return whether a source has a store, which is: whether it was ever crawled."""

    def remove_store(self, folder: Path, source: str) -> None:
        """Delete the store of a source for good; whoever asks has it open for writing, and closes it then."""

    def control_file(self, folder: Path, source: str) -> Path | None:
        """Return the path beside which lie the files by which a crawl is seen and steered; it need not exist.

        None if other processes cannot see the stores: they are gone with their process.
        """


@runtime_checkable
class ScheduleEngine(Protocol):
    """What a store engine has that keeps schedules, too; for one without it they are kept in a file of ours."""

    def open_schedules(self, folder: Path, *, read_only: bool = False, renew: bool = False) -> ScheduleStore:
        """Open the store of schedules; with `read_only` one that is not there is empty. Raises `StateError`.

        With `renew`, a damaged one is set aside and a new one begun.
        """
