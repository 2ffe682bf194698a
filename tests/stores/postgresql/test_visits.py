"""Which URLs have a row about their visits."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from stores.conftest import a_schema

from ultracrawl.stores import QueueEntry
from ultracrawl.stores.postgresql.engine import PostgresEngine

pytestmark = pytest.mark.servers
KNOWN, NEW, UNKNOWN = 1, 2, 3


def test_an_unknown_url_that_is_seen_leaves_no_row(database: str) -> None:
    with a_schema(database) as options, closing(PostgresEngine(options).open_store(Path(), "s")) as store:
        for cycle, discovered in enumerate((KNOWN, NEW), 1):
            entry = QueueEntry(discovered, f"http://h/{discovered}", "h", 1, store.queue.next_seq())
            store.visits.enter_cycle(cycle)
            store.records.discover_url(entry, 1.0)
            store.visits.note_seen([KNOWN, NEW, UNKNOWN])
            store.flush()
        with psycopg.connect(options["url"]) as db:
            db.execute(f"SET search_path TO {options['schema']}".encode())
            assert db.execute(b"SELECT key, seen FROM revisit ORDER BY key").fetchall() == [
                (KNOWN, 2),
                (NEW, 2),
            ]
