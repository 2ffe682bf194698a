"""Writers in processes of their own, with leases of two seconds: what is flushed once, and what is refused."""

from __future__ import annotations

import signal
import threading
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from support.postgresql import restartable_postgresql
from support.state_writer import StateWriter
from support.tcp_proxy import tcp_proxy
from support.until import until

from ultracrawl.stores import QueueEntry
from ultracrawl.stores.postgresql.engine import PostgresEngine

pytestmark = [pytest.mark.servers, pytest.mark.processes]
HERE = Path()
WAITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'ultracrawl'"
)


def ask(options: dict[str, str], query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(options["url"], autocommit=True) as db:
        db.execute(f"SET search_path TO {options['schema']}".encode())
        return db.execute(query.encode()).fetchall()


def keys(options: dict[str, str]) -> list[int]:
    return [key for (key,) in ask(options, "SELECT key FROM url ORDER BY key")]


def test_of_two_processes_with_one_token_one_writes_each_flush(options: dict[str, str]) -> None:
    token = str(uuid4())
    with StateWriter(options, "s", token) as one, StateWriter(options, "s", token) as two:
        assert [one.answer(), two.answer()] == ["ok", "ok"], "they are one process by what they say"
        one.order(1)
        two.order(2)
        answers = {1: one.answer(), 2: two.answer()}
        (written,) = [number for number, answer in answers.items() if answer == "ok"]
        assert keys(options) == [written]
        goes_on, ends = (one, two) if written == 1 else (two, one)
        assert goes_on.flush(3) == "ok"
        assert "'s'" in ends.flush(4)
        assert keys(options) == sorted([written, 3])
        assert ask(options, "SELECT flush_no FROM part") == [(2,)]


def test_the_flush_of_a_process_that_is_woken_after_its_lease_is_refused_and_leaves_no_row(
    options: dict[str, str],
) -> None:
    with StateWriter(options, "s") as slept:
        assert slept.answer() == "ok"
        assert slept.flush(1) == "ok"
        slept.signal(signal.SIGSTOP)
        slept.order(2)
        until(lambda: ask(options, "SELECT until < moment() FROM part") == [(True,)])
        with StateWriter(options, "s") as later:
            assert later.answer() == "ok"
            assert later.flush(3) == "ok"
            slept.signal(signal.SIGCONT)
            assert "'s'" in slept.answer()
            assert "'s'" in slept.flush(4)
            assert later.flush(5) == "ok"
            assert keys(options) == [1, 3, 5]
            assert ask(options, "SELECT flush_no FROM part") == [(3,)]


def test_a_flush_that_is_committed_while_it_is_sent_again_is_written_once(options: dict[str, str]) -> None:
    """The connection ends at the client alone: the server has the whole transaction, and waits for a table."""
    with tcp_proxy(options["url"]) as proxy, psycopg.connect(options["url"]) as in_the_way:
        store = PostgresEngine({**options, "url": proxy.url}).open_store(HERE, "s")
        with closing(store):
            in_the_way.execute(f"LOCK TABLE {options['schema']}.url".encode())
            store.records.discover_url(QueueEntry(1, "http://h/1", "h", 0, 1), 1.0)
            store.links.note_depth_due(1, b"12345678")
            problems = list[BaseException]()
            flushing = threading.Thread(target=lambda: _note(problems, store.flush))
            flushing.start()
            until(lambda: ask(options, WAITING) == [(1,)])
            proxy.half_close()
            until(lambda: ask(options, WAITING) == [(2,)])
            in_the_way.rollback()
            flushing.join()
            assert not problems
            store.records.discover_url(QueueEntry(2, "http://h/2", "h", 0, 2), 1.0)
        assert keys(options) == [1, 2]
        assert ask(options, "SELECT flush_no FROM part") == [(2,)]
        with closing(PostgresEngine(options).open_store(HERE, "s", read_only=True)) as reader:
            assert reader.links.depths_due() == {1: b"12345678"}, "once"


def _note(problems: list[BaseException], work: Any) -> None:
    try:
        work()
    except BaseException as error:
        problems.append(error)


def test_every_flush_happens_once_while_the_server_is_restarted_under_its_writers() -> None:
    writers, restarts, between = 3, 10, 5
    with restartable_postgresql() as server, ExitStack() as stack:
        options = {"url": server.url, "schema": "s"}
        PostgresEngine(options).open_sites(HERE).close()
        flushed, problems, done = [0] * writers, list[str](), threading.Event()

        def drive(number: int, writer: StateWriter) -> None:
            answer = writer.answer()
            while answer == "ok" and not done.is_set():
                answer = writer.flush(flushed[number] + 1)
                flushed[number] += answer == "ok"
            if answer != "ok":
                problems.append(answer)
            writer.order(0)
            assert writer.answer() == "closed"

        threads = []
        for number in range(writers):
            writer = stack.enter_context(StateWriter(options, f"s{number}"))
            threads.append(threading.Thread(target=drive, args=(number, writer)))
        for thread in threads:
            thread.start()
        for _ in range(restarts):
            _await_flushes(flushed, problems, by=between)
            server.restart_at_once()
        _await_flushes(flushed, problems, by=between)
        done.set()
        for thread in threads:
            thread.join()
        assert not problems
        for number in range(writers):
            with closing(PostgresEngine(options).open_store(HERE, f"s{number}", read_only=True)) as store:
                assert store.records.count_urls().known == flushed[number]
                wanted = b"".join(n.to_bytes(8, "little") for n in range(1, flushed[number] + 1))
                assert store.links.depths_due() == {1: wanted}


def _await_flushes(flushed: list[int], problems: list[str], by: int) -> None:
    before = list(flushed)
    until(lambda: problems or all(now >= then + by for now, then in zip(flushed, before, strict=True)))
