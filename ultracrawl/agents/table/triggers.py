"""Generates the SQL for a change log and its triggers, for PostgreSQL, MariaDB/MySQL and SQLite."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql
from sqlalchemy.engine import URL, Dialect
from sqlalchemy.schema import CreateTable

from ultracrawl.agents.table.change_log import FRESH_MARK, MARK_COLUMN, key_columns
from ultracrawl.agents.table.database import Database, database_url
from ultracrawl.agents.table.section import TableSection
from ultracrawl.agents.table.shape import table_clause
from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UserError
from ultracrawl.sources.secrets import SecretReader

_KEY_LENGTH = 1000
_BINARY_COLLATION = "utf8mb4_bin"
"""A collation of MariaDB in which different keys are never equal."""


def change_log_sql(options: TableSection, secrets: SecretReader, base: Path) -> str:
    """Return the SQL that creates the change log of a source and its triggers. Raises `UserError`."""
    if options.changes.log is None or options.table is None:
        raise UserError("the source has no change log; write `changes: {log: TABLE_log}` in its definition")
    url: URL = database_url(options, secrets, base)
    write = _WRITERS.get(url.get_backend_name())
    if write is None:
        known = ", ".join(sorted({"postgresql", "mariadb", "sqlite"}))
        raise UserError(f"triggers are not supported for {url.get_backend_name()}, only for {known}")
    Database(url).close()  # raises if the driver is missing
    dialect_class: type[Any] = url.get_dialect()
    dialect: Dialect = dialect_class(paramstyle="named")  # other styles double percent signs in names
    names = _Names.of_source(options.table, options.changes.log, options.key, dialect)
    statements = (_log_table(options.changes.log, len(options.key), dialect), *write(names))
    return "\n\n".join(f"{statement};" for statement in statements) + "\n"


@dataclass(frozen=True, slots=True)
class _Names:
    """The names used in the statements, quoted for the database."""

    table: str
    log: str
    keys: Sequence[str]
    columns: str
    dialect: Dialect
    bare_log: str

    @classmethod
    def of_source(cls, table: str, log: str, keys: Sequence[str], dialect: Dialect) -> _Names:
        preparer = dialect.identifier_preparer
        quoted = {}
        for name in (table, log):
            schema, _, bare_name = name.rpartition(".")
            quoted[name] = preparer.format_table(sa.Table(bare_name, sa.MetaData(), schema=schema or None))
        columns = ", ".join(key_columns(len(keys)))
        bare_log = log.rpartition(".")[2]
        return cls(
            quoted[table], quoted[log], [preparer.quote(key) for key in keys], columns, dialect, bare_log
        )

    def with_suffix(self, suffix: str) -> str:
        """Return the quoted name `LOG_SUFFIX` for a trigger or function."""
        return self.dialect.identifier_preparer.quote(f"{self.bare_log}_{suffix}")

    def insert_keys(self, *rows: str, as_text: str) -> str:
        """Return the statement that inserts the distinct keys of the rows `OLD` and `NEW` into the log.

        `as_text` is a template of the expression that converts a key column to text.
        """
        selects = " UNION ".join(
            "SELECT " + ", ".join(as_text.format(f"{row}.{key}") for key in self.keys) for row in rows
        )
        return f"INSERT INTO {self.log} ({self.columns}) {selects}"


def _log_table(log: str, key_size: int, dialect: Dialect) -> str:
    name = table_clause(log)
    binary = mysql.VARCHAR(_KEY_LENGTH, collation=_BINARY_COLLATION)
    key_type = sa.String(_KEY_LENGTH).with_variant(binary, "mysql", "mariadb")
    columns = [sa.Column(column, key_type) for column in key_columns(key_size)]
    mark = sa.Column(MARK_COLUMN, sa.CHAR(1), nullable=False, server_default=FRESH_MARK)
    table = sa.Table(name.name, sa.MetaData(), *columns, mark, schema=name.schema)
    lines = str(CreateTable(table).compile(dialect=dialect)).strip().splitlines()
    return "\n".join(line.rstrip().replace("\t", "    ") for line in lines)


def _postgresql(names: _Names) -> Iterator[str]:
    function = names.with_suffix("note")
    # A cast would strip trailing blanks of keys, and `format` makes an empty text of NULL.
    as_text = "CASE WHEN {0} IS NOT NULL THEN format('%s', {0}) END"
    all_keys = ", ".join(as_text.format(key) for key in names.keys)
    yield f"""CREATE FUNCTION {function}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET datestyle = 'ISO' SET bytea_output = 'hex' AS $note$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        INSERT INTO {names.log} ({names.columns}) SELECT {all_keys} FROM {names.table};
    ELSIF TG_OP = 'INSERT' THEN
        {names.insert_keys("NEW", as_text=as_text)};
    ELSIF TG_OP = 'DELETE' THEN
        {names.insert_keys("OLD", as_text=as_text)};
    ELSE
        {names.insert_keys("OLD", "NEW", as_text=as_text)};
    END IF;
    RETURN NULL;
END
$note$"""  # noqa: S608 - names are quoted by SQLAlchemy
    yield f"""CREATE TRIGGER {names.with_suffix("rows")} AFTER INSERT OR UPDATE OR DELETE ON {names.table}
FOR EACH ROW EXECUTE FUNCTION {function}()"""
    yield f"""CREATE TRIGGER {names.with_suffix("truncate")} BEFORE TRUNCATE ON {names.table}
FOR EACH STATEMENT EXECUTE FUNCTION {function}()"""


def _row_triggers(names: _Names, body: Callable[[str], str], as_text: str) -> Iterator[str]:
    for event, rows in (("INSERT", ["NEW"]), ("UPDATE", ["OLD", "NEW"]), ("DELETE", ["OLD"])):
        trigger = names.with_suffix(event.lower())
        head = f"CREATE TRIGGER {trigger} AFTER {event} ON {names.table} FOR EACH ROW"
        yield f"{head}\n{body(names.insert_keys(*rows, as_text=as_text))}"


def _mariadb(names: _Names) -> Iterator[str]:
    return _row_triggers(names, str, f"CONVERT({{}} USING utf8mb4) COLLATE {_BINARY_COLLATION}")


def _sqlite(names: _Names) -> Iterator[str]:
    return _row_triggers(names, "BEGIN {}; END".format, "CAST({} AS TEXT)")


_WRITERS: Mapping[str, Callable[[_Names], Iterator[str]]] = {
    "postgresql": _postgresql,
    "mysql": _mariadb,
    "mariadb": _mariadb,
    "sqlite": _sqlite,
}
