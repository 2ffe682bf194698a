"""What the planner does not know yet: a source of a minute is crawled as fast as one of a month."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from ultracrawl.model import UrlOutcome
from ultracrawl.stores import QueueEntry
from ultracrawl.stores.postgresql.access.fencing import SourceDatabase
from ultracrawl.stores.postgresql.engine import PostgresEngine
from ultracrawl.stores.postgresql.store import PostgresStore

pytestmark = pytest.mark.servers
KNOWN = 2000


def discover(store: PostgresStore, numbers: range) -> None:
    for number in numbers:
        entry = QueueEntry(number, f"http://h{number % 20}/{number}", f"h{number % 20}", 1, number)
        store.records.discover_url(entry, 1.0)
        record = store.records.get_record(number)
        assert record is not None
        store.records.finish_url(entry, replace(record, outcome=UrlOutcome.NEW, last_fetched=1.0))
    store.flush()


def total(options: dict[str, str], query: str) -> int:
    """Return a sum over the tables of the schema; a connection tells its counts when it is closed."""
    with closing(psycopg.connect(options["url"], autocommit=True)) as db:
        db.execute("SET stats_fetch_consistency = none")
        ((number,),) = db.execute(query, [options["schema"]]).fetchall()
    return int(number)


def rows_read(options: dict[str, str]) -> int:
    return total(
        options,
        "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables WHERE schemaname = %s",
    ) + total(options, "SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = %s")


def test_a_run_begins_in_some_reads_of_each_row(
    options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SourceDatabase, "analyze", lambda self: None)  # as for a role that owns no table
    engine = PostgresEngine(options)
    with closing(engine.open_store(Path(), "s")) as store:
        run, _ = store.begin_run(1.0, "")
        discover(store, range(1, KNOWN + 1))
        store.end_run(replace(run, finished=2.0))
    before = rows_read(options)
    with closing(engine.open_store(Path(), "s")) as store:
        store.begin_run(3.0, "")
        store.queue.dequeue_removed()
        assert sum(number for _, number in store.queue.waiting_sites()) == KNOWN
    assert rows_read(options) - before < 100 * KNOWN


def test_statistics_are_renewed_when_a_run_begins_and_when_a_source_doubles(options: dict[str, str]) -> None:
    def renewals() -> int:
        query = "SELECT analyze_count FROM pg_stat_user_tables WHERE schemaname = %s AND relname = 'url'"
        return total(options, query)

    engine = PostgresEngine(options)
    with closing(engine.open_store(Path(), "s")) as store:
        store.begin_run(1.0, "")
        discover(store, range(1, 900))
        assert renewals() == 1
        discover(store, range(900, 1100))
        assert renewals() == 2
        discover(store, range(1100, 2000))
        assert renewals() == 2
        discover(store, range(2000, 2300))
        assert renewals() == 3
