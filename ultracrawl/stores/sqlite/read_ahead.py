"""Entries of sites that are likely to be asked for next: many small sites cost one query and not one each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby
from typing import Any

SMALL = 32
"""A site with more entries is worth a query of its own."""
LEAST, MOST = 64, 512
"""Rows that are read ahead, at first and at most."""
REST = 64
"""Sites for which nothing is read ahead after it was in vain."""

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
