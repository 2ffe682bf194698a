"""Rows without a key and rows with the key of another one cost nothing but themselves."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from support.listed import crawl, found, outcomes
from support.project import Workspace
from support.sentences import sentence
from support.tables import Base, by_key, left_out

from ultracrawl.agents.port import Batch, Complete, Entry, Listed
from ultracrawl.agents.table import lister as lister_module
from ultracrawl.agents.table.rows import Row, RowReader
from ultracrawl.agents.table.shape import is_among
from ultracrawl.agents.table.triggers import change_log_sql
from ultracrawl.errors import UserError
from ultracrawl.sources.secrets import SecretReader

ONE = {"table": "t", "key": "id", "text": "b"}
TWO = {"table": "t", "key": ["k1", "k2"], "text": "b"}
LOG = {"changes": {"log": "t_log"}}


@pytest.fixture(params=[1, 2, 3, 500])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Rows of a batch; a statement has two batches at most."""
    monkeypatch.setattr(lister_module, "BATCH_SIZE", request.param)
    monkeypatch.setattr(lister_module, "BATCHES_PER_STATEMENT", 2)
    return int(request.param)


@pytest.fixture
def typeless(tmp_path: Path) -> Base:
    """Keys of SQLite of all types, of which some are written alike."""
    (tmp_path / "x.db").touch()
    base = Base(f"sqlite:///{tmp_path / 'x.db'}", tmp_path, dict(ONE))
    base.run("CREATE TABLE t (id, b TEXT)")
    values = ["1", "'1'", "x'31'", "31", "'31'", "''", "x''", "'a'", "'ab'", "x'ab'", "1.5", "'1.5'", "NULL"]
    values += ["'01'", "99", "'99999999999999999999'", "x'0102'"]
    for value in values:
        base.run(f"INSERT INTO t VALUES ({value}, 'text of {value.replace(chr(39), '')}')")
    return base


def bodies(base: Base, listed: list[Listed], **options: Any) -> dict[str, str]:
    """Return what is fetched of listed rows; each is there, and as it was listed."""
    entries = by_key(listed)
    fetched = base.fetched(*(one.access_url for one in entries.values()), **options)
    read = {}
    for (name, entry), one in zip(entries.items(), fetched, strict=True):
        assert isinstance(one, Entry), (name, one)
        assert (one.access_url, one.validators) == (entry.access_url, entry.validators)
        read[name] = (one.body or b"").decode()
    return read


def assert_goes_on(base: Base, since: str = "", **options: Any) -> None:
    """Assert that a listing that goes on behind any of its batches has what follows, and nothing twice."""
    whole = base.listed(since, **options)
    for number, batch in enumerate(whole[:-1]):
        assert isinstance(batch, Batch)
        if batch.cursor:
            rest = base.listed(since, batch.cursor, **options)
            assert list(by_key(rest)) == list(by_key(whole[number + 1 :]))
            assert rest[-1] == whole[-1]


def with_log(base: Base, **options: Any) -> str:
    """Create the change log of a source, and return the token of its first listing."""
    setup = base.setup(**options)
    sql = change_log_sql(setup.options, SecretReader({}), base.folder)
    base.run(*(one.replace(":", "\\:") for one in sql.split(";\n\n")))
    return base.listed(**options)[-1].token  # type: ignore[union-attr]


def test_a_row_without_a_key_costs_that_row(base: Base, size: int) -> None:
    base.run("CREATE TABLE t (id INTEGER, b TEXT)")
    base.run(*(f"INSERT INTO t VALUES ({one}, 'x')" for one in ("NULL", 3, 1, "NULL", 2, 5, 4)))
    listed = base.listed(**ONE)
    assert (list(by_key(listed)), listed[-1]) == ([f"id={one}" for one in range(1, 6)], Complete())
    assert left_out(listed) == {"one beside id=1": 2}
    assert_goes_on(base, **ONE)


def test_a_row_that_lacks_a_part_of_its_key_is_named_with_its_neighbour(base: Base, size: int) -> None:
    base.run("CREATE TABLE t (k1 INTEGER, k2 TEXT, b TEXT)")
    rows = ["1, 'x', 'a'", "1, NULL, 'b'", "2, '', 'c'", "NULL, 'x', 'd'", "3, 'é', 'e'", "NULL, NULL, 'f'"]
    base.run(*(f"INSERT INTO t VALUES ({one})" for one in rows))
    listed = base.listed(**TWO)
    assert bodies(base, listed, **TWO) == {"k1=1&k2=x": "a", "k1=2&k2=": "c", "k1=3&k2=%C3%A9": "e"}
    ((place, number),) = left_out(listed).items()
    assert number == 3
    assert place in ("k1=1 beside k1=1&k2=x", "one beside k1=1&k2=x"), "NULL is first or last"
    told = [one.what for batch in listed if isinstance(batch, Batch) for one in batch.left_out]
    assert told == [sentence("table.row_without_key", columns="`k1`, `k2`")]
    assert_goes_on(base, **TWO)


@pytest.mark.parametrize("key", ["id", ["id", "b"]])
def test_a_table_without_any_key_is_a_mistake(base: Base, key: object) -> None:
    base.run("CREATE TABLE t (id INTEGER, b TEXT)", "INSERT INTO t VALUES (NULL, 'x'), (NULL, 'y')")
    with pytest.raises(UserError, match=sentence("table.no_row_has_a_key")):
        base.listed(**{**ONE, "key": key})


@pytest.mark.parametrize("way", [{}, {"changes": {"column": "c"}}], ids=["all", "column"])
def test_of_rows_with_one_key_the_same_one_is_read_in_whatever_order_they_come(
    base: Base, size: int, way: dict[str, object]
) -> None:
    options = {**ONE, "text": "b", **way}
    rows = [(1, "a", 1), (2, "b", 1), (2, "c", 1), (2, "d", 1), (3, "e", 1), (3, "long" * 99, 1), (4, "f", 1)]
    rows += [(3, "long" * 99 + "er", 1), (5, "g", 1), (5, "a", 2), (6, "h" * 200, 1), (6, "h" * 201, 1)]
    seen = set()
    for seed in range(4):
        random.Random(seed).shuffle(rows)
        base.run("DROP TABLE IF EXISTS t", "CREATE TABLE t (id INTEGER, b TEXT, c INTEGER)")
        for number, text, changed in rows:
            base.run("INSERT INTO t VALUES (:id, :b, :c)", id=number, b=text, c=changed)
        listed = base.listed(**options)
        assert listed[-1] == Complete()
        read = bodies(base, listed, **options)
        assert [read[f"id={one}"] for one in range(1, 5)] == ["a", "b", "e", "f"]
        assert len(read) == 6
        seen.add(tuple(read.items()))
        places = [
            (one.first, one.number) for batch in listed if isinstance(batch, Batch) for one in batch.left_out
        ]
        assert (places[0][0], sum(number for _, number in places)) == ("id=2", 6)
        assert_goes_on(base, **options)
    assert len(seen) == 1


def test_rows_with_one_key_are_read_once(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    read, statements = lister_module._Rows.read, list[int]()

    def counted(rows: Any, *words: Any, **options: Any) -> Any:
        groups, number = read(rows, *words, **options)
        statements.append(number)
        return groups, number

    monkeypatch.setattr(lister_module._Rows, "read", counted)
    base.run("CREATE TABLE t (id INTEGER, b TEXT)")
    for text in ("c", "a", "b"):
        base.run(*(f"INSERT INTO t VALUES ({one}, '{text}{one}')" for one in range(20)))
    listed = base.listed(**ONE)
    assert statements == [60]
    assert bodies(base, listed, **ONE) == {f"id={one}": f"a{one}" for one in range(20)}
    assert left_out(listed) == {"id=0": 40}


def test_rows_with_one_key_that_fill_several_statements_end(base: Base, size: int) -> None:
    base.run("CREATE TABLE t (id INTEGER, b TEXT)")
    base.run(*(f"INSERT INTO t VALUES (1, 'x{one}')" for one in range(9)), "INSERT INTO t VALUES (2, 'y')")
    listed = base.listed(**ONE)
    assert (bodies(base, listed, **ONE), left_out(listed)) == ({"id=1": "x0", "id=2": "y"}, {"id=1": 8})


def test_keys_that_a_collation_takes_for_each_other_are_all_listed(tmp_path: Path, size: int) -> None:
    (tmp_path / "x.db").touch()
    base = Base(f"sqlite:///{tmp_path / 'x.db'}", tmp_path, dict(ONE))
    base.run("CREATE TABLE t (id TEXT COLLATE NOCASE, b TEXT)")
    base.run(
        *(f"INSERT INTO t VALUES ('{one}', '{one}')" for one in ["a", "A", "b", "a", "B", "c", "A", "C"])
    )
    listed = base.listed()
    assert sorted(by_key(listed)) == [f"id={one}" for one in "ABCabc"]
    assert left_out(listed).keys() <= {"id=A", "id=a"}


def test_keys_of_several_types_that_are_written_alike_are_one_key(typeless: Base, size: int) -> None:
    listed = typeless.listed()
    texts = ["1", "31", "", "a", "ab", "1.5", "01", "99", "99999999999999999999", "0102"]
    assert bodies(typeless, listed) == {f"id={one}": f"text of {one}" for one in texts} | {
        "id=0102": "text of x0102"
    }
    assert sum(one.number for batch in listed if isinstance(batch, Batch) for one in batch.left_out) == 7
    assert listed[-1] == Complete()
    assert_goes_on(typeless)


def test_keys_of_several_types_come_back_from_the_log(typeless: Base) -> None:
    typeless.options |= LOG
    token = with_log(typeless)
    typeless.run(
        "UPDATE t SET b = 'other' WHERE typeof(id) = 'text' OR id IS NULL", "DELETE FROM t WHERE id = 1"
    )
    listed = typeless.listed(token)
    named = {key for key, one in by_key(listed).items() if not one.deleted}
    assert named >= {f"id={one}" for one in ("1", "", "a", "ab", "01", "99999999999999999999")}
    assert (
        bodies(typeless, [Batch([one for one in by_key(listed).values() if not one.deleted])])["id=1"]
        == "other"
    )
    assert "one beside id=1.5" in left_out(listed)


def test_the_types_of_one_key_say_nothing_about_those_of_another(tmp_path: Path) -> None:
    (tmp_path / "x.db").touch()
    base = Base(f"sqlite:///{tmp_path / 'x.db'}", tmp_path, dict(TWO))
    base.run("CREATE TABLE t (k1, k2, b TEXT)", "INSERT INTO t VALUES (2.5, 1, 'y'), ('x', 'y', 'z')")
    columns = [sa.column("k1"), sa.column("k2")]
    with sa.create_engine(base.url).connect() as connection:
        for keys in ([(2.5, 1), ("x", "y")], [("x", "y"), (2.5, 1)]):
            rows = sa.select(sa.column("b")).select_from(sa.table("t")).where(is_among(columns, keys))
            assert sorted(connection.execute(rows).scalars()) == ["y", "z"]


def test_rows_of_several_types_are_fetched_also_in_a_key_of_several_columns(tmp_path: Path) -> None:
    (tmp_path / "x.db").touch()
    base = Base(f"sqlite:///{tmp_path / 'x.db'}", tmp_path, dict(TWO))
    base.run("CREATE TABLE t (k1, k2, b TEXT)")
    values = ["1", "'1'", "x'31'", "'x'", "''", "NULL", "2.5"]
    for first in values:
        for second in values:
            base.run(f"INSERT INTO t VALUES ({first}, {second}, 'x')")
    listed = base.listed()
    assert len(bodies(base, listed)) == 5 * 5  # x'31' is written 31
    assert sorted(left_out(listed).values()) == [11, 13]


def test_a_log_names_rows_whose_key_is_gone_and_rows_that_share_one(base: Base, size: int) -> None:
    base.run("CREATE TABLE t (id INTEGER, b TEXT)")
    base.run(*(f"INSERT INTO t VALUES ({one}, 'x{one}')" for one in range(1, 8)))
    options = {**ONE, **LOG}
    token = with_log(base, **options)
    base.run(
        "UPDATE t SET id = NULL WHERE id IN (1, 2)",
        "UPDATE t SET id = 4 WHERE id = 3",
        "UPDATE t SET b = 'other' WHERE id = 7",
    )
    listed = base.listed(token, **options)
    named = {key: one.deleted for key, one in by_key(listed).items()}
    assert named == {"id=1": True, "id=2": True, "id=3": True, "id=4": False, "id=7": False}
    assert left_out(listed) == {"one beside id=4": 2, "id=4": 1}
    assert bodies(base, [Batch([by_key(listed)["id=4"]])], **options) == {"id=4": "x3"}
    assert_goes_on(base, token, **options)
    assert left_out(base.listed(listed[-1].token, **options)) == {}  # type: ignore[union-attr]


def test_a_first_row_without_a_key_says_nothing_of_the_type_of_keys(base: Base) -> None:
    kind = "TIMESTAMP" if base.url.startswith("sqlite") else "TIMESTAMPTZ"
    base.run(f"CREATE TABLE t (id {kind}, b TEXT)", "INSERT INTO t VALUES (NULL, 'x')")
    base.run("INSERT INTO t VALUES ('2026-03-01 10:00:00', 'y')")
    assert list(bodies(base, base.listed(**ONE), **ONE).values()) == ["y"]


# ---- crawls


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_a_row_that_loses_its_key_leaves_by_the_guard_and_the_others_are_current(
    workspace: Workspace, base: Base, engine: str
) -> None:
    base.run(
        "CREATE TABLE people (id INTEGER, number INTEGER)", "CREATE TABLE texts (number INTEGER, b TEXT)"
    )
    for one in range(1, 9):
        base.run(
            f"INSERT INTO people VALUES ({one}, {one})",
            f"INSERT INTO texts VALUES ({one}, 'common word{one}')",
        )
    base.run(
        "CREATE VIEW t AS SELECT people.id, texts.b FROM texts LEFT JOIN people ON people.number = texts.number"
    )
    source = {"type": "table", "connection": base.url, **ONE, "deletion": {"percent": 20, "always": 0}}
    workspace.write({"index": {"engine": engine}, "sources": {"s": source}})
    assert outcomes(crawl(workspace)) == {"NEW": 8}
    base.run("DELETE FROM people WHERE id = 1", "UPDATE texts SET b = 'common changed' WHERE number = 2")
    run = crawl(workspace)
    assert (outcomes(run)["MODIFIED"], run["deleted"], run["problems"]) == (1, 1, [])
    (remark,) = run["remarks"]
    assert remark.startswith(sentence("table.row_left_out", number=1, place="one beside id=2"))
    assert found(workspace, "common") == list("2345678")
    for _ in range(2):
        run = crawl(workspace)
        assert (outcomes(run), run["fetched"], len(run["remarks"])) == ({"NOT_MODIFIED": 7}, 0, 1)
    base.run("DELETE FROM people WHERE id > 4")
    run = crawl(workspace, code=1)
    assert run["deleted"] == 0
    assert len(found(workspace, "common")) == 7


def test_only_rows_with_the_key_of_another_one_are_compared(
    base: Base, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    base.run("CREATE TABLE t (id INTEGER, b TEXT)")
    base.run(*(f"INSERT INTO t VALUES ({number}, 'text {number}')" for number in (1, 2, 3, 4, 5, 3)))
    compared, order_of = set[int](), RowReader.order_of

    def noted(reader: RowReader, row: Row) -> tuple[object, ...]:
        compared.add(row["id"])
        return order_of(reader, row)

    monkeypatch.setattr(RowReader, "order_of", noted)
    assert left_out(base.listed(**ONE)) == {"id=3": 1}
    assert compared == {3}
