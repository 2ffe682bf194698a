"""Rows become entries: keys, text, attributes, lists, display URLs, media types."""

from __future__ import annotations

import re
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy.exc import DBAPIError
from support.sentences import sentence
from support.tables import Base
from support.until import until

from ultracrawl.agents.port import Batch, Complete, Entry, Failure, Partial
from ultracrawl.agents.table import lister as lister_module
from ultracrawl.agents.table.database import advice_for
from ultracrawl.agents.table.fetcher import TableFetcher
from ultracrawl.agents.table.lister import TableLister
from ultracrawl.errors import UserError

TICKETS = (
    "CREATE TABLE tickets (id INTEGER PRIMARY KEY, title TEXT, body TEXT, owner TEXT, changed TIMESTAMP)"
)
OPTIONS = {"table": "tickets", "key": "id", "text": ["title", "body"]}


def one(base: Base, url: str = "table:///tickets?id=1", **options: object) -> Entry:
    (entry,) = base.fetched(url, **options)
    assert isinstance(entry, Entry), entry
    return entry


def mistake_of(base: Base, **options: object) -> str:
    """What a listing says that a mistake ends, before its first batch or after one."""
    try:
        last = base.listed(**options)[-1]
    except UserError as error:
        return str(error)
    return last.reason if isinstance(last, Partial) and last.mistake else f"no mistake: {last}"


@pytest.fixture
def tickets(base: Base) -> Base:
    base.run(
        TICKETS,
        "INSERT INTO tickets VALUES (1, 'Printer', 'It smokes.', 'Ann', '2026-03-01 10:00:00')",
        "INSERT INTO tickets VALUES (2, 'Screen', NULL, 'Ben', '2026-03-02 10:00:00')",
    )
    base.options = dict(OPTIONS)
    return base


def test_a_row_is_a_document_with_its_texts_and_attributes(tickets: Base) -> None:
    options = {
        "attributes": {"owner": "Author", "changed": "LastModifiedDate"},
        "display_url": "https://tickets.example.com/{id}",
    }
    listed = tickets.listed(**options)
    assert listed[-1] == Complete()
    entry = one(tickets, **options)
    assert entry.body == b"Printer\n\nIt smokes."
    assert entry.content_type == "text/plain; charset=utf-8"
    assert entry.title == "Printer"
    assert entry.attributes == {"owner": ("Ann",)}
    assert entry.last_modified == datetime(2026, 3, 1, 10, tzinfo=UTC).timestamp()
    assert entry.display_url == "https://tickets.example.com/1"
    assert list(tickets.entries(**options)) == ["id=1", "id=2"]
    assert one(tickets, "table:///tickets?id=2").body == b"Screen"


def test_a_column_mapped_to_the_title_and_the_language_says_both(base: Base) -> None:
    base.run(
        "CREATE TABLE t (id INTEGER, h TEXT, lang TEXT, b TEXT)",
        "INSERT INTO t VALUES (1, 'Head', 'de', 'x')",
    )
    entry = one(base, table="t", key="id", text="b", attributes={"h": "Title", "lang": "Language"})
    assert (entry.title, entry.language, entry.attributes) == ("Head", "de", {})


def test_rows_that_are_gone_and_urls_of_other_keys_are_not_found(tickets: Base) -> None:
    urls = [
        "table:///tickets?id=7",
        "table:///tickets?id=soon",
        "table:///tickets?number=1",
        "table:///tickets?id=2",
    ]
    *gone, found = tickets.fetched(*urls)
    assert [isinstance(one, Failure) and one.status for one in gone] == [404, 404, 404]
    assert isinstance(found, Entry)


@pytest.mark.parametrize("value", ["a/b c", "ü&=+%", "..", "", "'; DROP TABLE t; --", "007"])
def test_any_text_may_be_a_key_and_its_url_is_ascii(base: Base, value: str) -> None:
    base.run("CREATE TABLE t (k TEXT, n INTEGER, b TEXT, PRIMARY KEY (k, n))")
    base.run("INSERT INTO t VALUES (:k, 5, 'text')", k=value)
    options = {"table": "t", "key": ["k", "n"], "text": "b", "display_url": "https://x.example/{k}/{n}"}
    (entry,) = base.listed(**options)[0].entries  # type: ignore[union-attr]
    assert entry.access_url.isascii()
    found = one(base, entry.access_url, **options)
    assert found.body == b"text"
    assert found.access_url == entry.access_url
    assert "/" not in found.display_url.removeprefix("https://x.example/").removesuffix("/5")


def test_eight_key_columns_tell_rows_apart(base: Base) -> None:
    names = [f"c{number}" for number in range(8)]
    base.run(f"CREATE TABLE t ({', '.join(f'{one} INTEGER' for one in names)}, b TEXT)")
    for number in range(3):
        base.run(f"INSERT INTO t VALUES (1, 2, 3, 4, 5, 6, 7, {number}, 'text {number}')")
    options = {"table": "t", "key": names, "text": "b"}
    urls = [entry.access_url for entry in base.entries(**options).values()]
    found = base.fetched(*urls, **options)
    assert [getattr(entry, "body", entry) for entry in found] == [b"text 0", b"text 1", b"text 2"]


def test_names_that_need_quotes_are_quoted(base: Base) -> None:
    base.run(
        'CREATE TABLE "Order ""s" ("Key No" INTEGER, "SELECT" TEXT)',
        'INSERT INTO "Order ""s" VALUES (1, \'x\')',
    )
    options = {
        "table": 'Order "s',
        "key": "key no",
        "text": "select",
        "display_url": "https://x.example/{Key No}",
    }
    ((name, entry),) = base.entries(**options).items()
    assert name == "Key%20No=1"
    assert one(base, entry.access_url, **options).display_url == "https://x.example/1"


def test_a_view_and_a_query_are_read_like_a_table(tickets: Base) -> None:
    tickets.run("CREATE VIEW seen AS SELECT * FROM tickets WHERE id < 2")
    assert list(tickets.entries(table="seen")) == ["id=1"]
    query = "SELECT id, title, body, ' :x :yes: %s' AS odd FROM tickets WHERE title LIKE 'S%'; -- done"
    options = {"table": None, "select": query.replace(";", ""), "attributes": {"odd": "Subject"}}
    assert list(tickets.entries(**options)) == ["id=2"]
    entry = one(tickets, "table:///tickets?id=2", **options)
    assert (entry.body, entry.attributes) == (b"Screen", {"odd": (" :x :yes: %s",)})
    assert list(tickets.entries(table=None, select="SELECT id, title, body FROM tickets;")) == [
        "id=1",
        "id=2",
    ]


def test_a_column_of_sqlite_may_hold_numbers_of_two_kinds_and_texts_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "x.db").touch()
    base = Base(f"sqlite:///{tmp_path / 'x.db'}", tmp_path, {"table": "t", "key": "id", "text": "b"})
    base.run(
        "CREATE TABLE t (id NUMERIC, b TEXT)", "INSERT INTO t VALUES (1, 'x'), (1.5, CAST(x'41ff' AS TEXT))"
    )
    assert list(base.entries()) == ["id=1", "id=1.5"]
    found = base.fetched("table:///tickets?id=1", "table:///tickets?id=1.5")
    assert [getattr(entry, "body", entry) for entry in found] == [b"x", "A\ufffd".encode()]


def test_a_table_in_a_schema(base: Base) -> None:
    if base.url.startswith("sqlite"):
        base.run("CREATE TABLE t (id INTEGER, b TEXT)", "INSERT INTO t VALUES (1, 'x')")
        name = "main.t"
    else:
        base.run(
            "DROP SCHEMA IF EXISTS sales CASCADE",
            "CREATE SCHEMA sales",
            "CREATE TABLE sales.t (id INTEGER, b TEXT)",
        )
        base.run("INSERT INTO sales.t VALUES (1, 'x')")
        name = "sales.t"
    assert list(base.entries(table=name, key="id", text="b")) == ["id=1"]


def test_bytes_go_with_the_type_or_the_name_that_a_column_says(base: Base) -> None:
    kind = "BLOB" if base.url.startswith("sqlite") else "BYTEA"
    base.run(f"CREATE TABLE t (id INTEGER, data {kind}, kind TEXT)")
    for number, told in enumerate(["application/pdf", "report.docx", ""]):
        base.run("INSERT INTO t VALUES (:id, :data, :kind)", id=number, data=b"%PDF\0\xff", kind=told)
    options = {"table": "t", "key": "id", "text": "data", "media_type": "kind"}
    found = base.fetched(*(f"table:///tickets?id={number}" for number in range(3)), **options)
    assert [(one.content_type, one.name, one.body) for one in found if isinstance(one, Entry)] == [
        ("application/pdf", "", b"%PDF\0\xff"),
        ("", "report.docx", b"%PDF\0\xff"),
        ("", "", b"%PDF\0\xff"),
    ]


def test_a_text_may_be_html(base: Base) -> None:
    base.run(
        "CREATE TABLE t (id INTEGER, page TEXT, kind TEXT)", "INSERT INTO t VALUES (1, '<p>ä', 'text/html')"
    )
    entry = one(base, table="t", key="id", text="page", media_type="kind")
    assert (entry.content_type, entry.body, entry.title) == ("text/html; charset=utf-8", "<p>ä".encode(), "")
    assert entry.reads_metadata


def test_lists_of_other_tables_are_repeated_values(tickets: Base) -> None:
    tickets.run(
        "CREATE TABLE tags (ticket INTEGER, tag TEXT)",
        "INSERT INTO tags VALUES (1, 'hot'), (1, 'broken'), (2, 'dark'), (1, NULL)",
    )
    options = {
        "repeated": {"tag": {"table": "tags", "key": "ticket", "value": "tag"}},
        "attributes": {"tag": "Subject"},
        "acl_column": "tag",
    }
    entry = one(tickets, **options)
    assert entry.attributes["tag"] == ("broken", "hot")
    assert entry.acl == ("broken", "hot")
    before = tickets.entries(**options)
    tickets.run("DELETE FROM tags WHERE tag = 'hot'")
    after = tickets.entries(**options)
    assert before["id=1"].validators != after["id=1"].validators
    assert before["id=2"].validators == after["id=2"].validators


def test_who_owns_and_may_see_a_row_stands_in_columns(base: Base) -> None:
    base.run("CREATE TABLE t (id INTEGER, b TEXT, readers TEXT, o TEXT)")
    base.run("INSERT INTO t VALUES (1, 'x', :readers, 'ann')", readers="staff\n cn=ops,o=x \n")
    entry = one(base, table="t", key="id", text="b", acl_column="readers", owner_column="o")
    assert (entry.acl, entry.owner) == (("staff", "cn=ops,o=x"), "ann")


def test_a_display_url_may_stand_in_a_column(base: Base) -> None:
    base.run(
        "CREATE TABLE t (id INTEGER, b TEXT, u TEXT)",
        "INSERT INTO t VALUES (1, 'x', 'https://h.example/a?b=c')",
    )
    options = {"table": "t", "key": "id", "text": "b"}
    assert one(base, **options, display_url="{u}").display_url == "https://h.example/a?b=c"
    assert one(base, **options, display_url="https://x.example/{u}").display_url.endswith(
        "/https%3A%2F%2Fh.example%2Fa%3Fb%3Dc"
    )


def test_lists_of_values_come_from_a_column_a_table_or_a_query(tickets: Base) -> None:
    tickets.run(
        "CREATE TABLE people (code TEXT, name TEXT)",
        "INSERT INTO people VALUES ('ann', 'Ann Lee'), ('x', NULL)",
    )
    written = {
        "Author": {"column": "owner"},
        "Reader": {"table": "people", "value": "code", "display": "name"},
        "Place": {"select": "SELECT 'de' AS code, 'Germany' AS label"},
    }
    lister = TableLister(tickets.setup(value_lists=written))
    lists = lister.value_lists()
    lister.close()
    assert {
        one.attribute: [(value.value, value.display_name()) for value in one.values] for one in lists
    } == {
        "Author": [("Ann", "Ann"), ("Ben", "Ben")],
        "Reader": [("ann", "Ann Lee"), ("x", "x")],
        "Place": [("de", "Germany")],
    }


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"display_url": "https://x.example/{idd}"}, "display_url"),
        ({"key": "nr"}, "key"),
        ({"text": "bodi"}, "text"),
        ({"changes": {"column": "modified"}}, "changes.column"),
        ({"media_type": "mime"}, "media_type"),
        ({"acl_column": "readers"}, "acl_column"),
    ],
)
def test_a_column_that_is_not_there_is_1007_with_what_is(
    tickets: Base, options: dict[str, object], place: str
) -> None:
    lister = TableLister(tickets.setup(**options))
    with pytest.raises(UserError, match=re.escape(sentence("table.no_column", place=place))):
        lister.check_connection()
    lister.close()
    with pytest.raises(UserError, match="1007"):
        tickets.listed(**options)
    (failure,) = tickets.fetched("table:///tickets?id=1", **options)
    assert isinstance(failure, Failure)
    assert failure.status == 1007


def test_what_is_read_can_change_nothing(tickets: Base) -> None:
    lister = TableLister(tickets.setup())
    with (
        pytest.raises(UserError, match=r"read.*; grant the permission"),
        lister._database.read_only_connection() as connection,
    ):
        connection.exec_driver_sql("DELETE FROM tickets")
    lister.close()
    assert tickets.ask("SELECT count(*) FROM tickets") == [(2,)]


def test_a_mistake_after_rows_were_listed_leaves_them_and_nothing_counts_as_deleted(
    base: Base, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lister_module, "BATCH_SIZE", 2)
    monkeypatch.setattr(lister_module, "BATCHES_PER_STATEMENT", 1)
    base.run("CREATE TABLE t (id INTEGER, b TEXT)", "INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z')")
    lister = TableLister(base.setup(table="t", key="id", text="b"))
    listing = lister.list_entries("", "")
    assert isinstance(next(listing), Batch)
    base.run("DROP TABLE t")
    (last,) = listing
    lister.close()
    assert isinstance(last, Partial)
    assert last.mistake


def test_a_table_that_is_not_there_is_a_mistake(base: Base) -> None:
    with pytest.raises(UserError, match=sentence("table.tickets_correct_definition_database")):
        base.listed(**OPTIONS)
    fetcher = TableFetcher(base.setup(**OPTIONS))
    with pytest.raises(UserError, match="tickets"):
        fetcher.fetch([])
    fetcher.close()


@pytest.mark.servers
def test_a_refused_log_in_and_a_missing_permission_of_postgresql_are_mistakes(
    postgresql: str, tmp_path: Path
) -> None:
    base = Base(postgresql, tmp_path, dict(OPTIONS))
    base.run("DROP TABLE IF EXISTS tickets", TICKETS)
    base.run("CREATE ROLE reader LOGIN PASSWORD 'right'", "GRANT USAGE ON SCHEMA public TO reader")
    ((hba,),) = base.ask("SHOW hba_file")
    rules = Path(hba).read_text()
    Path(hba).write_text(f"host all reader 127.0.0.1/32 scram-sha-256\n{rules}")
    base.run("SELECT pg_reload_conf()")
    wrong, right = (postgresql.replace("postgres@", f"reader:{word}@") for word in ("wrong", "right"))

    until(lambda: "correct the user, the password" in mistake_of(base, connection=wrong))
    assert "grant the permission" in mistake_of(base, connection=right)
    assert "of `connection`" in mistake_of(base, connection=right.replace("/postgres", "/away"))
    Path(hba).write_text(rules)
    base.run("DROP TABLE tickets", "DROP OWNED BY reader", "DROP ROLE reader", "SELECT pg_reload_conf()")


def test_a_connection_that_is_lost_is_no_mistake(tmp_path: Path) -> None:
    (last,) = Base("postgresql://127.0.0.1:1/x", tmp_path).listed(**OPTIONS)
    assert isinstance(last, Partial)
    assert not last.mistake


def test_a_file_that_is_no_database_is_no_mistake_of_the_definition(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"no database" * 1000)
    (last,) = Base(f"sqlite:///{tmp_path / 'x.db'}", tmp_path).listed(**OPTIONS)
    assert isinstance(last, Partial)
    assert not last.mistake


CODES: list[tuple[str, dict[str, object], str]] = [
    ("postgresql", {"sqlstate": "28P01"}, sentence("table.correct_user_password")),
    ("postgresql", {"sqlstate": "3D000"}, sentence("table.correct_user_password")),
    ("postgresql", {"sqlstate": "42501"}, "grant the permission"),
    ("postgresql", {"sqlstate": "42703"}, "correct the definition"),
    ("postgresql", {"sqlstate": "57P01"}, ""),
    ("postgresql", {"sqlstate": "40001"}, ""),
    (
        "postgresql",
        {"pgconn": SimpleNamespace(needs_password=True, used_password=False)},
        "correct the user",
    ),
    ("postgresql", {"pgconn": SimpleNamespace(needs_password=False, used_password=False)}, ""),
    ("mysql", {"args": (1045, "Access denied")}, sentence("table.correct_user_password")),
    ("mariadb", {"args": (1142, "INSERT command denied")}, "grant the permission"),
    ("mariadb", {"args": (1146, "no such table")}, "correct the definition"),
    ("mariadb", {"args": (2006, "server has gone away")}, ""),
    ("sqlite", {"sqlite_errorcode": sqlite3.SQLITE_READONLY_DBMOVED}, "grant the permission"),
    ("sqlite", {"sqlite_errorcode": sqlite3.SQLITE_BUSY}, ""),
    ("oracle", {"args": ("ORA-1",)}, ""),
]


def test_what_does_not_heal_is_known_by_its_code(subtests: pytest.Subtests) -> None:
    for database, original, told in CODES:
        with subtests.test(database, original=original):
            failure = DBAPIError("SELECT 1", {}, SimpleNamespace(**{"args": (), **original}))  # type: ignore[arg-type]
            advice = advice_for(failure, database)
            assert advice.startswith(told)
            assert bool(advice) is bool(told)
