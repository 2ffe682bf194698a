"""What is read of a database: the columns that are there, and the keys of rows, as texts and as values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, quote
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql import quoted_name

from ultracrawl.errors import UserError
from ultracrawl.model.status import StatusCode, status_text
from ultracrawl.sources.mistakes import suggestion

SCHEME = "table"
_NAME = "listed_rows"


class ColumnError(UserError):
    """A definition names a column that the database does not have (status 1007)."""

    def __init__(self, name: str, place: str, known: Sequence[str]) -> None:
        code = f"{status_text(StatusCode.BAD_COLUMN)} ({StatusCode.BAD_COLUMN.value})"
        advice = suggestion(name, known, f"there are: {', '.join(known[:40])}")
        super().__init__(f"{place}: {code}: there is no column `{name}`; {advice}")


@dataclass(frozen=True, slots=True)
class Relation:
    """A table, view or query as SQL takes it, with its columns."""

    origin: sa.FromClause
    columns: Mapping[str, sa.ColumnClause[Any]]
    """By name in lower case."""
    sample: Mapping[str, Any]
    """The values of one row, by column in lower case; empty if there is no row."""

    def column(self, name: str, place: str) -> sa.ColumnClause[Any]:
        """Return a column; case does not matter. Raises `ColumnError`, which names the option (`place`)."""
        found = self.columns.get(name.lower())
        if found is None:
            raise ColumnError(name, place, [one.name for one in self.columns.values()])
        return found


def written_table(name: str) -> sa.TableClause:
    """Return a table by the name that a definition gives it."""
    schema, _, table = name.rpartition(".")
    return sa.table(table, schema=schema or None)


def read_relation(connection: Connection, table: str | None, select: str | None) -> Relation:
    """Ask the database for the columns of a table, view or query, and for one row of it."""
    origin = written_table(table) if table is not None else _written_query(connection, select or "")
    whole = origin if table is not None else origin.alias(_NAME)
    result = connection.execute(sa.select(sa.text("*")).select_from(whole).limit(1))
    names, row = list(result.keys()), result.first()
    origin = sa.table(origin.name, *(sa.column(one) for one in names), schema=origin.schema)
    whole = origin if table is not None else origin.alias(_NAME)
    columns = {one.lower(): whole.c[one] for one in names}
    sample = dict(zip((one.lower() for one in names), row, strict=True)) if row is not None else {}
    return Relation(whole, columns, sample)


def _written_query(connection: Connection, select: str) -> sa.TableClause:
    """Return a query as it stands: a colon or a percent sign in it is no place for a parameter."""
    text = select.strip().rstrip(";")
    if connection.dialect.paramstyle in ("format", "pyformat"):
        text = text.replace("%", "%%")
    return sa.table(quoted_name(f"(\n{text}\n)", quote=False))


def bound(value: object) -> sa.BindParameter[Any]:
    """Return a value for a statement; what its type is, the database sees by the column that it is compared with."""
    return sa.bindparam(None, value, type_=sa.types.NullType(), unique=True)


@dataclass(frozen=True, slots=True)
class RowKeys:
    """The keys of rows: `table:///SOURCE?COLUMN=VALUE&...` as access URLs, texts, and what the database compares."""

    source: str
    columns: Sequence[sa.ColumnClause[Any]]
    kinds: Sequence[type]
    """The type of the values of each column, of a row that is there."""

    @classmethod
    def of_relation(cls, source: str, relation: Relation, names: Sequence[str]) -> RowKeys:
        """Return the keys of a table, view or query by the names of their columns."""
        columns = [relation.column(name, "key") for name in names]
        kinds = [type(relation.sample.get(name.lower(), "")) for name in names]
        for name, kind in zip(names, kinds, strict=True):
            if kind not in _READERS:
                raise UserError(
                    f"key: the values of `{name}` are of a type that no key can have ({kind.__name__})"
                )
        return cls(source, columns, kinds)

    def check_logged(self, database: str) -> None:
        """See that triggers can note the keys of rows as texts. Raises `UserError`."""
        if bytes in self.kinds and database != "postgresql":
            raise UserError(
                "changes.log: a log of changes cannot name keys in bytes; take it out, or another `key`"
            )

    def url_of(self, texts: Sequence[str]) -> str:
        """Return the access URL of a key."""
        pairs = zip(self.columns, texts, strict=True)
        return f"{SCHEME}:///{self.source}?" + "&".join(
            f"{quote(one.name, safe='')}={quote(text, safe='')}" for one, text in pairs
        )

    def texts_of(self, url: str) -> tuple[str, ...] | None:
        """Return the key that an access URL names; None if it is none of this source as it is now."""
        query = url.partition("?")[2].replace("+", "%2B")
        given = {name.lower(): text for name, text in parse_qsl(query, keep_blank_values=True)}
        if len(given) != len(self.columns) or any(one.name.lower() not in given for one in self.columns):
            return None
        return tuple(given[one.name.lower()] for one in self.columns)

    def values_of(self, texts: Sequence[str]) -> tuple[object, ...] | None:
        """Return the values that texts stand for; None if the columns can hold none of the kind."""
        try:
            return tuple(_READERS[kind](text) for kind, text in zip(self.kinds, texts, strict=True))
        except (ValueError, ArithmeticError, TypeError):
            return None

    def canonical(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Return a key as its access URL has it, of texts that a database made of it."""
        values = self.values_of(texts)
        return tuple(texts) if values is None else tuple(key_text(one) for one in values)

    def among(self, keys: Sequence[Sequence[object]]) -> sa.ColumnElement[bool]:
        """Return the condition for rows that have one of the keys."""
        return among(self.columns, keys)

    def behind(self, key: Sequence[object]) -> sa.ColumnElement[bool]:
        """Return the condition for rows that come behind a key in their order."""
        return rows_behind(self.columns, key)


def among(
    columns: Sequence[sa.ColumnClause[Any]], keys: Sequence[Sequence[object]]
) -> sa.ColumnElement[bool]:
    """Return the condition for rows that have one of the keys in some columns."""
    if len(columns) == 1:
        return columns[0].in_([bound(key[0]) for key in keys])
    return sa.tuple_(*columns, types=[sa.types.NullType()] * len(columns)).in_([tuple(key) for key in keys])


def rows_behind(columns: Sequence[sa.ColumnClause[Any]], key: Sequence[object]) -> sa.ColumnElement[bool]:
    """Return the condition for rows that come behind a key in the order of some columns."""
    if len(columns) == 1:
        return columns[0] > bound(key[0])
    behind = sa.tuple_(*columns) > sa.tuple_(*(bound(one) for one in key))
    return sa.and_(
        columns[0] >= bound(key[0]), behind
    )  # MySQL finds its place in an index by the first part alone


def key_text(value: object) -> str:
    """Return a value of a key as its access URL has it: the same for the same value, whatever the session says."""
    match value:
        case datetime():
            return (value.astimezone(UTC) if value.tzinfo else value).isoformat()
        case date() | time():
            return value.isoformat()
        case bytes() | bytearray() | memoryview():
            return bytes(value).hex()
        case _:
            return str(value)


def _read_number(text: str) -> int | float:
    """Return a number; a column of SQLite may hold whole ones and others."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def _read_moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment


_READERS: Mapping[type, Callable[[str], object]] = {
    **{kind: kind for kind in (str, float, Decimal, UUID)},
    int: _read_number,
    datetime: _read_moment,
    date: date.fromisoformat,
    time: time.fromisoformat,
    bytes: lambda text: bytes.fromhex(text.removeprefix("\\x")),
    memoryview: lambda text: bytes.fromhex(text.removeprefix("\\x")),
    bool: lambda text: text.lower() in ("true", "t", "1"),
    type(None): str,
}
