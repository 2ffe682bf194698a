"""Interface for copying whole stores from one storage engine to another: rows of each kind, one iterator each.

The rows (`stores.rows`) are plain values; the meaning of each is described beside the part of the store that
writes it. Whatever an engine derives from them (numbers of URLs by outcome, look-up tables) it makes again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from ultracrawl.stores.rows import PLACES, Place, Row

R = TypeVar("R", bound=Row)

OF_SOURCE: Sequence[type[Row]] = tuple(kind for kind, places in PLACES.items() if places.of_source)
"""The kinds of rows of a source, in the order in which they are written: URLs before what is about them."""
OF_PROJECT: Sequence[type[Row]] = tuple(kind for kind, places in PLACES.items() if not places.of_source)
"""The kinds of rows that the sources of a project share."""


def name_of(kind: type[Row]) -> str:
    """Return the name of a kind of rows, such as `page_anchors`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__.removesuffix("Row")).lower()


def select_all(place: Place, *, of_source: bool) -> str:
    """Return the query of all rows of a place, by their key, as the parts of a store write statements."""
    own = "WHERE {own} " if of_source else ""
    return f"SELECT {', '.join(place.columns)} FROM {place.table} {own}ORDER BY {', '.join(place.key)}"  # noqa: S608 - names of ours


class StoreExport(Protocol):
    """The rows of all stores of a project; while it is open no source can be crawled. Raises `StateError`."""

    sources: Sequence[str]
    """The sources that have a store, sorted."""

    def rows(self, kind: type[R], source: str = "") -> Iterator[R]:
        """Yield the rows of a kind, of a source or shared; one iterator at a time."""


class StoreImport(Protocol):
    """Writes the rows of all stores of a project. Raises `StateError`."""

    def write(self, kind: type[R], rows: Sequence[R], source: str = "") -> None:
        """Add rows, of a source or shared, in one transaction."""

    def count(self, kind: type[Row], source: str = "") -> int:
        """Return the number of rows in the stores."""

    def finish(self) -> None:
        """Make everything durable, and fit to be crawled with."""


@runtime_checkable
class TransferEngine(Protocol):
    """A storage engine whose stores can be copied to another engine, and from one."""

    def exporting(self, folder: Path) -> AbstractContextManager[StoreExport]:
        """Open all stores to be read. Raises `UserError` if one of the sources is being crawled, `StateError`."""

    def importing(self, folder: Path, sources: Sequence[str]) -> AbstractContextManager[StoreImport]:
        """Create empty stores of sources that have none, to be written, and empty the shared ones.

        Raises `UserError` if one of the sources is being crawled, `StateError`.
        """
