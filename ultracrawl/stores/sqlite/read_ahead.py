"""Saves queries: reads entries and records ahead, and knows values that a table does not hold."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Generic, TypeVar

from ultracrawl.model import UrlRecord
from ultracrawl.stores.port.queue import QueueEntry

SMALL = 32
"""A site with more entries is worth a query of its own."""
LEAST, MOST = 64, 512
"""Rows that are read ahead, at first and at most."""
REST = 64
"""Sites for which nothing is read ahead after it was in vain."""

MOST_RECORDS = 20_000
"""Records that are kept at a time."""
MOST_VALUES = 100_000
"""Values of a table from which on it is asked for each."""

Row = tuple[Any, ...]
"""A row of the queue; its fourth value is the site."""


class ReadAhead:
    """Keeps the rows of the sites that follow the latest one by name, each complete, until they are asked for.

    A run begins with its sites in that order. Where they are asked for in another one, little is read in vain: after
    rows that nobody asked for come `REST` sites for which nothing is read ahead.
    """

    def __init__(self) -> None:
        self._rows: dict[str, list[Row]] = {}
        self._used = True
        self._number = LEAST
        self._rest = 0

    def take_site(self, site: str) -> list[Row] | None:
        """Return all rows of a site, None if they are not here; they are taken out."""
        rows = self._rows.pop(site, None)
        self._used = self._used or rows is not None
        return rows

    def drop_site(self, site: str) -> None:
        """Forget the rows of a site: they are no longer true."""
        self._rows.pop(site, None)

    def clear(self) -> None:
        """Forget all rows."""
        self._rows.clear()

    def wanted(self, own: int) -> int:
        """Return how many rows to read behind a site that was not here, of which `own` rows were read; 0 for none."""
        if own > SMALL:
            return 0
        if not self._used:
            self._used, self._number, self._rest = True, LEAST, REST
        if self._rest:
            self._rest -= 1
            return 0
        return self._number

    def fill(self, rows: Sequence[Row], *, more: bool, without: Collection[str]) -> None:
        """Keep rows in order of their sites; `more`: those of the last site may be incomplete."""
        found = {site: list(own) for site, own in groupby(rows, key=lambda row: row[3])}
        if more:
            found.popitem()
        self._number = min(2 * self._number, MOST)
        self._used = False
        self._rows = {site: own for site, own in found.items() if site not in without}


class RecordsAhead:
    """Keeps records until they are written: more than one may ask for that of a URL whose turn has come.

    One that was never visited is kept as its entry and the time at which it was found. Whoever writes something of a
    record has it forgotten here. A store for reading keeps none: another process may write it.
    """

    def __init__(self, *, keeps: bool) -> None:
        self.keeps = keeps
        self._records: dict[int, UrlRecord | tuple[QueueEntry, float]] = {}
        self._same: tuple[bytes, dict[int, UrlRecord]] | None = None
        """The records with the fingerprint that was asked for last; one page asks for it several times."""

    def keep_records(self, records: Mapping[int, UrlRecord] | Mapping[int, tuple[QueueEntry, float]]) -> None:
        """Keep records by key; of too many the older ones are forgotten."""
        if len(self._records) > MOST_RECORDS:
            self._records.clear()
        if self.keeps:
            self._records.update(records)

    def kept_record(self, key: int) -> UrlRecord | tuple[QueueEntry, float] | None:
        """Return a record, None if it is not here."""
        return self._records.get(key)

    def same_records(self, fingerprint: bytes) -> dict[int, UrlRecord] | None:
        """Return the records with a fingerprint, None if they are not here."""
        return self._same[1] if self._same is not None and self._same[0] == fingerprint else None

    def keep_same(self, fingerprint: bytes, records: dict[int, UrlRecord]) -> None:
        """Keep the records with a fingerprint until something is written."""
        if self.keeps:
            self._same = (fingerprint, records)

    def forget_records(self, keys: Iterable[int] | None = None) -> None:
        """Forget records that are no longer true; without keys all."""
        self._same = None
        if keys is None:
            self._records.clear()
        elif self._records:
            for key in keys:
                self._records.pop(key, None)


V = TypeVar("V", bound=Hashable)


class PossibleValues(Generic[V]):
    """All values that a column may hold, as long as they are few: what is not among them is not in the table.

    `load` is asked once for the values, those that are to be written among them; None says that they are too many.
    """

    def __init__(self, load: Callable[[], set[V] | None]) -> None:
        self._load: Callable[[], set[V] | None] | None = load
        self._values: set[V] | None = None

    def may_hold(self, value: V) -> bool:
        """Return whether a value may be in the table."""
        if self._load is not None:
            self._values, self._load = self._load(), None
        return self._values is None or value in self._values

    def add_value(self, value: V) -> None:
        """Note that a value is to be written."""
        if self._values is not None:
            self._values.add(value)
            if len(self._values) > MOST_VALUES:
                self._values = None
