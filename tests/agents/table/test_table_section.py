"""The options of a table in a definition: mistakes with file and line, secrets that stay secret, the missing extra."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import pytest
from support.named import named
from support.project import Workspace
from support.sentences import sentence
from support.tables import Base

from ultracrawl.agents.table.lister import TableLister
from ultracrawl.errors import MissingExtraError, UltracrawlError, UserError, WorkError
from ultracrawl.sources import load_project

TICKETS = """\
sources:
  tickets:
    type: table
    connection: "sqlite:///tickets.db"
    table: tickets
    key: [id]
    text: [title, body]
"""


def findings(folder: Path, *lines: str, text: str = TICKETS) -> list[str]:
    file = folder / "ultracrawl.yaml"
    file.write_text(text + "".join(f"    {line}\n" for line in lines))
    return [str(one).replace(str(folder) + "/", "") for one in load_project(file).findings]


def test_the_example_of_a_table_loads(tmp_path: Path) -> None:
    lines = [
        "attributes: {owner: Author, changed: LastModifiedDate}",
        'display_url: "https://tickets.example.com/{id}"',
    ]
    assert findings(tmp_path, *lines) == []
    source = load_project(tmp_path / "ultracrawl.yaml").project.sources["tickets"]
    assert "sqlite" not in repr(source)
    assert "sqlite" not in str(source.model_dump_json())


# Checklist 31 of Ultra Search: mapping the table's text column to an attribute is refused.
def test_ultra_search_31_a_text_column_is_no_attribute(tmp_path: Path) -> None:
    (told,) = findings(tmp_path, "attributes: {Body: Subject}")
    assert told.startswith(sentence("table.text_column_mapped"))


MISTAKES = [
    ("select: SELECT 1", sentence("table.table_select_exclude_each_other")),
    ("changes: {log: l, column: c}", sentence("table.column_log_exclude_each_other")),
    ("display_url: https://x.example/id", sentence("table.contains_no_column_write_columns")),
    ("display_url: 'https://x.example/{id'", sentence("table.contains_no_column_write_columns")),
    ("display_url: 'javascript:show({id})'", sentence("table.makes_no_urls_hits_can")),
    ("display_url: 'tickets/{id}'", sentence("table.makes_no_urls_hits_can")),
    (
        "repeated: {tag: {table: t, key: [a, b], value: c}}",
        "`repeated.tag` has 2 key columns, and the source 1",
    ),
    ("value_lists: {Status: {}}", sentence("table.defines_no_list_more_than")),
    ("start_urls: [https://x.example/]", sentence("table.does_not_apply_source_type")),
    ("robots: {obey: false}", sentence("table.does_not_apply_source_type")),
]


def test_mistakes_are_reported_with_their_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for line, told in MISTAKES:
        with subtests.test(line):
            (said,) = findings(tmp_path, line)
            assert said.startswith("ultracrawl.yaml:")
            assert told in said


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("key: [id]", "key: [id, ID]"),
        ("table: tickets", "table: a.b.c"),
        ('connection: "sqlite:///tickets.db"', ""),
    ],
)
def test_a_definition_that_cannot_be_is_refused(tmp_path: Path, written: str, told: str) -> None:
    assert len(findings(tmp_path, text=TICKETS.replace(written, told))) == 1


def test_a_key_of_nine_columns_is_reported_as_that(tmp_path: Path) -> None:
    (told,) = findings(tmp_path, text=TICKETS.replace("[id]", "[a, b, c, d, e, f, g, h, i]"))
    assert named(told)[-3:] == ["9", "8", "8"]


def test_a_password_in_clear_is_advised_against_and_a_url_without_one_is_not(tmp_path: Path) -> None:
    clear = TICKETS.replace("sqlite:///tickets.db", "postgresql://me:hunter2@db.example.com/x")
    (told,) = findings(tmp_path, text=clear)
    assert sentence("secrets.in_clear_text") in told
    assert "hunter2" not in told
    assert findings(tmp_path, text=clear.replace(":hunter2", "")) == []


@pytest.mark.parametrize("place", ["before", "behind"])
def test_a_password_is_in_no_message(base: Base, place: str) -> None:
    if base.url.startswith("sqlite"):
        return
    password = {"before": ":hunter2@", "behind": "@"}[place]
    url = base.url.replace("postgres@", f"nobody{password}") + "hunter2"
    url += "?password=hunter2" if place == "behind" else ""
    setup = base.setup(table="t", key="id", text="b", connection=url)
    lister = TableLister(setup)
    with pytest.raises(UltracrawlError) as raised:
        lister.check_connection()
    lister.close()
    assert "hunter2" not in str(raised.value)
    assert "hunter2" not in repr(raised.value.__cause__)
    assert "hunter2" not in repr(setup)
    assert str(raised.value).count("\n") == 0


@pytest.mark.parametrize(
    "url", ["hunter2", "nodatabase://me:hunter2@x/y", "postgresql://me:hunter2@x:port/y"]
)
def test_a_connection_that_is_none_is_a_mistake_that_shows_no_secret(tmp_path: Path, url: str) -> None:
    base = Base(url, tmp_path)
    with pytest.raises(UserError, match="connection: ") as raised:
        TableLister(base.setup(table="t", key="id", text="b"))
    assert "hunter2" not in str(raised.value)


def test_a_file_of_sqlite_is_taken_from_the_folder_of_the_definition_and_never_made(tmp_path: Path) -> None:
    base = Base("sqlite:///tickets.db", tmp_path)
    lister = TableLister(base.setup(table="t", key="id", text="b"))
    with pytest.raises(WorkError, match="does not exist"):
        lister.check_connection()
    assert not (tmp_path / "tickets.db").exists()
    with sqlite3.connect(tmp_path / "tickets.db") as made:
        made.execute("CREATE TABLE t (id INTEGER, b TEXT)")
    made.close()
    lister.check_connection()
    lister.close()


def test_a_missing_driver_is_reported_with_the_line_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    base = Base("postgresql://db.example.com/x", tmp_path)
    with pytest.raises(UserError, match=r"postgresql.*ultracrawl\[postgresql\]"):
        TableLister(base.setup(table="t", key="id", text="b"))


@pytest.mark.parametrize(
    ("system", "driver", "extra"),
    [
        ("postgresql", "psycopg", "postgresql"),
        ("mysql", "pymysql", "mysql"),
        ("mariadb", "pymysql", "mysql"),
        ("postgresql+asyncpg", "psycopg", ""),
        ("sqlite", "psycopg", ""),
    ],
)
def test_lint_names_the_extra_for_the_driver_without_connecting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str, driver: str, extra: str
) -> None:
    from ultracrawl.agents.table.kind import KIND

    setup = Base(f"{system}://db.example.com/x", tmp_path).setup(table="t", key="id", text="b")
    KIND.check_definition(setup)
    monkeypatch.setitem(sys.modules, driver, None)
    if not extra:
        KIND.check_definition(setup)
        return
    with pytest.raises(MissingExtraError) as missing:
        KIND.check_definition(setup)
    assert f"ultracrawl[{extra}]" in missing.value.instead


def test_without_sqlalchemy_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ultracrawl.agents.table.kind import KIND

    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    setup = Base("sqlite:///x.db", tmp_path).setup(table="t", key="id", text="b")
    with pytest.raises(UserError, match=r"ultracrawl\[table\]"):
        KIND.make_lister(setup)


def test_the_log_of_changes_is_printed_for_the_database_of_the_source(workspace: Workspace) -> None:
    (workspace.directory / "ultracrawl.yaml").write_text(f"{TICKETS}    changes: {{log: tickets_log}}\n")
    ended = workspace.command("changelog", "tickets")
    assert ended.code == 0, ended.err
    assert "CREATE TABLE tickets_log" in ended.out
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE tickets (id, title, body)")
        database.executescript(ended.out)
        database.execute("INSERT INTO tickets VALUES (7, '', '')")
        assert database.execute("SELECT k1, mark FROM tickets_log").fetchall() == [("7", "F")]
    database.close()


def test_a_source_that_is_no_table_has_no_log_of_changes(workspace: Workspace) -> None:
    workspace.define("https://a.example/")
    ended = workspace.command("changelog", "s")
    assert ended.code == 2
    assert len(ended.err.splitlines()) == 1
