"""The numbers of sites, which stand in each row of a URL and of the queue in place of the name."""

from __future__ import annotations

from collections.abc import Collection

import psycopg

from ultracrawl.stores.postgresql.access.fencing import SourceDatabase, run_for

_MOST_NAMES = 100_000
"""Number of names at which those in memory are forgotten."""
_SELECT = """
    SELECT name, site FROM host WHERE {own} AND name = ANY(%s)
    UNION ALL SELECT NULL, coalesce(max(site), 0) FROM host WHERE {own}"""
_INSERT = "INSERT INTO host (source, part, name, site) SELECT {ids}, * FROM unnest(%s::text[], %s::int[])"


class Hosts:
    """The table `host`: a site keeps its number for ever."""

    def __init__(self, database: SourceDatabase) -> None:
        self._sql = database.sql
        self._numbers: dict[str, int] = {}

    def numbers(self, db: psycopg.Connection, names: Collection[str]) -> dict[str, int]:
        """Return the numbers of sites, giving new ones to new sites; inside the transaction of a flush."""
        found = {name: self._numbers[name] for name in names if name in self._numbers}
        if unknown := sorted({*names} - found.keys()):
            stored: dict[str | None, int] = dict(db.execute(self._sql(_SELECT), [unknown]).fetchall())
            highest = stored.pop(None)
            new = [name for name in unknown if name not in stored]
            added = {name: number for number, name in enumerate(new, highest + 1)}
            run_for(db, self._sql(_INSERT), list(added.items()))
            found.update((name, number) for name, number in (stored | added).items() if name is not None)
        return found

    def remember(self, numbers: dict[str, int]) -> None:
        """Keep numbers that are stored in memory: the transaction that gave them was committed."""
        if len(self._numbers) > _MOST_NAMES:
            self._numbers.clear()
        self._numbers.update(numbers)
