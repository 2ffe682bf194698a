"""The SQL that makes a log of changes and the triggers that fill it, for three databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql
from sqlalchemy.engine import URL, Dialect
from sqlalchemy.schema import CreateTable

from ultracrawl.agents.table.change_log import FRESH, MARK, key_columns
from ultracrawl.agents.table.database import Database, database_url
from ultracrawl.agents.table.section import TableSection
from ultracrawl.agents.table.shape import written_table
from ultracrawl.errors import UserError
from ultracrawl.sources.secrets import SecretReader

_KEY_LENGTH = 1000
_EXACT = "utf8mb4_bin"
"""A collation of MariaDB that takes no key for another."""


def change_log_sql(options: TableSection, secrets: SecretReader, base: Path) -> str:
    """Return the statements that make the log of a source, for its database. Raises `UserError`."""
    if options.changes.log is None or options.table is None:
        raise UserError(
            "the source names no log of changes; write `changes: {log: TABLE_log}` in its definition"
        )
    url: URL = database_url(options, secrets, base)
    write = _WRITERS.get(url.get_backend_name())
    if write is None:
        known = ", ".join(sorted({"postgresql", "mariadb", "sqlite"}))
        raise UserError(f"no triggers are known for {url.get_backend_name()}, only for {known}")
    Database(url).close()  # says which driver is missing
    kind: type[Any] = url.get_dialect()
    dialect: Dialect = kind(paramstyle="named")  # else it doubles percent signs in names
    names = _Names.of_source(options.table, options.changes.log, options.key, dialect)
    return "\n\n".join(f"{one};" for one in (_log_table(options, dialect), *write(names))) + "\n"


@dataclass(frozen=True, slots=True)
class _Names:
    """What the statements name, quoted as the database wants it."""

    table: str
    log: str
    keys: Sequence[str]
    columns: str
    dialect: Dialect
    bare_log: str

    @classmethod
    def of_source(cls, table: str, log: str, keys: Sequence[str], dialect: Dialect) -> _Names:
        prepared = dialect.identifier_preparer
        whole = {one: prepared.format_table(sa.Table(one.rpartition(".")[2], sa.MetaData(),
                 schema=one.rpartition(".")[0] or None)) for one in (table, log)}  # fmt: skip
        columns = ", ".join(key_columns(len(keys)))
        bare = log.rpartition(".")[2]
        return cls(whole[table], whole[log], [prepared.quote(one) for one in keys], columns, dialect, bare)

    def named(self, what: str) -> str:
        """Return the name of something that belongs to the log."""
        return self.dialect.identifier_preparer.quote(f"{self.bare_log}_{what}")

    def note(self, *rows: str, text: str) -> str:
        """Return the statement that notes the keys of rows, `OLD` and `NEW`, each once; `text` makes a key a text."""
        chosen = " UNION ".join(
            "SELECT " + ", ".join(text.format(f"{row}.{key}") for key in self.keys) for row in rows
        )
        return f"INSERT INTO {self.log} ({self.columns}) {chosen}"


def _log_table(options: TableSection, dialect: Dialect) -> str:
    assert options.changes.log is not None
    name = written_table(options.changes.log)
    exact = mysql.VARCHAR(_KEY_LENGTH, collation=_EXACT)
    kind = sa.String(_KEY_LENGTH).with_variant(exact, "mysql", "mariadb")
    columns = [sa.Column(one, kind) for one in key_columns(len(options.key))]
    mark = sa.Column(MARK, sa.CHAR(1), nullable=False, server_default=FRESH)
    table = sa.Table(name.name, sa.MetaData(), *columns, mark, schema=name.schema)
    lines = str(CreateTable(table).compile(dialect=dialect)).strip().splitlines()
    return "\n".join(line.rstrip().replace("\t", "    ") for line in lines)


def _postgresql(names: _Names) -> Iterator[str]:
    note, text = names.named("note"), "format('%s', {})"  # a cast takes blanks away that belong to a key
    everything = ", ".join(text.format(key) for key in names.keys)
    yield f"""CREATE FUNCTION {note}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET datestyle = 'ISO' SET bytea_output = 'hex' AS $note$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        INSERT INTO {names.log} ({names.columns}) SELECT {everything} FROM {names.table};
    ELSIF TG_OP = 'INSERT' THEN
        {names.note("NEW", text=text)};
    ELSIF TG_OP = 'DELETE' THEN
        {names.note("OLD", text=text)};
    ELSE
        {names.note("OLD", "NEW", text=text)};
    END IF;
    RETURN NULL;
END
$note$"""  # noqa: S608 - names are quoted by SQLAlchemy
    yield f"""CREATE TRIGGER {names.named("rows")} AFTER INSERT OR UPDATE OR DELETE ON {names.table}
FOR EACH ROW EXECUTE FUNCTION {note}()"""
    yield f"""CREATE TRIGGER {names.named("truncate")} BEFORE TRUNCATE ON {names.table}
FOR EACH STATEMENT EXECUTE FUNCTION {note}()"""


def _for_each_event(names: _Names, body: Callable[[str], str], text: str) -> Iterator[str]:
    for event, rows in (("INSERT", ["NEW"]), ("UPDATE", ["OLD", "NEW"]), ("DELETE", ["OLD"])):
        beginning = f"CREATE TRIGGER {names.named(event.lower())} AFTER {event} ON {names.table} FOR EACH ROW"
        yield f"{beginning}\n{body(names.note(*rows, text=text))}"


def _mariadb(names: _Names) -> Iterator[str]:
    return _for_each_event(names, str, f"CONVERT({{}} USING utf8mb4) COLLATE {_EXACT}")


def _sqlite(names: _Names) -> Iterator[str]:
    return _for_each_event(names, "BEGIN {}; END".format, "CAST({} AS TEXT)")


_WRITERS: Mapping[str, Callable[[_Names], Iterator[str]]] = {
    "postgresql": _postgresql,
    "mysql": _mariadb,
    "mariadb": _mariadb,
    "sqlite": _sqlite,
}
