"""The parts of a store, which gather changes in generations, and what an engine gives them.

A statement that every engine can run stands in the part that uses it, as PostgreSQL takes it: `{own}`, or `{u}` for the
alias `u`, is the condition that rows are of the source, `source, part` are its columns, and `{ids}` their values. The
SQLite engine rewrites it. What the engines say otherwise is declared in the part, and written in each engine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence, Sized
from copy import copy
from typing import Any, Protocol, Self, TypeVar

from ultracrawl.model import UrlOutcome
from ultracrawl.stores.state.read_ahead import RecordCache, Row

T = TypeVar("T")


class Answer(Protocol):
    """What a statement returns."""

    def fetchall(self) -> list[Row]:
        """Return its rows."""


class Writing(Protocol):
    """An open transaction."""

    def run(self, statement: str, rows: Collection[Sequence[object]], /) -> object:
        """Run a statement, which takes the columns of rows as arrays, for some rows, in any order."""

    def execute(self, statement: str, values: Sequence[object] = (), /) -> Answer:
        """Run a statement once."""


class Access(Protocol):
    """What an engine gives the parts of a store; all but `many` raise `StateError`.

    A statement takes its values in the order in which the part that names it says.
    """

    record_cache: RecordCache

    @property
    def elsewhere(self) -> Collection[int]:
        """Keys of documents that wait in the document caches of other machines, which deliver them."""

    def flush(self) -> None:
        """Flush the store."""

    def read(self, query: str, /, *values: object) -> list[Row]:
        """Return the rows of a query."""

    def stream(self, query: str, /, *values: object, narrow: bool = False) -> Iterator[Row]:
        """Yield the rows of a query of any size; `narrow` ones are of one or two short columns."""

    def many(self, values: list[Any], /) -> object:
        """Return the form in which a statement takes a list as one value."""

    def stored_outcome(self, outcome: UrlOutcome) -> object:
        """Return what stands in a row for an outcome."""

    def outcome_of(self, stored: Any) -> UrlOutcome:
        """Return the outcome that stands in a row."""

    def write(self, work: Callable[[Writing], T], /, *, whole: bool = False) -> T:
        """Run a function in a transaction, which is durable then; maybe it runs again when the answer is lost.

        `whole`: its statements join tables of the source as wholes.
        """


def put_rows(table: str, key: str, values: str) -> str:
    """Return a statement that stores rows in place of those with the same key; both are columns with their types."""
    columns = [column.split() for column in f"{key}, {values}".split(", ")]
    names = ", ".join(name for name, _ in columns)
    arrays = ", ".join(f"%s::{kind}[]" for _, kind in columns)
    changed = ", ".join(f"{name} = excluded.{name}" for name, _ in columns[key.count(", ") + 1 :])
    keys = ", ".join(name for name, _ in columns[: key.count(", ") + 1])
    return f"""
        INSERT INTO {table} (source, part, {names}) SELECT {{ids}}, * FROM unnest({arrays})
        ON CONFLICT (source, part, {keys}) DO UPDATE SET {changed}"""  # noqa: S608 - names of ours


class Part:
    """Base class of the parts of a store, which gather changes in generations.

    A flush writes the generation that it found, `frozen`; what comes until that is committed belongs to the next one.
    Reads see both over the tables, which may have the frozen one already. An engine whose flush waits for its end has
    nothing frozen while anybody reads, unless a flush has failed.
    """

    changes: tuple[Sized, ...]
    """The collections of changes."""
    frozen: Self
    """A part with the changes that a flush writes, or has failed to write, and nothing else; it never changes."""
    generations: tuple[Self, Self]
    """The parts with what a flush writes, and with what is gathered for the next one."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._read = access.read
        self._stream = access.stream
        self._many = access.many
        self._record_cache = access.record_cache
        self.begin_generation()
        self.freeze()

    def begin_generation(self) -> None:
        """Begin with new, empty collections."""
        raise NotImplementedError

    def freeze(self) -> Self:
        """Set the changes so far aside for a flush; returns them."""
        self.frozen = copy(self)
        for name in ("frozen", "generations"):  # what was frozen before is forgotten
            vars(self.frozen).pop(name, None)
        self.generations = self.frozen, self
        self.begin_generation()
        return self.frozen

    @property
    def unwritten(self) -> int:
        """The number of changes of this generation."""
        return sum(map(len, self.changes))

    def write_changes(self, to: Writing) -> None:
        """Write the changes inside a transaction, which may be repeated; called for a frozen part."""
        raise NotImplementedError

    def forget_frozen(self) -> None:
        """Forget the frozen changes, which are committed."""
        self.frozen.begin_generation()
