"""The tables of both engines and the kinds of rows follow the one description of them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
import schema
from schema import INT, TABLES, Column

COPY = next(one for one in TABLES if one.name == "copy")
WRITTEN = {
    "sqlite": "CREATE TABLE copy (key INTEGER PRIMARY KEY, checksum TEXT NOT NULL, holds INTEGER NOT NULL);",
    "postgresql": "CREATE TABLE copy (source integer);",
}


def test_the_files_are_what_the_tables_give(capsys: pytest.CaptureFixture[str]) -> None:
    assert schema.main(["--check"]) == 0, capsys.readouterr().out


def test_what_is_written_by_hand_differs(tmp_path, monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.py"
    file.write_text(schema.ROWS.read_text().replace("holds: bool", "holds: int"))
    monkeypatch.setattr(schema, "ROWS", file)
    assert schema.main(["--check"]) == 1
    assert str(file) in capsys.readouterr().out
    assert "holds: int" in file.read_text()
    assert schema.main([]) == 0
    assert "holds: bool" in file.read_text()


@pytest.mark.parametrize("engine", WRITTEN)
def test_a_column_stands_once_and_comes_into_each_engine(engine: str) -> None:
    wider = replace(COPY, columns=(*COPY.columns, Column("seen", INT, "0")))
    own = f"-- before\n{WRITTEN[engine]}\nCREATE INDEX copy_checksum ON copy (checksum);\n"
    assert " 0," not in schema.with_tables(own, engine, [COPY])
    text = schema.with_tables(own, engine, [wider])
    assert text == own.replace(WRITTEN[engine], wider.statement(engine))
    assert f"seen {INT._asdict()[engine]} NOT NULL DEFAULT 0" in text
    assert schema.with_tables(text, engine, [COPY]) == schema.with_tables(own, engine, [COPY])


def test_a_table_needs_a_place() -> None:
    with pytest.raises(ValueError, match="CREATE TABLE copy"):
        schema.with_tables("", "sqlite", [COPY])
    assert schema.with_tables("CREATE TABLE copy ();", "sqlite", [COPY]) == WRITTEN["sqlite"]


def test_sqlite_takes_each_statement(subtests: pytest.Subtests) -> None:
    for table in TABLES:
        if "sqlite" not in table.of:
            continue
        with subtests.test(table.row), closing(sqlite3.connect(":memory:")) as db:
            db.execute(table.statement("sqlite"))
            found = db.execute(f"SELECT name FROM pragma_table_info('{table.name_in('sqlite')}')").fetchall()
            assert [name for (name,) in found] == [
                one.name_in("sqlite") for one in table.columns_in("sqlite")
            ]
