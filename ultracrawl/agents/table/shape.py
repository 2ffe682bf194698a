"""Columns of tables and queries, and row keys as access URLs, texts and database values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import partial
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
_ODD_MOMENT = re.compile(r"-?infinity|[\d:. +-]+ BC|\d{5,}-[\d:. +-]+|24:00:00[\d:.+-]*|0000-00-00[\d:. ]*")
"""Dates and times of databases that Python's types cannot hold."""
_QUERY_ALIAS = "listed_rows"


class ColumnError(UserError):
    """A definition names a column that the database does not have (status 1007)."""

    def __init__(self, name: str, option: str, known: Sequence[str]) -> None:
        code = f"{status_text(StatusCode.BAD_COLUMN)} ({StatusCode.BAD_COLUMN.value})"
        advice = suggestion(name, known, f"there are: {', '.join(known[:40])}")
        super().__init__(f"{option}: {code}: there is no column `{name}`; {advice}")


@dataclass(frozen=True, slots=True)
class Relation:
    """A table, view or query with its columns."""

    origin: sa.FromClause
    columns: Mapping[str, sa.ColumnClause[Any]]
    """By name in lower case."""
    sample: Mapping[str, Any]
    """The values of one row, by column in lower case; empty if there is no row."""

    def column(self, name: str, option: str) -> sa.ColumnClause[Any]:
        """Return a column, case-insensitively. Raises `ColumnError`, which names the option."""
        column = self.columns.get(name.lower())
        if column is None:
            raise ColumnError(name, option, [known.name for known in self.columns.values()])
        return column


def table_clause(name: str) -> sa.TableClause:
    """Return the table named `table` or `schema.table`."""
    schema, _, table = name.rpartition(".")
    return sa.table(table, schema=schema or None)


def read_relation(connection: Connection, table: str | None, select: str | None) -> Relation:
    """Read the columns of a table, view or query from the database, and one row as a sample."""
    origin = table_clause(table) if table is not None else _query_clause(connection, select or "")
    whole = origin if table is not None else origin.alias(_QUERY_ALIAS)
    result = connection.execute(sa.select(sa.text("*")).select_from(whole).limit(1))
    names, row = list(result.keys()), result.first()
    origin = sa.table(origin.name, *(sa.column(name) for name in names), schema=origin.schema)
    whole = origin if table is not None else origin.alias(_QUERY_ALIAS)
    columns = {name.lower(): whole.c[name] for name in names}
    sample = dict(zip((name.lower() for name in names), row, strict=True)) if row is not None else {}
    return Relation(whole, columns, sample)


def _query_clause(connection: Connection, select: str) -> sa.TableClause:
    """Return a query as a FROM clause, verbatim: colons and percent signs in it are not parameters."""
    text = select.strip().rstrip(";")
    if connection.dialect.paramstyle in ("format", "pyformat"):
        text = text.replace("%", "%%")
    return sa.table(quoted_name(f"(\n{text}\n)", quote=False))


def untyped_parameter(value: object) -> sa.BindParameter[Any]:
    """Return a bind parameter without a type, which the database derives from the column compared with it."""
    return sa.bindparam(None, value, type_=sa.types.NullType(), unique=True)


@dataclass(frozen=True, slots=True)
class RowKeys:
    """Converts row keys between access URLs (`table:///SOURCE?COLUMN=VALUE&...`), texts and database values."""

    source: str
    columns: Sequence[sa.ColumnClause[Any]]
    types: Sequence[type]
    """The type of the values of each key column, taken from the sample row."""

    @classmethod
    def of_relation(cls, source: str, relation: Relation, names: Sequence[str]) -> RowKeys:
        """Return the key converter of a table, view or query. Raises `ColumnError` and `UserError`."""
        columns = [relation.column(name, "key") for name in names]
        types = [type(relation.sample.get(name.lower(), "")) for name in names]
        for name, value_type in zip(names, types, strict=True):
            if value_type not in _PARSERS:
                raise UserError(
                    f"key: the values of `{name}` have a type that a key cannot have ({value_type.__name__})"
                )
        return cls(source, columns, types)

    def check_loggable(self, database: str) -> None:
        """Raise `UserError` if triggers cannot write the keys into a change log as texts."""
        if bytes in self.types and database != "postgresql":
            raise UserError(
                "changes.log: a change log cannot hold binary keys; remove it, or choose another `key`"
            )

    def url_of(self, texts: Sequence[str]) -> str:
        """Return the access URL of a key."""
        pairs = zip(self.columns, texts, strict=True)
        return f"{SCHEME}:///{self.source}?" + "&".join(
            f"{quote(column.name, safe='')}={quote(text, safe='')}" for column, text in pairs
        )

    def texts_of(self, url: str) -> tuple[str, ...] | None:
        """Return the key in an access URL; None if the URL does not have exactly the key columns."""
        query = url.partition("?")[2].replace("+", "%2B")
        given = {name.lower(): text for name, text in parse_qsl(query, keep_blank_values=True)}
        names = [column.name.lower() for column in self.columns]
        if len(given) != len(names) or any(name not in given for name in names):
            return None
        return tuple(given[name] for name in names)

    def values_of(self, texts: Sequence[str]) -> tuple[object, ...] | None:
        """Return the database values of a key; None if a text cannot be converted to the type of its column."""
        try:
            return tuple(_PARSERS[kind](text) for kind, text in zip(self.types, texts, strict=True))
        except (ValueError, ArithmeticError, TypeError):
            return None

    def canonical(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Return a key as access URLs contain it, from texts that the database has made of its values."""
        values = self.values_of(texts)
        return tuple(texts) if values is None else tuple(key_text(value) for value in values)

    def is_among(self, keys: Sequence[Sequence[object]]) -> sa.ColumnElement[bool]:
        """Return the condition for rows with one of the keys."""
        return is_among(self.columns, keys)

    def rows_after(self, key: Sequence[object]) -> sa.ColumnElement[bool]:
        """Return the condition for rows that follow a key in key order."""
        return rows_after(self.columns, key)


def is_among(
    columns: Sequence[sa.ColumnClause[Any]], keys: Sequence[Sequence[object]]
) -> sa.ColumnElement[bool]:
    """Return the condition that columns have the values of one of the keys."""
    if len(columns) == 1:
        return columns[0].in_([untyped_parameter(key[0]) for key in keys])
    return sa.tuple_(*columns, types=[sa.types.NullType()] * len(columns)).in_([tuple(key) for key in keys])


def rows_after(columns: Sequence[sa.ColumnClause[Any]], key: Sequence[object]) -> sa.ColumnElement[bool]:
    """Return the condition that the values of columns follow a key in their order."""
    if len(columns) == 1:
        return columns[0] > untyped_parameter(key[0])
    follows = sa.tuple_(*columns) > sa.tuple_(*(untyped_parameter(part) for part in key))
    # MySQL seeks in an index by a condition on its first column, and not by a row comparison.
    return sa.and_(columns[0] >= untyped_parameter(key[0]), follows)


def key_text(value: object) -> str:
    """Return a key value as access URLs contain it, independent of the settings of the database session."""
    match value:
        case datetime():
            return _in_utc(value).isoformat()
        case date() | time():
            return value.isoformat()
        case bytes() | bytearray() | memoryview():
            return bytes(value).hex()
        case _:
            return str(value)


def _parse_number(text: str) -> int | float:
    """Return a number; a column of SQLite may hold integers and floats."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def _in_utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC) if value.tzinfo else value
    except OverflowError:  # in the first or the last hours that Python knows
        return value


def _parse_moment(kind: type[date] | type[time], text: str) -> object:
    """Return a date or a time; a text for those of the database that Python's types cannot hold."""
    if _ODD_MOMENT.fullmatch(text):
        return text
    value = kind.fromisoformat(text)
    return _in_utc(value) if isinstance(value, datetime) else value


_PARSERS: Mapping[type, Callable[[str], object]] = {
    **{kind: kind for kind in (str, float, Decimal, UUID)},
    int: _parse_number,
    **{kind: partial(_parse_moment, kind) for kind in (datetime, date, time)},
    bytes: lambda text: bytes.fromhex(text.removeprefix("\\x")),
    memoryview: lambda text: bytes.fromhex(text.removeprefix("\\x")),
    bool: lambda text: text.lower() in ("true", "t", "1"),
    type(None): str,
}
