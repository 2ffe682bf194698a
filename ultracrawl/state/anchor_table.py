"""What links to documents are called, kept in the store of their source."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ultracrawl.content.anchors import SHARED, anchor_mark
from ultracrawl.state.database import translated

if TYPE_CHECKING:
    import sqlite3


class DueAnchors(NamedTuple):
    """Documents (by key) whose anchor texts in the index are not those of their links, and texts that say nothing."""

    targets: tuple[int, ...]
    shared: frozenset[str]


class AnchorStore(Protocol):
    """The part of a `StateStore` that knows anchor texts. Writes become durable with its `flush`.

    A text is known once for each target, however many pages have it. A page remembers its links by their marks
    (`content.anchors.anchor_mark`), so that a text goes when the last page that had it has changed or left.
    """

    def meet(self, target: int, text: str, now: float) -> None:
        """Take note that a page has a link of this text to a target (a URL by its key)."""

    def page(self, key: int, marks: bytes, *, new: bool = False) -> None:
        """Say which links a page has now: their marks, 4 bytes each. With `new` nothing was ever said of it."""

    def texts(self, target: int) -> list[str]:
        """Return the texts of links to a target, in the order in which they were found."""

    def told(self, target: int) -> None:
        """Say that the index has the texts of a target as they are now, or needs none."""

    def verify(self) -> None:
        """Find the texts that no page has any more, among those that pages have given up; sees what was flushed."""

    def due(self, also: Collection[int] = ()) -> DueAnchors:
        """Return the targets with texts that the index was not told, or has and should not, and those named `also`.

        Sees what was flushed.
        """


class AnchorTable:
    """The tables `anchor`, `anchor_page` and `anchor_left` of a SQLite store; `read` runs a query."""

    def __init__(self, db: sqlite3.Connection, read: Callable[..., list[tuple[Any, ...]]]) -> None:
        self._db = db
        self._read = read
        self._met: dict[int, dict[str, float]] = {}
        """When texts were found, by target and text; below 0 if the index was told of them since."""
        self._pages: dict[int, bytes] = {}
        self._new: set[int] = set()
        self._told: set[int] = set()
        self._gone: list[tuple[int, str]] = []
        self._verified = 0

    @property
    def unwritten(self) -> int:
        """The number of writes that wait for the next flush."""
        return len(self._met) + len(self._pages) + len(self._told) + len(self._gone) + self._verified

    def meet(self, target: int, text: str, now: float) -> None:
        """Take note of a link."""
        self._met.setdefault(target, {}).setdefault(text, now)

    def page(self, key: int, marks: bytes, *, new: bool = False) -> None:
        """Say which links a page has."""
        if new and key not in self._pages:
            self._new.add(key)
        self._pages[key] = marks

    def texts(self, target: int) -> list[str]:
        """Return the texts of links to a target."""
        query = "SELECT text FROM anchor WHERE target=? AND gone=0 ORDER BY seen, text"
        known = dict.fromkeys(text for (text,) in self._read(query, target))
        known.update(dict.fromkeys(self._met.get(target, ())))
        return list(known)

    def told(self, target: int) -> None:
        """Say that the index has the texts of a target; those met from now on it has not."""
        self._told.add(target)
        if target in self._met:
            self._met[target] = {text: -abs(now) for text, now in self._met[target].items()}

    def verify(self) -> None:
        """Find the texts that no page has any more."""
        rows = self._read("SELECT id, marks FROM anchor_left")
        if not rows:
            return
        self._verified = max(number for number, _ in rows)
        doubted = set().union(*(_numbers(marks) for _, marks in rows))
        with translated(self._db):  # row by row: they may be many
            for (marks,) in self._db.execute("SELECT marks FROM anchor_page"):
                doubted.difference_update(_numbers(marks))
                if not doubted:
                    return
            query = "SELECT target, text FROM anchor WHERE gone=0"
            self._gone += [row for row in self._db.execute(query) if anchor_mark(*row) in doubted]

    def due(self, also: Collection[int] = ()) -> DueAnchors:
        """Return what the index is to be told."""
        rows = self._read("SELECT target, text, gone FROM anchor WHERE told=0 OR gone=1")
        if not rows and not also:
            return DueAnchors((), frozenset())
        query = "SELECT text FROM anchor WHERE gone=0 GROUP BY text HAVING count(*)>?"
        shared = frozenset(text for (text,) in self._read(query, SHARED))
        targets = dict.fromkeys(target for target, text, gone in rows if gone or text not in shared)
        targets.update(dict.fromkeys(also))
        return DueAnchors(tuple(targets), shared)

    def write(self) -> None:
        """Write what waits; called inside a transaction of the store."""
        run = self._db.executemany
        told = [(target,) for target in self._told]
        run("DELETE FROM anchor WHERE target=? AND gone=1", told)
        run("UPDATE anchor SET told=1 WHERE target=? AND told=0", told)
        met = ((target, text, now) for target, found in self._met.items() for text, now in found.items())
        run(
            "INSERT INTO anchor (target, text, seen, told) VALUES (?,?,?,?) "
            "ON CONFLICT DO UPDATE SET gone=0 WHERE gone=1",
            [(target, text, abs(now), now < 0) for target, text, now in met],
        )
        run("UPDATE anchor SET gone=1 WHERE target=? AND text=?", self._gone)
        self._write_pages()
        if self._verified:
            self._db.execute("DELETE FROM anchor_left WHERE id<=?", (self._verified,))

    def _write_pages(self) -> None:
        """Replace what pages remember; what they have no longer is looked for on other pages later."""
        new = [(key, marks) for key, marks in self._pages.items() if key in self._new]
        self._db.executemany("INSERT OR REPLACE INTO anchor_page (key, marks) VALUES (?,?)", new)
        for key in self._pages.keys() - self._new:
            marks = self._pages[key]
            row = self._db.execute("SELECT marks FROM anchor_page WHERE key=?", (key,)).fetchone()
            before = row[0] if row else b""
            if before == marks:
                continue
            left = _numbers(before) - _numbers(marks)
            if left:
                self._db.execute("INSERT INTO anchor_left (marks) VALUES (?)", (array("I", left).tobytes(),))
            self._db.execute("INSERT OR REPLACE INTO anchor_page (key, marks) VALUES (?,?)", (key, marks))

    def written(self) -> None:
        """Take note that the transaction of `write` went well."""
        self._met.clear()
        self._pages.clear()
        self._new.clear()
        self._told.clear()
        self._gone.clear()
        self._verified = 0


def _numbers(marks: bytes) -> set[int]:
    return set(array("I", marks))
