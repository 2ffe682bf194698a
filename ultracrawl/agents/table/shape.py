"""Columns of tables and queries, and row keys as access URLs, texts and database values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import cache, partial
from itertools import product
from typing import Any
from urllib.parse import parse_qsl, quote
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql import quoted_name

from ultracrawl.dataclass import dataclass
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
    types: Sequence[Sequence[type]]
    """The types that the values of each key column have. It is one, but in columns of SQLite that hold any value."""

    @classmethod
    def of_relation(
        cls, connection: Connection, source: str, relation: Relation, names: Sequence[str]
    ) -> RowKeys:
        """Return the key converter of a table, view or query. Raises `ColumnError` and `UserError`."""
        columns = [relation.column(name, "key") for name in names]
        if connection.dialect.name == "sqlite":
            types = _types_in_sqlite(connection, relation, columns)
        else:
            types = [(kind,) for kind in _types_of_a_row(connection, relation, columns)]
        for name, (first, *_) in zip(names, types, strict=True):
            if first not in _PARSERS:
                raise UserError(
                    f"key: the values of `{name}` have a type that a key cannot have ({first.__name__})"
                )
        return cls(source, columns, types)

    @property
    def are_mixed(self) -> bool:
        """Whether a column has values of several types, so that two values may be one key, such as `1` and `'1'`."""
        return any(len(kinds) > 1 for kinds in self.types)

    def check_loggable(self, database: str) -> None:
        """Raise `UserError` if triggers cannot write the keys into a change log as texts."""
        if any(tuple(kinds) == (bytes,) for kinds in self.types) and database != "postgresql":
            raise UserError(
                "changes.log: a change log cannot hold binary keys; remove it, or choose another `key`"
            )

    def url_of(self, texts: Sequence[str]) -> str:
        """Return the access URL of a key."""
        return f"{SCHEME}:///{self.source}?{self.format(texts)}"

    def format(self, texts: Sequence[str | None]) -> str:
        """Return a key as access URLs contain it: `COLUMN=VALUE&...`; columns without a value are left out."""
        pairs = zip(self.columns, texts, strict=True)
        return "&".join(
            f"{_quoted_name(column.name)}={quote(text, safe='')}"
            for column, text in pairs
            if text is not None
        )

    def texts_of(self, url: str) -> tuple[str, ...] | None:
        """Return the key in an access URL; None if the URL does not have exactly the key columns."""
        query = url.partition("?")[2].replace("+", "%2B")
        given = {name.lower(): text for name, text in parse_qsl(query, keep_blank_values=True)}
        names = [column.name.lower() for column in self.columns]
        if len(given) != len(names) or any(name not in given for name in names):
            return None
        return tuple(given[name] for name in names)

    def values_of(self, texts: Sequence[str]) -> list[tuple[object, ...]]:
        """Return the database values that a key may have; none if a text is no value of its column."""
        columns = zip(self.types, texts, strict=True)
        return list(product(*(_values_of(kinds, text) for kinds, text in columns)))

    def forms_of(self, texts: Sequence[str]) -> set[tuple[str, ...]]:
        """Return a key as access URLs may contain it, from texts that the database has made of its values."""
        return {tuple(texts), *map(key_texts, self.values_of(texts))}

    def cursor_after(self, values: Sequence[object]) -> str:
        """Return the cursor of a listing that goes on after a key: numbers as such, other values as texts.

        Bytes in a column with values of several types are a list with their text.
        """
        columns = zip(self.types, values, strict=True)
        return json.dumps([_cursor_value(value, is_mixed=len(kinds) > 1) for kinds, value in columns])

    def values_of_cursor(self, cursor: Sequence[Any]) -> tuple[object, ...] | None:
        """Return the key of a cursor; None if the columns cannot have it as they are now."""
        if len(cursor) != len(self.columns):
            return None
        values = [_from_cursor(kinds, value) for kinds, value in zip(self.types, cursor, strict=True)]
        return None if None in values else tuple(values)

    @property
    def are_complete(self) -> sa.ColumnElement[bool]:
        """The condition for rows that have a value in each key column."""
        return sa.and_(*(column.is_not(None) for column in self.columns))

    def is_among(self, keys: Sequence[Sequence[object]]) -> sa.ColumnElement[bool]:
        """Return the condition for rows with one of the keys."""
        return is_among(self.columns, keys)

    def rows_after(self, key: Sequence[object]) -> sa.ColumnElement[bool]:
        """Return the condition for rows that follow a key in key order."""
        return rows_after(self.columns, key)


class _Untyped(sa.types.UserDefinedType[Any]):
    """The type of values that go to the database as they are.

    For `NullType`, SQLAlchemy would take the types of the first of several keys for all of them.
    """

    cache_ok = True


def is_among(
    columns: Sequence[sa.ColumnClause[Any]], keys: Sequence[Sequence[object]]
) -> sa.ColumnElement[bool]:
    """Return the condition that columns have the values of one of the keys."""
    if len(columns) == 1:
        return columns[0].in_([untyped_parameter(key[0]) for key in keys])
    untyped = (sa.type_coerce(column, _Untyped()) for column in columns)
    return sa.tuple_(*untyped).in_([tuple(key) for key in keys])


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


def key_texts(values: Iterable[object]) -> tuple[str, ...]:
    """Return a key as texts, from the values of its columns."""
    return tuple(map(key_text, values))


def _types_of_a_row(
    connection: Connection, relation: Relation, columns: Sequence[sa.ColumnClause[Any]]
) -> list[type]:
    """Return the types of the key of a row that has one; of texts if there is none."""
    names = [column.name.lower() for column in columns]
    row: Sequence[object] | None = [relation.sample[name] for name in names] if relation.sample else None
    if row is not None and None in row:
        complete = sa.and_(*(column.is_not(None) for column in columns))
        statement = sa.select(*columns).select_from(relation.origin).where(complete).limit(1)
        row = connection.execute(statement).first()
    return [str] * len(columns) if row is None else [type(value) for value in row]


def _types_in_sqlite(
    connection: Connection, relation: Relation, columns: Sequence[sa.ColumnClause[Any]]
) -> list[tuple[type, ...]]:
    """Return the types of the values of key columns: those from the least to the greatest, which SQLite orders so."""
    ends = [one for column in columns for one in (sa.func.min(column), sa.func.max(column))]
    if len(columns) == 1:  # SQLite seeks in an index for one of them only
        parts = [sa.select(end).select_from(relation.origin).scalar_subquery() for end in ends]
        row = connection.execute(sa.select(*map(sa.func.typeof, parts))).one()
    else:
        row = connection.execute(sa.select(*map(sa.func.typeof, ends)).select_from(relation.origin)).one()
    found = [_SQLITE_TYPES.get(name) for name in row]
    ranks = list(_SQLITE_ORDER)
    return [
        (str,) if least is None or most is None else tuple(ranks[ranks.index(least) : ranks.index(most) + 1])
        for least, most in zip(found[::2], found[1::2], strict=True)
    ]


def _values_of(kinds: Sequence[type], text: str) -> list[object]:
    """Return the values of some types that a text may stand for."""
    values = []
    for kind in kinds:
        try:
            value = _PARSERS[kind](text)
        except (ValueError, ArithmeticError, TypeError):
            continue
        if len(kinds) == 1 or not isinstance(value, int) or _is_integer_of_sqlite(value, text):
            values.append(value)
    return values


def _is_integer_of_sqlite(value: int, text: str) -> bool:
    return str(value) == text and -(1 << 63) <= value < 1 << 63


def _cursor_value(value: object, *, is_mixed: bool) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return [key_text(value)] if is_mixed and isinstance(value, bytes) else key_text(value)


def _from_cursor(kinds: Sequence[type], value: object) -> object:
    if isinstance(value, int | float):
        return value
    text, wanted = (value[0], [bytes]) if isinstance(value, list) else (str(value), kinds)
    return next(iter(_values_of([str] if str in wanted else wanted, text)), None)


@cache
def _quoted_name(column: str) -> str:
    return quote(column, safe="")


def type_ranks(types: Iterable[type]) -> tuple[int, ...]:
    """Return where SQLite orders values of each type; the same for all values of other databases' columns."""
    return tuple(_SQLITE_ORDER.get(one, 0) for one in types)


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
}
_SQLITE_ORDER: Mapping[type, int] = {int: 0, str: 1, bytes: 2}
_SQLITE_TYPES: Mapping[str, type] = {"integer": int, "real": int, "text": str, "blob": bytes}
