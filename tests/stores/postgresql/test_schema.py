"""Tables of the version before with rows in them: the step to this version loses nothing."""

from __future__ import annotations

from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from ultracrawl.errors import StateError
from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.stores import QueueEntry
from ultracrawl.stores.port.node_store import NodeFacts
from ultracrawl.stores.port.schedule_store import KeptSchedule
from ultracrawl.stores.postgresql.access.pool import pool_of
from ultracrawl.stores.postgresql.access.schema import VERSION
from ultracrawl.stores.postgresql.engine import PostgresEngine

pytestmark = pytest.mark.servers
HERE = Path()
FACTS = NodeFacts("host", "1.0")
COLUMNS = b"""
    SELECT table_name, column_name, data_type, column_default, is_nullable FROM information_schema.columns
    WHERE table_schema = current_schema() ORDER BY table_name, column_name"""


def ask(options: dict[str, str], *statements: bytes) -> list[Any]:
    """Run statements in the schema of a test; returns the rows of the last."""
    with psycopg.connect(options["url"], autocommit=True) as db:
        db.execute(f"SET search_path TO {options['schema']}".encode())
        for statement in statements:
            cursor = db.execute(statement)
        return cursor.fetchall() if cursor.description else []


WITHOUT_PLACES = (
    b"DROP TABLE place",
    b"ALTER TABLE submitted DROP COLUMN place",
    b"ALTER TABLE part DROP COLUMN place",
)
"""What takes the tables back to version 6."""


def test_a_filled_database_of_version_4_keeps_its_rows_and_has_releases(options: dict[str, str]) -> None:
    engine, token = PostgresEngine(options), str(uuid4())
    engine.open_store(HERE, "s").close()
    with closing(engine.open_nodes(HERE, token)) as nodes:
        nodes.register_node("a", FACTS, 60.0)
        assert nodes.take_plan("nightly", ["s"])
        nodes.put_schedule(KeptSchedule("nightly", due=5.0, left=("s",)))
        before = nodes.nodes()
    columns = ask(options, COLUMNS)
    ask(
        options,
        *WITHOUT_PLACES,
        b"DROP TABLE release, released",
        b"ALTER TABLE node DROP COLUMN told",
        b"ALTER TABLE version DROP COLUMN least",
        b"UPDATE version SET number = 4",
    )
    pool_of.cache_clear()  # what a new process knows
    with closing(PostgresEngine(options).open_nodes(HERE, token)) as nodes:
        (kept,) = nodes.nodes()
        assert (kept.name, kept.facts, kept.plans, kept.alive) == ("a", FACTS, ("nightly",), True)
        assert (kept.sources, kept.schema) == (before[0].sources, before[0].schema)
        assert nodes.get_schedule("nightly") == KeptSchedule("nightly", due=5.0, left=("s",))
        assert nodes.renew_node(NodeFacts("host", "1.0", {"s": "1"}), 60.0)
        nodes.release({"s": "1"}, {})
        assert nodes.node_work().released == {"s": "1"}
    assert ask(options, COLUMNS) == columns
    assert PostgresEngine(options).stored_sources(HERE) == ["s"]


def test_a_filled_database_of_version_6_keeps_what_waits_and_learns_where(options: dict[str, str]) -> None:
    entries = [QueueEntry(number, f"http://h/{number}", "h", 0, number) for number in (1, 2)]
    with closing(PostgresEngine(options).open_store(HERE, "s")) as store:
        store.begin_run(1.0, "")
        for entry in entries:
            store.records.discover_url(entry, 1.0)
            record = UrlRecord(entry.url, "s", outcome=UrlOutcome.NEW, etag='"x"', first_seen=1.0)
            store.records.finish_url(entry, replace(record, submitted=True))
        store.flush()
        before = store.records.get_records([1, 2])
    columns = ask(options, COLUMNS)
    ask(options, *WITHOUT_PLACES, b"UPDATE version SET number = 6")
    pool_of.cache_clear()  # what a new process knows
    assert PostgresEngine(options).noting_sources(HERE, "renaming") == [], "a crawl asks that first"
    with closing(PostgresEngine(options).open_store(HERE, "s")) as store:
        assert ask(options, COLUMNS) == columns
        assert store.records.get_records([1, 2]) == before
        assert not store.documents.open_place("here"), "nobody knows where they are"
        assert store.documents.refetch_lost(frozenset({2})) == [1], "what is in the cache here is here"
        store.documents.keep_place()
    assert ask(options, b"SELECT key, place FROM submitted") == [(2, 0)]
    assert ask(options, b"SELECT p.place = l.place FROM part p, place l") == [(True,)]


def test_what_a_node_tells_is_kept_and_the_newest_release_counts(options: dict[str, str]) -> None:
    facts = NodeFacts("host", "1.0", {"s": "1"}, {"ultracrawl.yaml": "x"}, {"mounts": ["/mnt"]})
    with closing(PostgresEngine(options).open_nodes(HERE, str(uuid4()))) as nodes:
        nodes.register_node("a", facts, 60.0)
        assert [node.facts for node in nodes.nodes()] == [facts]
        assert nodes.renew_node(facts, 60.0)
        assert [node.facts for node in nodes.nodes()] == [facts], "what has not changed stays"
        assert (nodes.node_work().released, nodes.released_files("s")) == ({}, {})
        nodes.release({"s": "1", "t": "1"}, {"ultracrawl.yaml": "x"})
        nodes.release({"s": "2"}, {"ultracrawl.yaml": "y"})
        assert nodes.node_work().released == nodes.released() == {"s": "2", "t": "1"}
        assert [nodes.released_files(name) for name in "st"] == [
            {"ultracrawl.yaml": "y"},
            {"ultracrawl.yaml": "x"},
        ]
        nodes.release({"t": "3"}, {})
    assert ask(options, b"SELECT count(*) FROM release") == [(2,)], "no source is of the first one"


@pytest.mark.parametrize(("least", "goes_on"), [(VERSION, True), (VERSION + 1, False)])
def test_newer_tables_say_whether_an_older_program_goes_on(
    options: dict[str, str], least: int, goes_on: bool
) -> None:
    with closing(PostgresEngine(options).open_nodes(HERE, str(uuid4()))) as nodes:
        nodes.register_node("a", FACTS, 60.0)
    ask(
        options,
        b"ALTER TABLE node ADD COLUMN later integer",
        f"UPDATE version SET number = {VERSION + 1}, least = {least}".encode(),
    )
    pool_of.cache_clear()
    with nullcontext() if goes_on else pytest.raises(StateError, match=str(VERSION + 1)):
        with closing(PostgresEngine(options).open_nodes(HERE, str(uuid4()))) as nodes:
            nodes.register_node("b", FACTS, 60.0)
        engine = PostgresEngine(options)
        engine.open_store(HERE, "s").close()
        assert engine.stored_sources(HERE) == ["s"]
        assert engine.state_version(HERE, "s") is not None
    assert ask(options, b"SELECT number, least FROM version") == [(VERSION + 1, least)]


def test_what_a_newer_program_tells_of_itself_is_left_out(options: dict[str, str]) -> None:
    with closing(PostgresEngine(options).open_nodes(HERE, str(uuid4()))) as nodes:
        nodes.register_node("a", FACTS, 60.0)
        ask(options, b"""UPDATE node SET told = '{"digests": {"s": "1"}, "later": 5}'""")
        assert [node.facts for node in nodes.nodes()] == [NodeFacts("host", "1.0", {"s": "1"})]
