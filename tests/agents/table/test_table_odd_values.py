"""Values that Python's types cannot hold, and columns that hold more than one value."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
from support.mariadb import mariadb_server
from support.sentences import sentence
from support.tables import Base

from ultracrawl.agents.port import Batch, Complete, Entry, attribute_texts
from ultracrawl.agents.table import lister as lister_module
from ultracrawl.agents.table.lister import TableLister
from ultracrawl.errors import UserError

ODD = {
    "date": ["infinity", "-infinity", "0044-03-15 BC", "20026-01-01", "0001-01-01", "2026-03-01"],
    "timestamp": ["infinity", "0044-03-15 10:00:00 BC", "20026-01-01 00:00:00", "2026-03-01 10:00:00"],
    "timestamptz": ["infinity", "-infinity", "0001-01-01 00:00:00+14", "9999-12-31 23:59:59-12"],
    "time": ["24:00:00", "10:00:00"],
    "timetz": ["24:00:00+01", "10:00:00+01"],
    "interval": ["178000000 years", "1 mon 2 days 03:00:00"],
    "numeric": ["NaN", "Infinity", "1.5"],
    "float8": ["NaN", "-Infinity", "1.5"],
    "daterange": ["[2026-01-01,infinity)", "empty"],
    "date[]": ["{infinity,2026-01-01}", "{}"],
}
ONE = "table:///tickets?id=1"
OPTIONS = {"table": "t", "key": "id", "text": "b", "attributes": {"x": "LastModifiedDate"}}


def value_of(base: Base, name: str = "x", **options: object) -> tuple[str, ...]:
    """The value of the attribute of the first row."""
    options = {**OPTIONS, "attributes": {name: "Subject"}, **options}
    (entry,) = base.fetched(ONE, **options)
    assert isinstance(entry, Entry), entry
    return entry.attributes.get(name, ())


@pytest.fixture
def server(postgresql: str, tmp_path: Path) -> Base:
    base = Base(postgresql, tmp_path)
    base.run("DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    return base


@pytest.mark.servers
@pytest.mark.parametrize("kind", ODD)
def test_a_value_that_python_cannot_hold_keeps_no_row_out(server: Base, kind: str) -> None:
    server.run(f"CREATE TABLE t (id INTEGER, b TEXT, x {kind})")
    for number, value in enumerate(ODD[kind]):
        server.run(f"INSERT INTO t VALUES ({number}, 'x', '{value}')")
    for changes in ({}, {"column": "x"}):
        options = {**OPTIONS, "changes": changes}
        assert server.listed(**options)[-1] == Complete()
        urls = [entry.access_url for entry in server.entries(**options).values()]
        found = server.fetched(*urls, **options)
        assert [isinstance(one, Entry) for one in found] == [True] * len(ODD[kind])


@pytest.mark.servers
@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamptz", "time"])
def test_such_a_value_may_be_a_key(server: Base, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lister_module, "BATCH_SIZE", 1)
    monkeypatch.setattr(lister_module, "BATCHES_PER_STATEMENT", 1)
    server.run(f"CREATE TABLE t (id {kind}, b TEXT)")
    for value in ODD[kind]:
        server.run(f"INSERT INTO t VALUES ('{value}', 'x')")
    options = {"table": "t", "key": "id", "text": "b"}
    listed = server.listed(**options)
    urls = [entry.access_url for batch in listed if isinstance(batch, Batch) for entry in batch.entries]
    assert (len(set(urls)), listed[-1]) == (len(ODD[kind]), Complete())
    assert [getattr(one, "body", one) for one in server.fetched(*urls, **options)] == [b"x"] * len(urls)


@pytest.mark.servers
@pytest.mark.parametrize(
    ("kind", "value", "texts"),
    [
        ("text[]", "{x,y z}", ("x", "y z")),
        ("int[]", "{{1,2},{3,4}}", ("1", "2", "3", "4")),
        ("date[]", "{2026-01-01,infinity}", ("2026-01-01", "infinity")),
        ("jsonb", '{"a": [1, true]}', ('{"a": [1, true]}',)),
        ("jsonb", '["x", "y"]', ("x", "y")),
        ("jsonb", '[{"a": 1}]', ('[{"a": 1}]',)),
        ("json", '"ü"', ("ü",)),
        ("json", "[" * 5000 + "]" * 5000, ("[" * 5000 + "]" * 5000,)),
        ("interval", "1 day 2 hours", ("P1DT2H",)),
        ("interval", "1 year 1 month", ("P1Y1M",)),
        ("bytea", r"\xff00", ()),
        ("boolean", "true", ("True",)),
    ],
)
def test_columns_of_postgresql_are_attributes_as_their_users_expect_them(
    server: Base, kind: str, value: str, texts: tuple[str, ...]
) -> None:
    server.run(f"CREATE TABLE t (id INTEGER, b TEXT, x {kind})")
    server.run("INSERT INTO t VALUES (1, 'x', CAST(:value AS " + kind + "))", value=value)
    assert value_of(server) == texts


@pytest.mark.servers
def test_an_array_of_readers_is_several_readers(server: Base) -> None:
    server.run(
        "CREATE TABLE t (id INTEGER, b TEXT, x text[])", "INSERT INTO t VALUES (1, 'x', '{staff,ann}')"
    )
    (entry,) = server.fetched(ONE, **{**OPTIONS, "attributes": {}}, acl_column="x")
    assert isinstance(entry, Entry)
    assert entry.acl == ("staff", "ann")


@pytest.mark.servers
def test_zero_dates_and_times_of_mariadb_keep_no_row_out(tmp_path: Path) -> None:
    with mariadb_server() as url:
        base = Base(url, tmp_path)
        base.run(
            "SET SESSION sql_mode = ''",
            "CREATE TABLE t (id INTEGER, b TEXT, d DATE, at DATETIME, x TIME, y YEAR, j JSON)",
            "INSERT INTO t VALUES (1, 'x', '0000-00-00', '0000-00-00 00:00:00', '-26:30:00', 0, '{\"a\"\\: 1}')",
            "INSERT INTO t VALUES (2, 'x', '2026-00-00', '2026-02-31 00:00:00', '838:59:59', 2026, '[]')",
        )
        for changed in ("d", "at", "x"):
            options = {**OPTIONS, "attributes": {changed: "LastModifiedDate"}}
            assert base.listed(**options, changes={"column": changed})[-1] == Complete()
        assert [value_of(base, name) for name in ("d", "at", "x", "j")] == [
            ("0000-00-00",),
            ("0000-00-00 00:00:00",),
            ("-26:30:00",),
            ('{"a": 1}',),
        ]


def test_values_of_sqlite_that_fit_no_type_keep_no_row_out(tmp_path: Path) -> None:
    (tmp_path / "x.db").touch()
    base = Base(f"sqlite:///{tmp_path / 'x.db'}", tmp_path)
    base.run("CREATE TABLE t (id INTEGER, b TEXT, x TIMESTAMP)")
    values = ["'infinity'", "'0000-00-00'", "9e999", "x'ff00'", "9223372036854775807", "'yesterday'"]
    for number, value in enumerate(values):
        base.run(f"INSERT INTO t VALUES ({number}, 'x', {value})")
    for changes in ({}, {"column": "x"}):
        assert base.listed(**OPTIONS, changes=changes)[-1] == Complete()
    urls = [entry.access_url for entry in base.entries(**OPTIONS).values()]
    assert all(isinstance(one, Entry) for one in base.fetched(*urls, **OPTIONS))


def test_a_column_of_bytes_as_an_attribute_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "x.db").touch()
    base = Base(f"sqlite:///{tmp_path / 'x.db'}", tmp_path)
    base.run("CREATE TABLE t (id INTEGER, b TEXT, x BLOB)", "INSERT INTO t VALUES (1, 'x', x'ff00')")
    assert value_of(base) == ()
    lister = TableLister(base.setup(**{**OPTIONS, "attributes": {"x": "Subject"}}))
    with pytest.raises(UserError, match=sentence("table.attributes_x_attribute_cannot_hold")):
        lister.check_connection()
    lister.close()
    assert base.listed(**OPTIONS)[-1] == Complete()
    assert sentence("attributes.bytes_left_out") in caplog.text


def test_texts_of_values_are_no_python() -> None:
    mixed = [
        "a",
        ["b", ["c"]],
        {"d": date(2026, 1, 2)},
        b"e",
        None,
        timedelta(days=1, seconds=1, microseconds=5),
    ]
    assert attribute_texts(mixed) == ("a", "b", "c", '{"d": "2026-01-02"}', "24:00:01.000005")
    assert attribute_texts(timedelta(hours=-1)) == ("-01:00:00",)
