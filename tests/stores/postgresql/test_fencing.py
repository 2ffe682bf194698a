"""One writer a source, whatever happens to it and to the server: no flush is lost, and none happens twice."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from support import clock
from support.clock import monotonic_time, wall_time
from support.until import until

from ultracrawl.errors import StateError, UserError
from ultracrawl.model import CauseCode, RemovalReason, ScheduleStatus, UrlOutcome, UrlRecord
from ultracrawl.run.writing.source_writer import idle_writer
from ultracrawl.sources import load_project, require
from ultracrawl.stores import QueueEntry
from ultracrawl.stores.port.documents import Retained
from ultracrawl.stores.port.leases import LEASE_SECONDS
from ultracrawl.stores.port.notes import NotesOf
from ultracrawl.stores.port.schedule_store import (
    KeptSchedule,
    ScheduleCommand,
    ScheduleOrder,
    ScheduleRun,
    own_key,
)
from ultracrawl.stores.postgresql import codes
from ultracrawl.stores.postgresql.access.connecting import PostgresAddress
from ultracrawl.stores.postgresql.access.pool import pool_of
from ultracrawl.stores.postgresql.engine import PostgresEngine
from ultracrawl.stores.postgresql.store import PostgresStore

pytestmark = pytest.mark.servers
HERE = Path()


def known(store: PostgresStore, number: int) -> None:
    url = f"http://h/{number}"
    store.records.discover_url(QueueEntry(number, url, "h", 0, number), 1.0)


def ask(options: dict[str, str], query: str, *values: object) -> list[tuple[Any, ...]]:
    with psycopg.connect(options["url"], autocommit=True) as db:
        db.execute(f"SET search_path TO {options['schema']}".encode())
        cursor = db.execute(query.encode(), values)
        return cursor.fetchall() if cursor.description else []


def cut_after_commit(monkeypatch: pytest.MonkeyPatch, block: str = "transaction") -> Iterator[bool]:
    """Have the connection break after the next commit, before its answer; what is returned is then exhausted."""
    whole = getattr(psycopg.Connection, block)
    ends = iter([True])

    class Cut:
        def __init__(self, db: psycopg.Connection) -> None:
            self._db, self._inner = db, whole(db)

        def __enter__(self) -> object:
            return self._inner.__enter__()

        def __exit__(self, *error: Any) -> object:
            result = self._inner.__exit__(*error)
            if next(ends, False):
                self._db.close()
                raise psycopg.OperationalError("the answer was lost")
            return result

    def cut(db: psycopg.Connection) -> Cut:
        return Cut(db)

    monkeypatch.setattr(psycopg.Connection, block, cut)
    return ends


def test_a_writer_that_was_taken_over_leaves_no_row_and_says_so_once_more(options: dict[str, str]) -> None:
    engine = PostgresEngine(options)
    slept = engine.open_store(HERE, "s")
    known(slept, 1)
    slept.flush()
    ask(options, "UPDATE part SET token = gen_random_uuid(), flush_no = flush_no + 5")
    known(slept, 2)
    for _ in range(2):
        with pytest.raises(StateError, match="'s'"):
            slept.flush()
    slept.close()
    assert ask(options, "SELECT key FROM url") == [(1,)]
    assert ask(options, "SELECT key FROM queue") == [(1,)]
    assert ask(options, "SELECT flush_no, token IS NULL FROM part") == [(6, False)], (
        "the other one still holds it"
    )


def test_a_copy_of_the_database_that_lost_the_last_flush_is_noticed(options: dict[str, str]) -> None:
    store = PostgresEngine(options).open_store(HERE, "s")
    for number in (1, 2):
        known(store, number)
        store.flush()
    ask(options, "UPDATE part SET flush_no = flush_no - 1")
    known(store, 3)
    with pytest.raises(StateError, match="again"):
        store.flush()
    store.close()
    assert ask(options, "SELECT key FROM url ORDER BY key") == [(1,), (2,)]


def test_a_commit_whose_answer_was_lost_is_not_repeated(
    options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PostgresEngine(options).open_store(HERE, "s")
    ends = cut_after_commit(monkeypatch, "pipeline")
    known(store, 1)
    store.links.note_depth_due(1, b"12345678")
    store.flush()
    assert next(ends, None) is None, "the connection was cut"
    assert ask(options, "SELECT flush_no FROM part") == [(1,)]
    assert store.links.depths_due() == {1: b"12345678"}, "once"
    known(store, 2)
    store.flush()
    store.close()
    assert ask(options, "SELECT flush_no FROM part") == [(2,)]


def test_the_token_of_a_killed_writer_is_given_on_at_once_and_that_of_a_living_one_is_not(
    options: dict[str, str],
) -> None:
    engine = PostgresEngine(options)
    read, write = os.pipe()
    child = os.fork()
    if not child:
        engine.open_store(HERE, "s")
        os.write(write, b"!")
        threading.Event().wait()
    assert os.read(read, 1) == b"!"
    try:
        with pytest.raises(UserError):
            engine.open_store(HERE, "s")
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
    engine.open_store(HERE, "s").close()


def test_a_writer_that_stood_still_longer_than_its_lease_is_taken_over_and_writes_no_more(
    options: dict[str, str],
) -> None:
    engine = PostgresEngine(options)
    frozen = engine.open_store(HERE, "s")
    known(frozen, 1)
    frozen.flush()
    known(frozen, 2)
    clock.leap(LEASE_SECONDS / 2)
    with pytest.raises(UserError):
        engine.open_store(HERE, "s")
    clock.leap(LEASE_SECONDS / 2 + 1)
    with closing(engine.open_store(HERE, "s")) as later:
        known(later, 3)
        later.flush()
        with pytest.raises(StateError):
            frozen.flush()
        frozen.close()
        known(later, 4)
        later.flush()
    assert ask(options, "SELECT key FROM url ORDER BY key") == [(1,), (3,), (4,)]


def test_a_writer_whose_flush_takes_longer_than_its_lease_keeps_its_source(options: dict[str, str]) -> None:
    engine = PostgresEngine(options)
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'ultracrawl'"
    refused = list[bool]()

    def take_over() -> None:
        try:
            engine.open_store(HERE, "s").close()
        except UserError:
            refused.append(True)

    with closing(engine.open_store(HERE, "s")) as slow, psycopg.connect(options["url"]) as in_the_way:
        in_the_way.execute(f"LOCK TABLE {options['schema']}.url".encode())
        known(slow, 1)
        flushing = threading.Thread(target=slow.flush)
        flushing.start()
        until(lambda: ask(options, waiting) == [(1,)])
        clock.leap(LEASE_SECONDS + 1)
        taking = threading.Thread(target=take_over)
        taking.start()
        until(lambda: ask(options, waiting) == [(2,)])
        in_the_way.rollback()
        flushing.join()
        taking.join()
        assert refused
        known(slow, 2)
    assert ask(options, "SELECT key FROM url ORDER BY key") == [(1,), (2,)]


def test_a_writer_with_nothing_to_write_keeps_its_source(options: dict[str, str]) -> None:
    engine = PostgresEngine(options)
    with closing(engine.open_store(HERE, "s")) as paused:
        for _ in range(4):
            clock.leap(LEASE_SECONDS / 2)
            paused.flush()
        with pytest.raises(UserError):
            engine.open_store(HERE, "s")


def test_a_writer_knows_since_when_its_lease_lasts_and_that_it_is_lost(options: dict[str, str]) -> None:
    engine, opened = PostgresEngine(options), monotonic_time()
    with closing(engine.open_store(HERE, "s")) as store:
        first = store.keep_lease()
        assert opened <= first <= monotonic_time()
        assert store.keep_lease() == first, "it is not due"
        clock.leap(LEASE_SECONDS / 2)
        leapt = monotonic_time()
        assert leapt <= store.keep_lease() <= monotonic_time()
        with pytest.raises(UserError):
            engine.open_store(HERE, "s")
        ask(options, "UPDATE part SET token = gen_random_uuid()")
        clock.leap(LEASE_SECONDS / 2)
        for _ in range(2):
            with pytest.raises(StateError):
                store.keep_lease()


def test_another_thread_keeps_the_source_of_a_writer_that_is_held_up(options: dict[str, str]) -> None:
    engine = PostgresEngine(options)
    with closing(engine.open_store(HERE, "s")) as busy, ThreadPoolExecutor(1) as thread:
        lease = busy.kept_lease()
        assert lease is not None
        for _ in range(3):
            clock.leap(LEASE_SECONDS - 1)
            assert lease.lease_age() >= LEASE_SECONDS - 1
            thread.submit(lease.renew_beside).result()
            assert lease.lease_age() < LEASE_SECONDS / 2
            clock.leap(2)
            with pytest.raises(UserError):
                engine.open_store(HERE, "s")
        known(busy, 1)
        busy.flush()
        thread.submit(lease.renew_beside).result()
        thread.submit(lease.end_beside).result()
        clock.leap(LEASE_SECONDS + 1)
        engine.open_store(HERE, "s").close()  # a thread that renews nothing holds nothing
    assert ask(options, "SELECT key FROM url") == [(1,)]


@pytest.mark.parametrize("to", ["another process", "an older copy"])
def test_another_thread_takes_nothing_back_that_was_lost(options: dict[str, str], to: str) -> None:
    engine = PostgresEngine(options)
    lost = engine.open_store(HERE, "s")
    known(lost, 1)
    lost.flush()
    known(lost, 2)
    lease = lost.kept_lease()
    assert lease is not None
    clock.leap(LEASE_SECONDS + 1)
    if to == "another process":
        later = engine.open_store(HERE, "s")
    else:
        ask(options, "UPDATE part SET flush_no = flush_no - 1")
    before = ask(options, "SELECT token, until, flush_no FROM part")
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lease.renew_beside).result()
        thread.submit(lease.end_beside).result()
    assert lease.lease_age() > LEASE_SECONDS
    assert ask(options, "SELECT token, until, flush_no FROM part") == before
    for use in (lost.keep_lease, lost.flush):
        with pytest.raises(StateError):
            use()
    lost.close()
    if to == "another process":
        known(later, 3)
        later.flush()
        later.close()
        assert ask(options, "SELECT key FROM url ORDER BY key") == [(1,), (3,)]


def test_another_thread_does_not_wait_for_a_flush(options: dict[str, str]) -> None:
    engine = PostgresEngine(options)
    with closing(engine.open_store(HERE, "s")) as busy, psycopg.connect(options["url"]) as in_the_way:
        in_the_way.execute(f"SELECT 1 FROM {options['schema']}.part FOR UPDATE".encode())
        lease = busy.kept_lease()
        assert lease is not None
        clock.leap(LEASE_SECONDS / 2)
        lease.renew_beside()
        assert lease.lease_age() >= LEASE_SECONDS / 2, "the row is not free"
        in_the_way.rollback()
        lease.renew_beside()
        assert lease.lease_age() < LEASE_SECONDS / 2
        lease.end_beside()


def test_who_only_reads_has_no_lease(options: dict[str, str]) -> None:
    engine = PostgresEngine(options)
    engine.open_store(HERE, "s").close()
    with closing(engine.open_store(HERE, "s", read_only=True)) as reader:
        assert reader.kept_lease() is None


def test_an_attempt_that_failed_renews_nothing(
    options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(PostgresEngine(options).open_store(HERE, "s")) as store:
        first = store.keep_lease()
        clock.leap(LEASE_SECONDS / 2)
        with monkeypatch.context() as patched:
            patched.setattr(store._database, "transact_at_once", lambda _: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                store.keep_lease()
        assert store._database.renewed == first
        assert store.keep_lease() > first


def test_who_only_reads_creates_nothing_and_finds_nothing(database: str) -> None:
    engine = PostgresEngine({"url": database, "schema": "never_made"})
    assert not engine.has_store(HERE, "s")
    assert engine.stored_sources(HERE) == []
    with closing(engine.open_sites(HERE, read_only=True)) as sites:
        assert sites.get_clock("h") is None
        assert sites.lease_holder("h") is None
        assert abs(sites.now() - wall_time()) < 60
    with closing(engine.open_schedules(HERE, read_only=True)) as schedules:
        assert schedules.get_schedule("nightly") is None
        assert schedules.paused_sources() == frozenset()
    with pytest.raises(UserError):
        engine.open_store(HERE, "s", read_only=True)
    engine.rename_store(HERE, "s", "t")
    with engine.lock_source(HERE, "s"), psycopg.connect(database) as db:
        assert db.execute("SELECT to_regnamespace('never_made')").fetchone() == (None,)


def test_a_user_without_the_right_to_create_reads_and_writes_what_exists(
    options: dict[str, str], database: str
) -> None:
    schema = options["schema"]
    ask(options, f"CREATE ROLE {schema} LOGIN")
    for what in ("USAGE ON SCHEMA", "ALL ON ALL TABLES IN SCHEMA"):
        ask(options, f"GRANT {what} {schema} TO {schema}")
    try:
        engine = PostgresEngine({**options, "url": database.replace("postgres@", f"{schema}@")})
        with closing(engine.open_store(HERE, "s")) as store:
            known(store, 1)
        with closing(engine.open_sites(HERE)) as sites:
            sites.close_crawl(sites.register_crawl("s", 20.0))
        with closing(engine.open_store(HERE, "s", read_only=True)) as store:
            assert store.records.count_urls().known == 1
        engine.remove_store(HERE, "s")
        assert engine.stored_sources(HERE) == []
    finally:
        ask(options, f"DROP OWNED BY {schema}; DROP ROLE {schema}")


def test_an_order_is_carried_out_although_the_answer_to_its_deletion_was_lost(
    options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    order = ScheduleOrder("nightly", ScheduleCommand.LAUNCH)
    whole = psycopg.Connection.execute
    cuts = iter([True])

    def cut(db: psycopg.Connection, query: Any, *values: Any, **options: Any) -> object:
        done = whole(db, query, *values, **options)
        if isinstance(query, bytes) and query.startswith(b"DELETE FROM command") and next(cuts, False):
            db.close()
            raise psycopg.OperationalError("the answer was lost")
        return done

    with closing(PostgresEngine(options).open_schedules(HERE)) as store:
        store.leave_order(order, 100.0)
        monkeypatch.setattr(psycopg.Connection, "execute", cut)
        assert store.take_orders(["nightly"], [], since=50.0) == [order]
        assert next(cuts, None) is None, "the connection was cut"
        assert store.take_orders(["nightly"], [], since=50.0) == []


def test_what_the_sources_share_is_written_once_although_an_answer_was_lost(
    options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = PostgresEngine(options)
    with closing(engine.open_sites(HERE)) as sites, closing(engine.open_schedules(HERE)) as schedules:
        with monkeypatch.context() as patched:
            cut_after_commit(patched)
            crawl = sites.register_crawl("s", 20.0)
        assert ask(options, "SELECT crawl FROM crawl") == [(crawl,)]
        run = ScheduleRun(1.0, 2.0, ScheduleStatus.SCHEDULED)
        with monkeypatch.context() as patched:
            cut_after_commit(patched)
            schedules.put_schedule(KeptSchedule(own_key("s"), due=9.0), run)
        assert schedules.runs(own_key("s"), 9) == [run]
        with monkeypatch.context() as patched:
            cut_after_commit(patched)
            schedules.rename_source("s", "t")
        kept = schedules.get_schedule(own_key("t"))
        assert kept is not None
        assert kept.due == 9.0


def test_a_password_is_in_no_text(database: str) -> None:
    address = PostgresAddress(database, password="sesame-open")
    assert "sesame" not in repr(address) + address.shown
    gone = PostgresEngine({"url": "postgresql://u@127.0.0.1:1/x", "password": "sesame-open"})
    with pytest.raises(StateError) as raised:
        gone.open_store(HERE, "s")
    assert "sesame" not in str(raised.value)
    for url in ("postgresql://u:sesame@h/x", "postgresql://h/x?password=sesame", "postgresql//u:sesame@h"):
        with pytest.raises(UserError) as refused:
            PostgresEngine({"url": url})
        assert "sesame" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "encrypted"),
    [
        ("postgresql://u@127.0.0.1/x", False),
        ("postgresql://u@localhost/x", False),
        ("postgresql:///x?host=/run/postgresql", False),
        ("postgresql://u@db.example.com/x", True),
        ("postgresql://u@localhost,db.example.com/x", True),
    ],
)
def test_a_connection_that_leaves_the_machine_is_encrypted(url: str, encrypted: bool) -> None:
    assert ("sslmode=require" in PostgresAddress(url)._conninfo()) is encrypted
    weak = PostgresAddress(f"{url}{'&' if '?' in url else '?'}sslmode=prefer")
    if encrypted:
        with pytest.raises(UserError):
            weak.check()
    else:
        weak.check()


def test_each_member_of_an_enum_has_a_number() -> None:
    assert codes.OUTCOME_NUMBERS.keys() == set(UrlOutcome)
    assert codes.CAUSE_NUMBERS.keys() | {CauseCode.NONE} == set(CauseCode)
    assert codes.REMOVAL_NUMBERS.keys() == set(RemovalReason)
    assert codes.PURPOSE_NUMBERS.keys() == set(Retained)


def test_an_epoch_is_higher_than_all_before_in_the_project_whatever_the_clocks_say(
    options: dict[str, str],
) -> None:
    engine = PostgresEngine(options)
    with closing(engine.open_store(HERE, "s")) as one, closing(engine.open_store(HERE, "t")) as other:
        first = one.next_epoch()
        assert abs(first - wall_time()) < 3600, "the seconds of the server"
        ask(options, "UPDATE epoch SET last = last + 1000")  # its clock was set back since
        later = [other.next_epoch(), one.next_epoch(), other.next_epoch()]
    assert later == [first + 1001, first + 1002, first + 1003]
    with closing(engine.open_store(HERE, "s")) as again:
        assert again.next_epoch() == first + 1004


def test_who_lost_its_source_gets_no_epoch(options: dict[str, str]) -> None:
    with closing(PostgresEngine(options).open_store(HERE, "s")) as store:
        last = store.next_epoch()
        ask(options, "UPDATE part SET token = gen_random_uuid()")
        with pytest.raises(StateError):
            store.next_epoch()
    assert ask(options, "SELECT last FROM epoch") == [(last,)]


def test_writers_on_several_machines_have_epochs_in_the_order_in_which_they_began(
    options: dict[str, str], tmp_path: Path
) -> None:
    source = {"start_urls": ["http://birds.example/"]}
    epochs = []
    for machine in ("a", "b", "a"):  # each has a document cache of its own
        folder = tmp_path / machine
        folder.mkdir(exist_ok=True)
        state = {"engine": "postgresql", "url": options["url"], "schema_name": options["schema"]}
        (folder / "ultracrawl.yaml").write_text(json.dumps({"state": state, "sources": {"birds": source}}))
        project = require(load_project(folder / "ultracrawl.yaml"))
        with (
            closing(PostgresEngine(options).open_store(HERE, "birds")) as store,
            idle_writer(project, project.sources["birds"], store, pauses=False) as (writer, _),
        ):
            writer.delete(1, UrlRecord("http://birds.example/1", "birds"))
            epochs += [path.name.partition("-")[0] for path in (folder / "var").rglob("*.open")]
    assert len(set(epochs)) == 3
    assert epochs == sorted(epochs)


def test_tables_of_an_earlier_version_are_brought_up_to_date(options: dict[str, str]) -> None:
    engine = PostgresEngine(options)
    engine.open_store(HERE, "s").close()
    pool_of.cache_clear()  # what a new process knows
    ask(options, "DROP TABLE node, taken, note, epoch, release, released, place")
    ask(options, "ALTER TABLE submitted DROP COLUMN place")
    ask(options, "ALTER TABLE part DROP COLUMN place")
    ask(options, "ALTER TABLE version DROP COLUMN least")
    ask(options, "UPDATE version SET number = 1")
    engine = PostgresEngine(options)
    assert engine.stored_sources(HERE) == ["s"], "a crawl looks for its source before it opens the store"
    assert engine.open_notes(HERE, "", NotesOf.SERVICE).read("unfinished-postgresql") is None, "and for this"
    with closing(engine.open_store(HERE, "s")) as store:
        assert store.next_epoch() > 0
    assert engine.open_notes(HERE, "s").read("status") is None
    with closing(engine.open_nodes(HERE, read_only=True)) as nodes:
        assert nodes.nodes() == []


def test_another_version_of_the_tables_is_refused(options: dict[str, str]) -> None:
    ask(options, "UPDATE version SET number = number + 1, least = number + 1")
    with pytest.raises(StateError, match="newer"):
        PostgresEngine(options).open_store(HERE, "s")
