"""Texts by simhash, so that nearly equal ones are found without comparing all; durable."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from ultracrawl.rules.duplicates import blocks, distance

if TYPE_CHECKING:
    import sqlite3

_SIGN = 1 << 63


class NearStore(Protocol):
    """The part of a `StateStore` that knows nearly equal texts. Writes become durable with its `flush`."""

    def put(self, fingerprint: bytes, simhash: int) -> None:
        """Keep the simhash (unsigned, 64 bits) of the text that a fingerprint stands for."""

    def find(self, simhash: int, within: int) -> bytes | None:
        """Return the fingerprint with the nearest simhash, at most `within` bits (0 to 3) away; None without one.

        Of several equally near ones the first by value counts, so that the answer does not depend on their order.
        """


class NearTable:
    """The table `near` of a SQLite store; `read` runs a query of it and returns the rows."""

    def __init__(self, db: sqlite3.Connection, read: Callable[..., list[tuple[Any, ...]]]) -> None:
        self._db = db
        self._read = read
        self._put: dict[bytes, int] = {}
        self._blocks: dict[int, set[bytes]] = {}
        """Fingerprints by block, of what is not flushed."""

    @property
    def unwritten(self) -> int:
        """The number of writes that wait for the next flush."""
        return len(self._put)

    def put(self, fingerprint: bytes, simhash: int) -> None:
        """Keep the simhash of a text."""
        self._put[fingerprint] = simhash
        for block in blocks(simhash):
            self._blocks.setdefault(block, set()).add(fingerprint)

    def find(self, simhash: int, within: int) -> bytes | None:
        """Return the fingerprint of the nearest text."""
        places = blocks(simhash)
        query = "SELECT fingerprint, simhash FROM near WHERE block IN (?,?,?,?)"
        known = {found: value % (1 << 64) for found, value in self._read(query, *places)}
        for block in places:
            known.update((found, self._put[found]) for found in self._blocks.get(block, ()))
        near = [(distance(simhash, value), found) for found, value in known.items()]
        best = min(near, default=None)
        return best[1] if best is not None and best[0] <= within else None

    def write(self) -> None:
        """Write what waits; called inside a transaction of the store."""
        self._db.executemany(
            "INSERT OR IGNORE INTO near (block, fingerprint, simhash) VALUES (?,?,?)",
            [
                (block, fingerprint, value - (1 << 64) if value & _SIGN else value)
                for fingerprint, value in self._put.items()
                for block in blocks(value)
            ],
        )

    def written(self) -> None:
        """Take note that the transaction of `write` went well."""
        self._put.clear()
        self._blocks.clear()

    def begin_run(self) -> None:
        """Forget texts that no known page has any more."""
        self._db.execute("DELETE FROM near WHERE fingerprint NOT IN (SELECT fingerprint FROM url)")
