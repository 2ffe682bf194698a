"""Flushes that go on beside their crawl, that fail, are fenced off, and of which no answer comes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from support.generations import check_end, check_memory, check_queries, gather_first, gather_second
from support.tcp_proxy import tcp_proxy
from support.until import until

from ultracrawl.errors import StateError
from ultracrawl.stores.postgresql.engine import PostgresEngine
from ultracrawl.stores.postgresql.store import PostgresStore

pytestmark = pytest.mark.servers
WAITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'ultracrawl'"
)

OTHERS_MAY_READ = "LOCK TABLE url IN EXCLUSIVE MODE"


@pytest.fixture
def store(options: dict[str, str]) -> Iterator[PostgresStore]:
    with closing(PostgresEngine(options).open_store(Path(), "s")) as store:
        yield store


@contextmanager
def other(options: dict[str, str]) -> Iterator[psycopg.Connection]:
    """A connection of somebody else, in a transaction."""
    with psycopg.connect(options["url"]) as db:
        db.execute(f"SET search_path TO {options['schema']}".encode())
        db.commit()
        yield db


@contextmanager
def waiting_flush(options: dict[str, str], store: PostgresStore, way: str) -> Iterator[psycopg.Connection]:
    """A first flush that waits for the transaction of somebody else, which executed a statement."""
    with other(options) as in_the_way:
        in_the_way.execute(way.encode())
        gather_first(store)
        store.begin_flush()
        until(lambda: ask(options, WAITING) == [(1,)])
        yield in_the_way


def ask(options: dict[str, str], query: str) -> list[tuple[Any, ...]]:
    with other(options) as db:
        return db.execute(query.encode()).fetchall()


def flush_no(options: dict[str, str]) -> int:
    return int(ask(options, "SELECT flush_no FROM part")[0][0])


def refuse(work: object) -> None:
    raise StateError("the database is away")


def test_a_flush_that_hangs_holds_up_no_read_of_memory(options: dict[str, str]) -> None:
    with (
        tcp_proxy(options["url"]) as proxy,
        closing(PostgresEngine({**options, "url": proxy.url}).open_store(Path(), "s")) as store,
    ):
        gather_first(store)
        proxy.stall()
        store.begin_flush()
        assert not store.flush_ended()
        gather_second(store)
        check_memory(store)
        store.keep_lease()
        assert not store.flush_ended(), "nothing of this has waited"
        assert ask(options, "SELECT key FROM url") == []
        proxy.flow()
        until(store.flush_ended)
        store.flush()
        assert flush_no(options) == 2
        check_end(store)


def test_what_comes_first_holds_up_no_read_of_memory(options: dict[str, str], store: PostgresStore) -> None:
    go_on = threading.Event()
    gather_first(store)
    store.begin_flush(lambda: go_on.wait(60))
    gather_second(store)
    check_memory(store)
    assert not store.flush_ended(), "nothing of this has waited"
    assert ask(options, "SELECT key FROM url") == []
    go_on.set()
    until(store.flush_ended)
    store.flush()
    check_end(store)


def test_a_read_sees_both_generations_over_the_database_before_the_flush_and_after_it(
    options: dict[str, str], store: PostgresStore
) -> None:
    with waiting_flush(options, store, OTHERS_MAY_READ) as in_the_way:
        gather_second(store)
        check_queries(store)
        assert not store.flush_ended(), "nothing of this has waited"
        in_the_way.rollback()
    until(lambda: ask(options, "SELECT flush_no FROM part") == [(1,)])
    check_queries(store)
    until(store.flush_ended)
    check_queries(store)
    store.flush()
    check_end(store)


def test_the_next_flush_waits_for_the_one_before(options: dict[str, str], store: PostgresStore) -> None:
    with waiting_flush(options, store, OTHERS_MAY_READ) as in_the_way:
        gather_second(store)
        threading.Timer(0.2, in_the_way.rollback).start()
        store.begin_flush()
        assert {(1,), (2,), (3,)} <= set(ask(options, "SELECT key FROM url"))
    until(store.flush_ended)
    assert flush_no(options) == 2
    check_end(store)


@pytest.mark.parametrize("begun", [False, True])
def test_a_flush_that_failed_is_repeated_by_itself_before_what_came_later(
    options: dict[str, str], store: PostgresStore, monkeypatch: pytest.MonkeyPatch, begun: bool
) -> None:
    gather_first(store)
    with monkeypatch.context() as patched:
        patched.setattr(store._database, "transact_at_once", refuse)
        if begun:
            store.begin_flush()
        with pytest.raises(StateError):
            until(store.flush_ended) if begun else store.flush()
        assert store.flush_ended(), "it says so once"
        gather_second(store)
        with pytest.raises(StateError):
            store.flush()
    check_memory(store)
    check_queries(store)
    assert flush_no(options) == 0
    store.begin_flush()
    until(store.flush_ended)
    assert flush_no(options) == 1
    assert {row[0] for row in ask(options, "SELECT key FROM url")} == {1, 2, 3}
    store.flush()
    assert flush_no(options) == 2, "each generation in a transaction of its own"
    assert store.unflushed == 0
    check_end(store)


def test_a_flush_whose_token_was_taken_meanwhile_leaves_no_row(
    options: dict[str, str], store: PostgresStore
) -> None:
    take = "UPDATE part SET token = gen_random_uuid(), flush_no = flush_no + 5"
    with waiting_flush(options, store, take) as taker:
        gather_second(store)
        taker.commit()
    with pytest.raises(StateError, match="'s'"):
        until(store.flush_ended)
    for use in (store.keep_lease, store.flush):
        with pytest.raises(StateError, match="'s'"):
            use()
    store.close()
    assert ask(options, "SELECT key FROM url") == []
    assert ask(options, "SELECT flush_no, token IS NULL FROM part") == [(5, False)]


def test_closing_drops_a_flush_whose_token_was_taken(options: dict[str, str], store: PostgresStore) -> None:
    with waiting_flush(options, store, "UPDATE part SET token = gen_random_uuid()") as taker:
        threading.Timer(0.2, taker.commit).start()
        store.close()
        assert ask(options, "SELECT key FROM url") == []


def test_a_begun_flush_whose_answer_was_lost_is_written_once(options: dict[str, str]) -> None:
    """The connection ends at the client alone: the server has the whole transaction, and waits for a table."""
    with (
        tcp_proxy(options["url"]) as proxy,
        closing(PostgresEngine({**options, "url": proxy.url}).open_store(Path(), "s")) as store,
    ):
        with waiting_flush(options, store, "LOCK TABLE url") as in_the_way:
            proxy.half_close()
            gather_second(store)
            until(lambda: ask(options, WAITING) == [(2,)])
            in_the_way.rollback()
        until(store.flush_ended)
        store.flush()
        assert flush_no(options) == 2
        check_end(store)


def test_rows_that_are_read_in_pieces_are_all_read_while_flushes_are_begun(store: PostgresStore) -> None:
    gather_first(store)
    gather_second(store)
    store.flush()
    records = store.records.all_records()
    urls = [next(records).url]
    for number in (3, 4):
        store.queue.put_hops(number, 1)
        store.begin_flush()
        assert store.flush_ended(), "it was written at once"
    urls += [record.url for record in records]
    assert urls == [f"http://h/{number}" for number in (1, 2, 3, 4)]
