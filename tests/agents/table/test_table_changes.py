"""Changes of rows: by comparing all, by a column, by a log with triggers."""

from __future__ import annotations

import itertools
import re

import pytest
from support.sentences import sentence
from support.tables import Base, by_key

from ultracrawl.agents.port import Batch, Complete
from ultracrawl.agents.table import lister as lister_module
from ultracrawl.agents.table.lister import TableLister
from ultracrawl.agents.table.triggers import change_log_sql
from ultracrawl.errors import UserError
from ultracrawl.sources.secrets import SecretReader

OPTIONS = {"table": "tickets", "key": "id", "text": "body", "attributes": {"owner": "Author"}}
LOG = {"changes": {"log": "tickets_log"}}


@pytest.fixture
def tickets(base: Base) -> Base:
    base.run(
        "CREATE TABLE tickets (id INTEGER PRIMARY KEY, body TEXT, owner TEXT, extra TEXT, changed INTEGER)"
    )
    base.run(*(f"INSERT INTO tickets VALUES ({one}, 'text {one}', 'Ann', 'x', 1)" for one in range(1, 8)))
    base.options = dict(OPTIONS)
    return base


@pytest.fixture
def logged(tickets: Base) -> Base:
    setup = tickets.setup(**LOG)
    tickets.run(*statements(change_log_sql(setup.options, SecretReader({}), tickets.folder)))
    tickets.options |= LOG
    return tickets


def statements(sql: str) -> list[str]:
    return [one.replace(":", "\\:") for one in sql.split(";\n\n")]


def changed(base: Base, change: str, **options: object) -> list[str]:
    before = base.entries(**options)
    base.run(change)
    after = base.entries(**options)
    return [key for key in after if key not in before or before[key].validators != after[key].validators]


def test_all_rows_are_compared_by_what_is_read_of_them(tickets: Base) -> None:
    assert changed(tickets, "UPDATE tickets SET owner = 'Ben' WHERE id = 3") == ["id=3"]
    assert changed(tickets, "UPDATE tickets SET extra = 'other'") == []


def test_a_column_tells_changes_without_reading_the_rest(tickets: Base) -> None:
    options = {"changes": {"column": "changed"}}
    assert changed(tickets, "UPDATE tickets SET body = 'other'", **options) == []
    assert changed(tickets, "UPDATE tickets SET changed = 2 WHERE id = 4", **options) == ["id=4"]


def test_other_options_make_all_rows_anew(tickets: Base) -> None:
    before, after = tickets.entries(), tickets.entries(text=["body", "extra"])
    assert before.keys() == after.keys()
    assert all(before[key].validators != after[key].validators for key in before)


def test_fetched_rows_have_the_validators_of_listed_ones(tickets: Base) -> None:
    listed = tickets.entries()
    found = tickets.fetched(*(one.access_url for one in listed.values()))
    assert [getattr(one, "validators", one) for one in found] == [one.validators for one in listed.values()]


def test_rows_of_a_log_with_unknown_marks_are_read_and_reported(
    tickets: Base, caplog: pytest.LogCaptureFixture
) -> None:
    tickets.run("CREATE TABLE tickets_log (k1 VARCHAR(20), mark CHAR(1))")
    since = tickets.listed(**LOG)[-1].token  # type: ignore[union-attr]
    assert "mark" not in caplog.text
    tickets.run("INSERT INTO tickets_log VALUES ('1', NULL), ('2', 'Q'), ('3', 'F'), ('4', 'A')")
    second = tickets.listed(since, **LOG)
    assert list(by_key(second)) == ["id=1", "id=2", "id=3"]
    assert sentence("table.unknown_marks") in caplog.text
    lister = TableLister(tickets.setup(**LOG))
    lister.confirm(second[-1].token)  # type: ignore[union-attr]
    lister.close()
    assert tickets.ask("SELECT * FROM tickets_log") == [("4", "A")]


@pytest.mark.parametrize("way", [{}, {"changes": {"column": "changed"}}, LOG], ids=["all", "column", "log"])
def test_a_listing_goes_on_behind_each_of_its_batches(
    tickets: Base, way: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lister_module, "BATCH_SIZE", 3)
    monkeypatch.setattr(lister_module, "BATCHES_PER_STATEMENT", 2)
    since = ""
    if way is LOG:
        tickets.run(
            *statements(change_log_sql(tickets.setup(**LOG).options, SecretReader({}), tickets.folder))
        )
        since = tickets.listed(**LOG)[-1].token  # type: ignore[union-attr]
        tickets.run("UPDATE tickets SET body = 'other'")
    whole = tickets.listed(since, **way)
    assert len(whole) == 4
    for number, batch in enumerate(whole[:-1]):
        assert isinstance(batch, Batch)
        rest = tickets.listed(since, batch.cursor, **way)
        assert list(by_key(rest)) == list(by_key(whole[number + 1 :]))
        assert rest[-1] == whole[-1]


@pytest.mark.servers
@pytest.mark.parametrize("way", [{}, LOG], ids=["all", "log"])
def test_no_transaction_is_open_while_the_crawl_takes_a_batch(
    tickets: Base, way: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    if tickets.url.startswith("sqlite"):
        return
    monkeypatch.setattr(lister_module, "BATCH_SIZE", 2)
    since, setup = "", tickets.setup(**way)
    if way is LOG:
        tickets.run(*statements(change_log_sql(setup.options, SecretReader({}), tickets.folder)))
        since = tickets.listed(**LOG)[-1].token  # type: ignore[union-attr]
        tickets.run("UPDATE tickets SET body = 'other'")
    lister, taken = TableLister(setup), 0
    for _ in lister.list_entries(since, ""):
        taken += 1
        assert tickets.ask("SELECT query FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'") == []
    lister.close()
    assert taken == 5


def test_keys_of_texts_go_on_in_their_order(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lister_module, "BATCH_SIZE", 2)
    base.run("CREATE TABLE t (a TEXT, n INTEGER, b TEXT)")
    keys = list(itertools.product(["B", "a", "ä", "Z"], [10, 9]))
    for a, n in keys:
        base.run("INSERT INTO t VALUES (:a, :n, 'x')", a=a, n=n)
    options = {"table": "t", "key": ["a", "n"], "text": "b"}
    whole = base.listed(**options)
    assert len(by_key(whole)) == len(keys)
    for number, batch in enumerate(whole[:-1]):
        assert list(by_key(base.listed("", batch.cursor, **options))) == list(by_key(whole[number + 1 :]))  # type: ignore[union-attr]


# Checklist 32 of Ultra Search: a table change log with columns K1 to K8 and mark limits the crawl to changed rows.
def test_ultra_search_32_a_log_of_changes_limits_the_listing_to_changed_rows(logged: Base) -> None:
    first = logged.listed()
    assert len(by_key(first)) == 7
    logged.run(
        "UPDATE tickets SET body = 'other' WHERE id = 2",
        "UPDATE tickets SET body = 'again' WHERE id = 2",
        "DELETE FROM tickets WHERE id = 5",
        "INSERT INTO tickets VALUES (9, 'new', 'Ann', 'x', 1)",
        "UPDATE tickets SET id = 70 WHERE id = 7",
    )
    second = logged.listed(first[-1].token)  # type: ignore[union-attr]
    found = {key: one.deleted for key, one in by_key(second).items()}
    assert found == {"id=2": False, "id=5": True, "id=7": True, "id=9": False, "id=70": False}
    last = second[-1]
    assert isinstance(last, Complete)
    assert last.changes_only


def test_rows_of_the_log_go_only_when_their_listing_is_confirmed(logged: Base) -> None:
    token = logged.listed()[-1].token  # type: ignore[union-attr]
    logged.run("UPDATE tickets SET body = 'other' WHERE id < 3")
    second = logged.listed(token)
    logged.run("UPDATE tickets SET body = 'other' WHERE id = 6")  # after the listing: for the next one
    assert by_key(logged.listed(token)).keys() == {"id=1", "id=2", "id=6"}, (
        "an interrupted run lists all again"
    )
    logged.run("UPDATE tickets SET body = 'other' WHERE id = 7")
    lister = TableLister(logged.setup())
    lister.confirm(second[-1].token)  # type: ignore[union-attr]
    lister.close()
    assert logged.ask("SELECT k1, mark FROM tickets_log") == [("7", "F")]
    assert by_key(logged.listed(second[-1].token)).keys() == {"id=7"}  # type: ignore[union-attr]


def test_a_listing_that_goes_on_takes_no_changes_that_its_cursor_has_passed(
    logged: Base, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lister_module, "BATCH_SIZE", 2)
    token = logged.listed()[-1].token  # type: ignore[union-attr]
    logged.run("UPDATE tickets SET body = 'other' WHERE id > 2")
    begun = logged.listed(token)
    logged.run("UPDATE tickets SET body = 'other' WHERE id = 1")
    assert isinstance(begun[0], Batch)
    rest = logged.listed(token, begun[0].cursor)
    assert by_key(rest).keys() == {"id=5", "id=6", "id=7"}
    assert by_key(logged.listed(rest[-1].token)).keys() == {"id=1"}  # type: ignore[union-attr]


def test_a_crash_before_the_confirmation_leaves_nothing_behind(logged: Base) -> None:
    token = logged.listed()[-1].token  # type: ignore[union-attr]
    logged.run("UPDATE tickets SET body = 'other' WHERE id = 1")
    second = logged.listed(token)[-1].token  # type: ignore[union-attr]
    lister = TableLister(logged.setup())
    lister.confirm(second)  # as the next run does
    lister.close()
    third = logged.listed(second)
    assert by_key(third) == {}
    assert logged.ask("SELECT * FROM tickets_log") == []


def test_other_options_list_all_rows_in_spite_of_a_log(logged: Base) -> None:
    token = logged.listed()[-1].token  # type: ignore[union-attr]
    again = logged.listed(token, text=["body", "extra"])
    assert len(by_key(again)) == 7
    assert not again[-1].changes_only  # type: ignore[union-attr]


def test_a_log_of_another_database_is_not_believed(logged: Base) -> None:
    token = logged.listed()[-1].token  # type: ignore[union-attr]
    here, _, rest = token.partition(" ")
    digest, place, log = rest.split(" ")
    assert len(by_key(logged.listed(f"{here} {digest} {place} {log}"))) == 0
    assert len(by_key(logged.listed(f"{here} {digest} elsewhere {log}"))) == 7


def test_keys_in_bytes_have_no_log_where_triggers_cannot_name_them(base: Base) -> None:
    if not base.url.startswith("sqlite"):
        return
    base.run("CREATE TABLE t (k BLOB PRIMARY KEY, b TEXT)", "INSERT INTO t VALUES (x'00ff', 'x')")
    options = {"table": "t", "key": "k", "text": "b"}
    assert list(base.entries(**options)) == ["k=00ff"]
    with pytest.raises(UserError, match=re.escape(sentence("table.no_binary_keys"))):
        base.listed(**options, changes={"log": "t_log"})


def test_keys_of_several_columns_and_odd_names_are_logged(base: Base) -> None:
    base.run('CREATE TABLE "Odd t" ("Key A" TEXT, n INTEGER, b TEXT, PRIMARY KEY ("Key A", n))')
    options = {"table": "Odd t", "key": ["Key A", "n"], "text": "b", "changes": {"log": "Odd log"}}
    base.run(*statements(change_log_sql(base.setup(**options).options, SecretReader({}), base.folder)))
    token = base.listed(**options)[-1].token  # type: ignore[union-attr]
    base.run("INSERT INTO \"Odd t\" VALUES ('it''s a & b', 7, 'x')")
    ((name, entry),) = by_key(base.listed(token, **options)).items()
    assert (name, entry.deleted) == ("Key%20A=it%27s%20a%20%26%20b&n=7", False)


@pytest.mark.servers
def test_a_truncated_table_of_postgresql_is_logged(logged: Base) -> None:
    if logged.url.startswith("sqlite"):
        return
    token = logged.listed()[-1].token  # type: ignore[union-attr]
    logged.run("TRUNCATE tickets", "INSERT INTO tickets VALUES (9, 'new', 'Ann', 'x', 1)")
    assert [key for key, one in by_key(logged.listed(token)).items() if not one.deleted] == ["id=9"]
    assert len(by_key(logged.listed(token))) == 8


@pytest.mark.servers
def test_keys_of_many_types_come_back_from_the_log(postgresql: str, base: Base) -> None:
    if base.url.startswith("sqlite"):
        return
    types = {
        "uuid": ("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        "date": ("2026-03-01", "2026-03-02"),
        "timestamp": ("2026-03-01 10:00:00.5", "2026-03-01 11:00:00"),
        "timestamptz": ("2026-03-01 10:00:00+02", "2026-03-01 11:00:00+02"),
        "numeric(10,2)": ("12.50", "1"),
        "double precision": ("3", "0.1"),
        "bytea": ("\\x00ff", "\\x"),
        "mood": ("glad", "sad"),
        "boolean": ("true", "false"),
        "char(5)": ("ab", "abc"),
    }
    base.run("CREATE TYPE mood AS ENUM ('sad', 'glad')")
    # What a session writes of a value is its own affair.
    base.run(
        *(f"ALTER ROLE CURRENT_USER SET {one}" for one in ("datestyle='German'", "bytea_output='escape'"))
    )
    for number, (kind, values) in enumerate(types.items()):
        base.run(f"CREATE TABLE t{number} (k {kind} PRIMARY KEY, b TEXT)")
        options = {"table": f"t{number}", "key": "k", "text": "b", "changes": {"log": f"t{number}_log"}}
        base.run(*statements(change_log_sql(base.setup(**options).options, SecretReader({}), base.folder)))
        token = base.listed(**options)[-1].token  # type: ignore[union-attr]
        for value in values:
            base.run(f"INSERT INTO t{number} VALUES (CAST(:value AS {kind}), 'x')", value=value)
        named = by_key(base.listed(token, **options))
        entries = base.entries(**options)
        assert {key for key, one in named.items() if not one.deleted} == entries.keys(), kind
        found = base.fetched(*(one.access_url for one in entries.values()), **options)
        assert [getattr(one, "body", kind) for one in found] == [b"x", b"x"]
        base.run(f"DELETE FROM t{number} WHERE k = CAST(:value AS {kind})", value=values[0])
        named = by_key(base.listed(token, **options))
        left = base.entries(**options).keys()
        assert entries.keys() - left <= {key for key, one in named.items() if one.deleted}, kind
    base.run("ALTER ROLE CURRENT_USER RESET ALL")


def test_a_table_that_has_become_empty_is_listed_whole(logged: Base) -> None:
    token = logged.listed()[-1].token  # type: ignore[union-attr]
    logged.run("DELETE FROM tickets")
    assert logged.listed(token) == [Complete(token)]


def test_a_source_without_a_log_has_no_triggers(tickets: Base) -> None:
    with pytest.raises(UserError, match="has no change log"):
        change_log_sql(tickets.setup().options, SecretReader({}), tickets.folder)


def test_the_triggers_of_mariadb(tickets: Base) -> None:
    pytest.importorskip("pymysql")
    setup = tickets.setup(**LOG, connection="mariadb://reader@db.example.com/tickets")
    written = change_log_sql(setup.options, SecretReader({}), tickets.folder)
    assert "k1 VARCHAR(1000) COLLATE utf8mb4_bin" in written
    assert "mark CHAR(1) NOT NULL DEFAULT 'F'" in written
    assert written.count("CREATE TRIGGER") == 3
    old, new = (f"CONVERT({one}.id USING utf8mb4) COLLATE utf8mb4_bin" for one in ("OLD", "NEW"))
    assert f"SELECT {old} UNION SELECT {new};" in written
