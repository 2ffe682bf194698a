"""Lists as PostgreSQL receives them: each value comes back, and types do not depend on values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from ultracrawl.stores.postgresql.access.connecting import PostgresAddress

pytestmark = pytest.mark.servers
LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1


@pytest.fixture
def db(database: str) -> Iterator[psycopg.Connection]:
    with closing(PostgresAddress(database).connect()) as db:
        yield db


@pytest.mark.parametrize(
    ("type_of_items", "values"),
    [
        ("bigint", [LOWEST, -1, 0, HIGHEST]),
        ("bigint", [None, 5, None]),
        ("int", [1 << 30, -3]),
        ("int2", [7, None]),
        ("int", []),
        ("int", [None, None]),
        ("float8", [0.5, None, -1e300]),
        ("bool", [True, None, False]),
        ("text", ["", 'a "quoted" {text}, \\ and more', None, "NULL", "\N{GREEK SMALL LETTER ALPHA}"]),
        ("text", [None]),
        ("bytea", [b"", b"\0\xff", None]),
    ],
)
def test_values_come_back(db: psycopg.Connection, type_of_items: str, values: list[object]) -> None:
    rows = db.execute(f"SELECT unnest(%s::{type_of_items}[])".encode(), [values]).fetchall()
    assert [value for (value,) in rows] == values


def test_what_no_text_stores_is_replaced_in_lists_as_in_texts(db: psycopg.Connection) -> None:
    texts = ["a\0b", "c\ud800d"]
    rows = db.execute(b"SELECT unnest(%s::text[])", [texts]).fetchall()
    alone = [db.execute(b"SELECT %s::text", [text]).fetchall()[0] for text in texts]
    assert rows == alone == [("a\N{REPLACEMENT CHARACTER}b",), ("c?d",)]


def test_a_statement_with_other_numbers_has_the_same_types(db: psycopg.Connection) -> None:
    types = [
        db.execute(b"SELECT pg_typeof(%s)", [values]).fetchall() for values in ([1], [1 << 40, None], [-1])
    ]
    assert types == [[("bigint[]",)]] * 3
