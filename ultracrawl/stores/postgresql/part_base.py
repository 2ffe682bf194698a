"""The base of the parts of a store: gathers changes, and writes them when the store is flushed."""

from __future__ import annotations

from collections.abc import Callable, Sized
from copy import copy
from typing import Self

import psycopg

from ultracrawl.stores.caching.read_ahead import RecordCache
from ultracrawl.stores.postgresql.access.database import Row
from ultracrawl.stores.postgresql.access.fencing import SourceDatabase

ROWS_AT_ONCE = 20_000
"""Rows of one or two narrow columns that are fetched together, about 1 MB."""


class StoreAccess:
    """What the parts of a store share: the rows of the source, a cache of records, and `flush`, which flushes it."""

    def __init__(self, database: SourceDatabase, flush: Callable[[], None]) -> None:
        self.database = database
        self.flush = flush
        self.record_cache = RecordCache(keeps=not database.read_only)
        self.place = 0
        """The number of the document cache that is written to."""
        self.elsewhere = set[int]()
        """Keys of documents that wait in other caches, which are delivered from there."""


class PostgresPart:
    """Base class of the parts of a store, which gather changes in generations.

    A flush writes the generation that it found, `frozen`; what comes until that is committed belongs to the next one.
    Reads see both over the database, which may have the frozen one already.
    """

    changes: tuple[Sized, ...]
    """The collections of changes."""
    frozen: Self
    """A part with the changes that a flush writes, or has failed to write, and nothing else; it never changes."""

    def __init__(self, access: StoreAccess) -> None:
        self._access = access
        self._database = access.database
        self._sql = access.database.sql
        self._record_cache = access.record_cache
        self.begin_generation()
        self.freeze()

    def begin_generation(self) -> None:
        """Begin with new, empty collections."""
        raise NotImplementedError

    def freeze(self) -> Self:
        """Set the changes so far aside for a flush; returns them."""
        self.frozen = copy(self)
        vars(self.frozen).pop("frozen", None)  # what was frozen before is forgotten
        self.begin_generation()
        return self.frozen

    def _read(self, query: str, *values: object) -> list[Row]:
        return self._database.read(self._sql(query), *values)

    @property
    def generations(self) -> tuple[Self, Self]:
        """The parts with what a flush writes, and with what is gathered for the next one."""
        return self.frozen, self

    @property
    def unwritten(self) -> int:
        """The number of changes of this generation."""
        return sum(map(len, self.changes))

    def write_changes(self, db: psycopg.Connection) -> None:
        """Write the changes inside a transaction, which may be repeated; called for a frozen part."""
        raise NotImplementedError

    def forget_frozen(self) -> None:
        """Forget the frozen changes, which are committed."""
        self.frozen.begin_generation()
