"""Rows that cost nothing but themselves: those without a key, and those with the key of another row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ultracrawl.agents.port import LeftOut
from ultracrawl.agents.table.shape import Relation, RowKeys, key_text, type_ranks, untyped_parameter
from ultracrawl.dataclass import dataclass

T = TypeVar("T")
Key = tuple[str, ...]
Order = Callable[[], tuple[object, ...]]
"""Returns what decides between rows with the same key; it is called for such rows only."""
_Identity = tuple[Key, tuple[type, ...]]
"""A key as texts, and the types of its values."""
_ADVICE = "choose columns for `key` that identify each row"


@dataclass(slots=True)
class _Group(Generic[T]):
    values: Sequence[object]
    """The values of the key columns."""
    content: T | None
    """What was made of the first row; None if another group with the same key comes first."""
    order: Order | None
    """What decides between it and further rows; None: nothing does."""
    number: int = 1
    undecided: bool = False
    """Whether several rows have its key, and they could not be compared."""


class RowGroups(Generic[T]):
    """Rows by their keys; of rows with the same key only the first counts, in whatever order they are read.

    Which one it is depends on the values of the rows alone: the database returns such rows in any order, and their
    documents would change from run to run.
    """

    def __init__(self, *, in_order: bool = False) -> None:
        """If rows come `in_order` of their keys, only the order of the latest one is kept, with what that needs."""
        self._groups: dict[_Identity, _Group[T]] = {}
        self._in_order = in_order
        self._latest: _Group[T] | None = None

    def add(self, key: Key, values: Sequence[object], content: T, order: Order | None = None) -> None:
        """Add a row with what is made of it.

        `key` has the texts of the values of its key columns. Rows that cannot be compared remain `undecided`: those
        without an order, and those of a key that comes again after another one, as a collation may have it.
        """
        identity = key, tuple(map(type, values))
        known = self._groups.get(identity)
        if known is None:
            if self._in_order and self._latest is not None:
                self._latest.order = None
            self._latest = self._groups[identity] = _Group(values, content, order)
            return
        known.number += 1
        if order is None or known.order is None:
            known.undecided = True
        elif order() < known.order():
            known.order, known.content = order, content

    def undecided(self, *, with_last: bool) -> list[Sequence[object]]:
        """Return the values of the keys whose rows are undecided, and of the last one if more rows may have it."""
        groups = self._groups.values()
        last = next(reversed(groups)) if with_last else None
        return [group.values for group in groups if group.undecided or group is last]

    def replace(self, others: RowGroups[T]) -> None:
        """Take groups from `others`, which has all rows with its keys."""
        self._groups.update(others._groups)

    def join_types(self, others: RowGroups[None] | None = None) -> None:
        """Leave out the rows whose key is that of a row with values of another type, such as `'1'` beside `1`.

        The row with the values that SQLite orders first stays; `others` has rows that are not in these groups.
        """
        first: dict[Key, tuple[int, ...]] = {}
        for key, types in (*self._groups, *(others._groups if others is not None else ())):
            ranks = type_ranks(types)
            first[key] = min(ranks, first.get(key, ranks))
        for (key, types), group in self._groups.items():
            if type_ranks(types) != first[key]:
                group.content = None

    @property
    def rows(self) -> Mapping[Key, T]:
        """The first rows by key."""
        return {key: group.content for (key, _), group in self._groups.items() if group.content is not None}

    def keys(self) -> set[Key]:
        """Return all keys."""
        return {key for key, _ in self._groups}

    def parts(self, size: int) -> Iterator[RowGroups[T]]:
        """Yield the groups in parts of at most `size`."""
        groups = list(self._groups.items())
        for start in range(0, len(groups), size):
            part = RowGroups[T]()
            part._groups = dict(groups[start : start + size])
            yield part

    @property
    def last_values(self) -> Sequence[object]:
        """The values of the key of the last group."""
        return next(reversed(self._groups.values())).values

    def left_out(self, keys: RowKeys) -> Iterator[LeftOut]:
        """Yield the rows that do not count."""
        number, first = 0, ""
        for (key, _), group in self._groups.items():
            more = group.number - (group.content is not None)
            number += more
            first = first or (keys.format(key) if more else "")
        if number:
            names = format_columns(column.name for column in keys.columns)
            yield LeftOut(f"row with the key of another row, in {names}", first, number, _ADVICE)


def rows_without_key(connection: Connection, relation: Relation, keys: RowKeys) -> Iterator[LeftOut]:
    """Yield the rows that lack a value in a key column, with the nearest row that has all values."""
    columns = keys.columns
    incomplete = sa.or_(*(column.is_(None) for column in columns))
    counts = sa.select(sa.func.count(), *map(sa.func.count, columns)).select_from(relation.origin)
    number, *filled = connection.execute(counts.where(incomplete)).one()
    if not number:
        return
    rows = sa.select(*columns).select_from(relation.origin).order_by(*columns).limit(1)
    first = connection.execute(rows.where(incomplete)).one()
    lacking = next(position for position, value in enumerate(first) if value is None)
    beside = [
        column == untyped_parameter(value) for column, value in zip(columns[:lacking], first, strict=False)
    ]
    neighbour = connection.execute(rows.where(keys.are_complete, *beside)).first()
    names = format_columns(
        column.name for column, count in zip(columns, filled, strict=True) if count < number
    )
    place = keys.format([None if value is None else key_text(value) for value in first])
    if neighbour is not None:
        place = f"{place or 'one'} beside {keys.format([key_text(value) for value in neighbour])}"
    yield LeftOut(f"row without a value in {names}", place or "one", number, _ADVICE)


def format_columns(names: Iterable[str]) -> str:
    """Return names of key columns for a message."""
    written = [f"`{name}`" for name in names]
    return f"the key column {written[0]}" if len(written) == 1 else f"the key columns {', '.join(written)}"
