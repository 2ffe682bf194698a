"""Write the tables that all storage engines have into their `.sql`, and the kinds of their rows.

    python tools/schema.py [--check]

A table stands once, in `TABLES`, with its columns, their types and their defaults. From there come the statements
`CREATE TABLE` in the `.sql` of each engine and `ultracrawl/stores/rows.py`. What only one engine has (indexes,
triggers, tables that it derives) is written into its `.sql` by hand, and stays. With `--check` nothing is written, and
the exit status is 1 if a file differs.

A change of a table needs another version and a migration: those of `stores/postgresql/access/schema.py`, and with
SQLite `MIGRATIONS` of `stores/sqlite/database.py` for a table of one source, else those of `stores/sqlite/shared.py`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

STORES = Path(__file__).resolve().parents[1] / "ultracrawl" / "stores"
SQLITE = STORES / "sqlite"
POSTGRESQL = STORES / "postgresql" / "access" / "schema.sql"
ROWS = STORES / "rows.py"
_WIDTH = 120
_BOTH = ("sqlite", "postgresql")


class Type(NamedTuple):
    """What a column holds, by the names of SQLite, PostgreSQL and Python."""

    sqlite: str
    postgresql: str
    python: str


INT = Type("INTEGER", "integer", "int")
SMALL = Type("INTEGER", "smallint", "int")
LONG = Type("INTEGER", "bigint", "int")
FLAG = Type("INTEGER", "boolean", "bool")
REAL = Type("REAL", "double precision", "float")
TEXT = Type("TEXT", "text", "str")
NAME = Type("TEXT", 'text COLLATE "C"', "str")
"""A text that is looked up, or sorted, by its bytes."""
BYTES = Type("BLOB", "bytea", "bytes")
CODE = Type("TEXT", "smallint", "str")
"""A member of an enum, by its value or its number (`stores/postgresql/codes.py`)."""
HOST = Type("TEXT", "integer", "str")
"""A site, by its name or its number in `host`."""
ROW_ID = Type("INTEGER", "bigint GENERATED ALWAYS AS IDENTITY", "int")
SERIAL = Type("INTEGER", "bigint GENERATED ALWAYS AS IDENTITY", "int")
"""A number that is given once: no later row gets that of one that was deleted."""
_BOOLEANS = {"0": "false", "1": "true"}


@dataclass(frozen=True)
class Column:
    """A column; `default` is SQL, in place of which PostgreSQL has NULL if it is `empty`."""

    name: str
    """The name in rows, and in the tables of both engines if these name no other."""
    type: Type
    default: str | Mapping[str, str] = field(default_factory=dict)
    """The default, or that of each engine which has one."""
    null: bool = False
    empty: bool = False
    sqlite: str = ""
    postgresql: str = ""
    of: tuple[str, ...] = _BOTH
    """The engines that have it."""
    in_rows: bool = True

    def name_in(self, engine: str) -> str:
        """Return its name in the table of an engine."""
        return (self.sqlite if engine == "sqlite" else self.postgresql) or self.name

    def clause(self, engine: str, primary: bool) -> str:
        """Return its part of CREATE TABLE; `primary` if it alone is the key, and says so."""
        words = [self.name_in(engine), self.type.sqlite if engine == "sqlite" else self.type.postgresql]
        default = self.default if isinstance(self.default, str) else self.default.get(engine, "")
        if primary:
            words.append("PRIMARY KEY")
            if self.type is SERIAL and engine == "sqlite":
                words.append("AUTOINCREMENT")
        elif engine == "sqlite" or not self.empty:
            if not self.null and "IDENTITY" not in words[-1]:
                words.append("NOT NULL")
            if default:
                is_flag = self.type is FLAG and engine == "postgresql"
                words.append(f"DEFAULT {_BOOLEANS[default] if is_flag else default}")
        return " ".join(words)


@dataclass(frozen=True)
class Table:
    """A table, and the kind of its rows."""

    name: str
    row: str
    """The class of its rows, and what they are."""
    doc: str
    key: str
    """Its primary key."""
    columns: tuple[Column, ...]
    postgresql: str = ""
    """Its name in PostgreSQL, if that is another one."""
    file: str = "schema.sql"
    """Where SQLite has it; what is in another file than that of a source is shared by all sources."""
    sqlite_name: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    """What stands behind its columns, by engine."""
    stored_as: str = ""
    """The order of the columns in PostgreSQL, if it is another one: wide ones first need less room."""
    sqlite_key: str = ""
    of: tuple[str, ...] = _BOTH
    fields: str = ""
    """The fields of its rows, if they are not its columns."""

    @property
    def is_shared(self) -> bool:
        """Whether the sources of a project share it."""
        return self.file != "schema.sql"

    def name_in(self, engine: str) -> str:
        """Return its name in an engine."""
        return (self.sqlite_name if engine == "sqlite" else self.postgresql) or self.name

    def key_in(self, engine: str) -> list[str]:
        """Return the columns of its primary key in an engine, without source and part."""
        own = self.sqlite_key if engine == "sqlite" and self.sqlite_key else self.key
        by_name = {column.name: column for column in self.columns}
        return [by_name[name].name_in(engine) for name in own.split()]

    def columns_in(self, engine: str) -> list[Column]:
        """Return its columns in an engine, in their order there."""
        columns = [column for column in self.columns if engine in column.of]
        if engine == "postgresql" and self.stored_as:
            order = self.stored_as.split()
            assert sorted(order) == sorted(one.name for one in columns), self.name
            columns.sort(key=lambda one: order.index(one.name))
        return columns

    def statement(self, engine: str) -> str:
        """Return CREATE TABLE in an engine."""
        key = self.key_in(engine)
        of_source = ["source", "part"] if engine == "postgresql" and not self.is_shared else []
        alone = key[0] if len(key) == 1 and not of_source else ""
        clauses = [f"{name} integer NOT NULL" for name in of_source]
        for column in self.columns_in(engine):
            clauses.append(column.clause(engine, column.name_in(engine) == alone))
        primary = "" if alone else f"PRIMARY KEY ({', '.join([*of_source, *key])})"
        options = f" {self.options[engine]}" if engine in self.options else ""
        head, tail = f"CREATE TABLE {self.name_in(engine)} (", f"){options};"
        whole = [*clauses, primary] if primary else clauses
        one_line, columns = f"{head}{', '.join(whole)}{tail}", f"    {', '.join(clauses)},"
        if len(one_line) <= _WIDTH:
            return one_line
        if of_source and len(columns) <= _WIDTH:
            return "\n".join((head, columns, f"    {primary}", tail))
        return "\n".join((head, *(f"    {one}," for one in whole[:-1]), f"    {whole[-1]}", tail))


def _empty(name: str, type_: Type) -> Column:
    """Return a column whose empty value is NULL in PostgreSQL."""
    default = {"TEXT": "''", "BLOB": "x''", "REAL": "0"}[type_.sqlite]
    return Column(name, type_, default, empty=True)


def _only(engine: str, name: str, type_: Type, default: str = "") -> Column:
    return Column(name, type_, default, of=(engine,))


_KEY = Column("key", LONG)
_URL = Column("key", LONG, sqlite="id")
"""A URL: its key, or in SQLite the number of its row."""
_NO_ROW_ID = {"sqlite": "WITHOUT ROWID"}


def _filled(percent: int) -> dict[str, str]:
    return {"postgresql": f"WITH (fillfactor = {percent})"}


TABLES = (
    Table("run", "RunRow", "A run; see `RunMark`.", "number", (
        Column("number", INT), Column("started", REAL), Column("finished", REAL, "0"), Column("scope", TEXT),
        Column("report", TEXT, "''"), Column("cycle", INT, "0"), Column("minor", INT, "0"), Column("due", REAL, "0"),
        Column("mode", TEXT, "'known'"), Column("deleted", INT, "0"),
    )),
    Table("listing", "ListingRow", "How far a run has listed its source.", "run", (
        Column("run", INT), Column("state", TEXT),
    )),
    Table("url", "UrlRow", "A known URL; `number` orders URLs by discovery, and `record` has whether its document is "
        "submitted or removed.", "key", (
        _only("sqlite", "id", LONG), _KEY, _only("postgresql", "number", LONG), Column("url", NAME),
        Column("site", HOST), Column("depth", INT), _empty("display_url", NAME), Column("status", INT, "0"),
        Column("outcome", CODE, {"sqlite": "'QUEUED'", "postgresql": "0"}), _empty("detail", TEXT),
        _empty("etag", TEXT), _empty("last_modified", TEXT), _empty("checksum", BYTES), Column("indexed", FLAG, "0"),
        _only("sqlite", "submitted", INT, "0"), Column("first_seen", REAL, "0"), _empty("last_fetched", REAL),
        Column("failures", INT, "0"), _only("sqlite", "removal_code", TEXT, "''"), _empty("links", BYTES),
        _empty("fingerprint", BYTES), Column("preference", SMALL, "1"), _empty("cause_code", CODE),
        _empty("subject", NAME), _only("sqlite", "removal_cause", TEXT, "''"), _empty("sketch", BYTES),
        Column("hops", INT, "0"), _empty("language", TEXT),
        ), sqlite_key="id", options=_filled(70), fields="number: int, key: int, site: str, record: UrlRecord",
        stored_as="key number site depth status failures hops outcome cause_code preference indexed first_seen "
        "last_fetched url display_url subject detail etag last_modified language checksum fingerprint sketch links",
    ),
    Table("revisit", "RevisitRow", "The visits to a URL; see `ChangeHistory`, `Advice`.", "key", (
        _URL, Column("seen", INT, "0"), Column("first_at", REAL, "0"), Column("last_at", REAL, "0"),
        Column("checks", INT, "0"), Column("changes", INT, "0"),
        Column("quiet", REAL, "0"), Column("modified", REAL, "0"), Column("markup", FLAG, "0"),
        _empty("changefreq", TEXT), Column("priority", REAL, null=True), _empty("told", REAL),
        ), options=_filled(70),
        stored_as="key seen checks changes markup first_at last_at quiet modified changefreq priority told",
    ),
    Table("failure", "FailureRow", "The errors of a URL under a deletion rule.", "key rule", (
        _KEY, Column("rule", NAME), Column("errors", INT),
    ), options=_NO_ROW_ID),
    Table("queue", "QueueRow", "A URL in the queue; see `QueueEntry`.", "site level rank depth seq", (
        Column("site", HOST), Column("level", INT, {"sqlite": "1"}), Column("rank", INT, {"sqlite": "0"}),
        Column("depth", INT), Column("seq", LONG), _URL, Column("hops", SMALL, "0"),
    ), options=_NO_ROW_ID | {
        "postgresql": "WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)"}),
    Table("allowance", "AllowanceRow", "How many new URLs of a site may still be fetched.", "site", (
        Column("site", NAME), Column("remaining", INT),
    ), options=_NO_ROW_ID),
    Table("detour", "DetourRow", "The off-focus hops to a URL.", "key", (_KEY, Column("hops", INT))),
    Table("retained", "RetainedRow", "A retained document; `purpose` is the value of a `Retained`.", "purpose key", (
        Column("purpose", CODE), _KEY, Column("document", BYTES),
    ), of=("postgresql",)),
    Table("expiry", "ExpiryRow", "When the description of a URL expires.", "key", (_KEY, Column("at", REAL))),
    Table("copy", "CopyRow", "The checksum of a content; see `Copy`.", "key", (
        _KEY, Column("checksum", NAME), Column("holds", FLAG),
    )),
    Table("known_site", "SiteRow", "A site of one source; see `StoredSite`.", "site", (
        Column("site", NAME), Column("seen", REAL), Column("own_delay", REAL, null=True), Column("given_up", INT),
        Column("robots", TEXT), Column("stand_in", TEXT),
    ), options=_NO_ROW_ID | _filled(70)),
    Table("sitemap", "SitemapRow", "A sitemap; see `StoredSitemap`.", "key", (
        _KEY, Column("run", INT), Column("is_index", FLAG, {"sqlite": "0"}),
        Column("dates", BYTES, {"sqlite": "x''"}),
    )),
    Table("announced", "AnnouncedRow", "The `lastmod` date of a URL in the sitemaps of this run.", "key", (
        _KEY, Column("lastmod", LONG),
    )),
    Table("feed_link", "FeedLinkRow", "A link of a feed; see `FeedLink`.", "feed key", (
        Column("feed", LONG), _KEY, Column("seen", REAL), Column("date", REAL), Column("place", INT),
        Column("expired", FLAG), Column("alone", FLAG),
    ), options=_NO_ROW_ID),
    Table("near", "SignatureRow", "The signature (64 bits, signed) of a text under one of its blocks.",
        "block fingerprint", (
        Column("block", LONG), Column("fingerprint", BYTES), Column("signature", LONG),
    ), options=_NO_ROW_ID),
    Table("anchor", "AnchorRow", "An anchor text of a target, and the number of pages that have it.", "mark", (
        Column("mark", LONG), Column("target", LONG), Column("fragment", NAME), Column("text", NAME),
        Column("pages", INT),
    ), options=_filled(80), stored_as="mark target pages fragment text"),
    Table("anchor_text", "AnchorTextRow", "The number of targets of an anchor text; `turned` if it has just begun or "
        "ceased to count.", "text", (
        Column("text", NAME), Column("targets", INT), Column("turned", FLAG, "0"),
    ), options=_NO_ROW_ID | _filled(70)),
    Table("anchor_page", "PageAnchorsRow", "The marks of the links of a page, 8 bytes each.", "key", (
        _KEY, Column("marks", BYTES),
    )),
    Table("anchor_redirect", "RedirectRow", "The redirect target of a URL.", "key", (_KEY, Column("target", LONG))),
    Table("anchor_document", "SubmittedTextsRow", "A hash of the anchor texts that were submitted with a document, "
        "None for none.", "key", (
        _KEY, Column("told", LONG, null=True), Column("crowded", FLAG, "0"), Column("due", FLAG, "0"),
    ), options=_filled(70)),
    Table("anchor_left", "DroppedAnchorsRow", "What is still to be subtracted of a page that was dropped: its marks, "
        "or the target of its redirect.", "number", (
        Column("number", ROW_ID, in_rows=False), Column("marks", BYTES, null=True),
        Column("target", LONG, null=True),
    )),
    Table("depth_due", "DepthDueRow", "A URL whose depth is to be corrected, and the targets of links it dropped, 8 "
        "bytes each.", "key", (_KEY, Column("dropped", BYTES))),
    Table("site", "ClockRow", "A site of the project; see `SiteClock`.", "site", (
        Column("site", NAME), Column("next_at", REAL, "0"), Column("requested", REAL, "0"), Column("delay", REAL, "0"),
        Column("why", TEXT, "''"), Column("on_hold", FLAG, "0"), Column("errors", INT, "0"),
        Column("slowed", REAL, "0"), Column("last_error", TEXT, "''"), Column("error_at", REAL, "0"),
        Column("crawl", LONG, "0", in_rows=False), Column("since", REAL, "0", in_rows=False),
    ), file="sites.sql", options=_NO_ROW_ID | _filled(70)),
    Table("robots", "RobotsRow", "A robots.txt; see `StoredRobots`.", "origin shown", (
        Column("origin", NAME), Column("shown", NAME), Column("received", REAL), Column("status", INT),
        Column("body", BYTES), Column("error", TEXT), Column("timed_out", FLAG), Column("failed", REAL),
        Column("guessed", REAL),
    ), file="sites.sql"),
    Table("session", "SessionRow", "The session of a log-in, encrypted; see `StoredSession`.", "name", (
        Column("name", NAME), Column("since", REAL), Column("sealed", BYTES),
    ), file="sites.sql"),
    Table("schedule", "ScheduleRow", "The status of a schedule; see `KeptSchedule`. `left` is a JSON array.", "name", (
        Column("name", NAME), Column("status", TEXT), Column("error", TEXT), Column("due", REAL, null=True),
        Column("begun", REAL), Column("ended", REAL), Column("log", TEXT),
        Column("left", TEXT, postgresql="unfinished"),
    ), file="schedules.sql", options=_NO_ROW_ID),
    Table("run", "ScheduleRunRow", "A run in the history of a schedule, in their order; see `ScheduleRun`. `sources` "
        "is a JSON object.", "number", (
        Column("number", SERIAL, in_rows=False), Column("schedule", NAME), Column("begun", REAL),
        Column("ended", REAL), Column("status", TEXT), Column("error", TEXT), Column("log", TEXT),
        Column("sources", TEXT),
    ), postgresql="schedule_run", file="schedules.sql"),
    Table("paused", "PausedRow", "A source that is not started until it is resumed.", "source", (
        Column("source", NAME),
    ), file="schedules.sql", options=_NO_ROW_ID),
    Table("command", "OrderRow", "An order for a schedule or source that was not taken yet, in their order; see "
        "`ScheduleOrder`.", "number", (
        Column("number", SERIAL, in_rows=False), Column("name", NAME), Column("of_source", FLAG),
        Column("command", TEXT), Column("at", REAL),
    ), file="schedules.sql"),
)  # fmt: skip
"""The tables, in the order in which their rows are copied: URLs before what is about them."""


# ---- the files


def with_tables(text: str, engine: str, tables: list[Table]) -> str:
    """Return the text of a `.sql` with the statements of tables as they are here.

    Raises `ValueError` for one that has no place in it.
    """
    for table in tables:
        name = table.name_in(engine)
        statement = re.compile(
            rf"^CREATE TABLE {name} \(.*?\)[^()\n]*(?:\([^()\n]*\))?;$", re.DOTALL | re.MULTILINE
        )
        found = statement.search(text)
        if found is None:
            raise ValueError(f"{name} is missing; write `CREATE TABLE {name} ();` where it shall stand")
        text = text.replace(found[0], table.statement(engine), 1)
    return text


def rows_module() -> str:
    """Return the text of the module with the kinds of rows."""
    classes = "\n\n".join(map(_class_of, TABLES))
    places = "\n".join(_place_of(table) for table in TABLES)
    return _MODULE.format(classes=classes, places=places)


_MODULE = '''"""The kinds of rows of the stores, and where each engine has them; written by tools/schema.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ultracrawl.model import UrlRecord

Row = tuple[Any, ...]


class Place(NamedTuple):
    """Where an engine has the rows of a kind."""

    table: str
    columns: tuple[str, ...]
    """The columns of the fields of a row, in their order."""
    key: tuple[str, ...]
    """The columns of the primary key, by which rows are sorted."""


class Places(NamedTuple):
    """Where both engines have the rows of a kind."""

    sqlite: Place
    postgresql: Place
    of_source: bool = True
    """Whether they are of a source, and not of the project."""


{classes}

def _at(kind: type[Any], table: str, key: str, /, **others: str) -> Place:
    """Return a place whose columns are the fields of a kind, but for `others`."""
    return Place(table, tuple(others.get(name, name) for name in kind._fields), tuple(key.split()))


def _alike(kind: type[Row], table: str, key: str, *, of_source: bool = True) -> Places:
    place = _at(kind, table, key)
    return Places(place, place, of_source)


PLACES: Mapping[type[Row], Places] = {{
{places}
}}
"""The places of each kind, in the order in which they are written: URLs before what is about them.

SQLite has a table for each purpose of retained documents, and none of this name.
"""
'''


def _class_of(table: Table) -> str:
    fields = (
        table.fields.split(", ")
        if table.fields
        else [
            f"{one.name}: {one.type.python}{' | None' if one.null else ''}"
            for one in table.columns
            if one.in_rows
        ]
    )
    body = "\n".join(f"    {one}" for one in fields)
    return f'\nclass {table.row}(NamedTuple):\n    """{table.doc}"""\n\n{body}\n'


def _place_of(table: Table) -> str:
    places = [_place_in(table, engine) for engine in _BOTH]
    if places[0] == places[1]:
        own = f"_alike({places[0]}{', of_source=False' if table.is_shared else ''})"
    else:
        own = f"Places(_at({places[0]}), _at({places[1]}){', of_source=False' if table.is_shared else ''})"
    return f"    {table.row}: {own},"


def _place_in(table: Table, engine: str) -> str:
    others = "".join(
        f", {one.name}={one.name_in(engine)!r}"
        for one in table.columns
        if one.in_rows and not table.fields and one.name_in(engine) != one.name
    )
    return f"{table.row}, {table.name_in(engine)!r}, {' '.join(table.key_in(engine))!r}{others}"


def files() -> Iterator[tuple[Path, Callable[[str], str]]]:
    """Yield each file, and what makes its text of the one before."""
    for name in sorted({table.file for table in TABLES}):
        own = [table for table in TABLES if table.file == name and "sqlite" in table.of]
        yield SQLITE / name, lambda text, own=own: with_tables(text, "sqlite", own)  # type: ignore[misc]
    yield POSTGRESQL, lambda text: with_tables(text, "postgresql", list(TABLES))
    yield ROWS, lambda _: _formatted(rows_module())


def _formatted(text: str) -> str:
    command = [str(Path(sys.executable).with_name("ruff")), "format", "--stdin-filename", str(ROWS), "-"]
    done = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or with `--check` name those that differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing, and name what differs")
    check, differing = parser.parse_args(arguments).check, 0
    for path, changed in files():
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        after = changed(before)
        if before == after:
            continue
        differing += 1
        print(f"{path} is not what the tables give; write it anew: python tools/schema.py" if check else path)
        if not check:
            path.write_text(after, encoding="utf-8")
    return check and bool(differing)


if __name__ == "__main__":
    sys.exit(main())
