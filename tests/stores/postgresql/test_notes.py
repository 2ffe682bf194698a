"""Notes as rows: who is present is seen from other machines, until its process ends or its lease runs out."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from stores.postgresql.test_fencing import ask, cut_after_commit
from support import clock
from support.until import until

from ultracrawl.errors import StateError
from ultracrawl.stores.ordered_crawls import OrderedCrawls, stored_orders
from ultracrawl.stores.port.leases import LEASE_SECONDS
from ultracrawl.stores.port.notes import Notes, NotesOf
from ultracrawl.stores.postgresql.access.connecting import PostgresAddress
from ultracrawl.stores.postgresql.engine import PostgresEngine
from ultracrawl.stores.postgresql.shared import notes as shared_notes

pytestmark = pytest.mark.servers
HERE = Path()
ELSEWHERE = "UPDATE note SET machine = 'another' WHERE token IS NOT NULL"


@pytest.fixture
def notes(options: dict[str, str]) -> Notes:
    return PostgresEngine(options).open_notes(HERE, "s")


def test_a_process_on_another_machine_is_present_as_long_as_its_lease(
    notes: Notes, options: dict[str, str]
) -> None:
    with closing(notes.appear("crawl", b"one")):
        ask(options, ELSEWHERE)
        clock.leap(LEASE_SECONDS / 2)
        assert notes.present("crawl") == b"one"
        clock.leap(LEASE_SECONDS / 2 + 1)
        assert notes.present("crawl") is None
        assert notes.all_present("crawl") == []
        with closing(notes.appear("crawl", b"two")):
            assert notes.present("crawl") == b"two"


def test_a_process_that_hangs_is_not_present(notes: Notes, options: dict[str, str]) -> None:
    lives = True
    with closing(notes.appear("crawl", b"one", lambda: lives)) as presence:
        assert isinstance(presence, shared_notes.PostgresPresence)
        ask(options, ELSEWHERE)
        for there in (b"one", None):
            clock.leap(LEASE_SECONDS - 1)
            presence.renew()
            clock.leap(2)
            assert notes.present("crawl") == there
            lives = False


def test_a_lease_is_renewed_while_its_process_is_busy(
    notes: Notes, options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_notes, "RENEW_SECONDS", 0.01)
    with closing(notes.appear("crawl", b"one")):
        clock.leap(LEASE_SECONDS + 1)
        until(lambda: notes.present("crawl") == b"one")
        ask(options, "DELETE FROM note")
        until(lambda: notes.present("crawl") == b"one")
    assert notes.present("crawl") is None


def test_who_is_present_keeps_others_of_the_name_out(
    notes: Notes, options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(notes.appear("crawl", b"one")) as first:
        with pytest.raises(StateError):
            notes.appear("crawl", b"two")
        ask(options, ELSEWHERE)
        monkeypatch.setattr(shared_notes, "_LOOK_SECONDS", 0.0)
        reads = iter([lambda: None, lambda: first.publish(b"renewed")])
        whole = shared_notes.PostgresNotes._transact

        def transact(self: Any, work: Any) -> object:
            next(reads, lambda: None)()
            return whole(self, work)

        monkeypatch.setattr(shared_notes.PostgresNotes, "_transact", transact)
        with pytest.raises(StateError):
            notes.appear("crawl", b"two")
        assert notes.present("crawl") == b"renewed"


def test_who_was_taken_for_dead_takes_nothing_back(notes: Notes, options: dict[str, str]) -> None:
    woken = notes.appear("crawl", b"one")
    clock.leap(LEASE_SECONDS + 1)
    with closing(notes.appear("crawl", b"two")):
        with pytest.raises(StateError):
            woken.publish(b"three")
        woken.close()
        assert notes.present("crawl") == b"two"


def test_what_is_asked_for_again_after_a_lost_answer_happens_once(
    notes: Notes, options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write("sites", b"")
    with monkeypatch.context() as patched:
        ends = cut_after_commit(patched)
        notes.change("sites", lambda text: text + b"one\n")
        assert next(ends, None) is None, "the connection was cut"
    assert notes.read("sites") == b"one\n"
    with monkeypatch.context() as patched:
        cut_after_commit(patched)
        crawl = notes.appear("crawl", b"one")
    notes.leave("order", b"stop")
    cuts, whole = iter([True]), psycopg.Connection.execute

    def cut(db: psycopg.Connection, query: Any, *values: Any, **more: Any) -> object:
        done = whole(db, query, *values, **more)
        if isinstance(query, bytes) and query.startswith(b"DELETE FROM note") and next(cuts, False):
            db.close()
            raise psycopg.OperationalError("the answer was lost")
        return done

    monkeypatch.setattr(psycopg.Connection, "execute", cut)
    assert crawl.take_note("order") == b"stop"
    assert next(cuts, None) is None, "the connection was cut"
    assert crawl.take_note("order") is None
    crawl.close()


def test_a_lock_keeps_other_processes_out(options: dict[str, str]) -> None:
    notes = PostgresEngine(options).open_notes(HERE, "", NotesOf.SERVICE)
    read, write = os.pipe()
    with notes.locked():
        child = os.fork()
        if not child:
            with PostgresEngine(options).open_notes(HERE, "", NotesOf.SERVICE).locked():
                os.write(write, b"child ")
            os._exit(0)
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        until(lambda: ask(options, waiting) == [(1,)])
        os.write(write, b"parent ")
    os.waitpid(child, 0)
    assert os.read(read, 99) == b"parent child "


def test_who_looks_at_notes_creates_nothing(database: str) -> None:
    engine = PostgresEngine({"url": database, "schema": "never_noted"})
    notes = engine.open_notes(HERE, "s")
    assert (notes.read("failed"), notes.present("crawl"), notes.all_present(".runner")) == (None, None, [])
    notes.delete("failed")
    assert engine.noting_sources(HERE, "failed") == []
    with psycopg.connect(database) as db:
        assert db.execute("SELECT to_regnamespace('never_noted')").fetchone() == (None,)


def test_a_thousand_sources_are_looked_at_over_one_connection(
    options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, whole = list[str](), PostgresAddress.connect

    def counted(address: PostgresAddress, *, read_only: bool = False) -> psycopg.Connection:
        made.append(address.schema)
        return whole(address, read_only=read_only)

    monkeypatch.setattr(PostgresAddress, "connect", counted)
    for number in range(1000):
        engine = PostgresEngine(options)
        assert not engine.has_store(HERE, f"s{number}")
        assert engine.open_notes(HERE, f"s{number}").present("crawl") is None
    assert made == [options["schema"]]


def test_sources_are_found_by_their_notes(options: dict[str, str]) -> None:
    engine = PostgresEngine(options)
    for source in ("b", "a"):
        engine.open_notes(HERE, source).write("renaming", b"{}")
    engine.open_notes(HERE, "c", NotesOf.ROBOT).write("renaming", b"{}")
    assert engine.noting_sources(HERE, "renaming") == ["a", "b"]


def test_two_services_keep_the_orders_of_each_other(options: dict[str, str]) -> None:
    notes = PostgresEngine(options).open_notes(HERE, "", NotesOf.SERVICE)
    first, second = OrderedCrawls(notes, "1"), OrderedCrawls(notes, "2")
    first.add("a", force=True)
    second.add("a", force=False)
    second.add("b", force=False)
    second.discard("a")
    assert stored_orders(notes) == {"1": {"a": True}, "2": {"b": False}}
    second.take_over(lambda: ["1", "2"])
    assert (dict(second.forced), dict(first.forced)) == ({"b": False}, {"a": True})
    first.discard("a")
    assert stored_orders(notes) == {"2": {"b": False}}


def test_of_two_services_that_begin_one_gets_the_orders_of_one_that_ended(options: dict[str, str]) -> None:
    notes = PostgresEngine(options).open_notes(HERE, "", NotesOf.SERVICE)
    OrderedCrawls(notes, "gone").add("a", force=True)
    first, second = OrderedCrawls(notes, "1"), OrderedCrawls(notes, "2")

    def look_too_early() -> list[str]:
        first.take_over(lambda: ["1"])
        return ["2"]

    second.take_over(look_too_early)
    assert (dict(first.forced), dict(second.forced)) == ({"a": True}, {})
    assert stored_orders(notes) == {"1": {"a": True}}


def test_orders_that_an_earlier_version_noted_are_taken(options: dict[str, str]) -> None:
    notes = PostgresEngine(options).open_notes(HERE, "", NotesOf.SERVICE)
    notes.write("ordered.json", b'{"a": true, "b": [false, "gone"]}')
    service = OrderedCrawls(notes, "1")
    service.take_over(lambda: ["1"])
    assert service.forced == {"a": True, "b": False}


@pytest.mark.parametrize(
    "look",
    [
        lambda engine: engine.has_store(HERE, "s"),
        lambda engine: engine.open_notes(HERE, "s").present("crawl"),
        lambda engine: engine.open_notes(HERE, "s").write("failed", b"why"),
    ],
    ids=["store", "present", "write"],
)
def test_a_server_that_is_away_is_reported_without_waiting_for_it(
    look: Callable[[PostgresEngine], object],
) -> None:
    engine = PostgresEngine({"url": "postgresql://u@127.0.0.1:1/x"})
    with pytest.raises(StateError):
        look(engine)
