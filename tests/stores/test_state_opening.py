"""A store that is made: at the moment at which several processes open it, and what it is made of."""

from __future__ import annotations

import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from ultracrawl.stores import SqliteStore
from ultracrawl.stores.sqlite.database import MEMORY, add_functions
from ultracrawl.stores.sqlite.migrations import MIGRATIONS, SCHEMA_VERSION


@pytest.mark.parametrize("attempt", range(5))
def test_readers_that_come_while_a_store_is_made_do_not_disturb(tmp_path: Path, attempt: int) -> None:
    path = tmp_path / f"{attempt}.sqlite"
    path.touch()

    def look(_: int) -> int:
        state = SqliteStore(path, "s", read_only=True)
        try:
            return state.records.count_urls().known
        finally:
            state.close()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(look, range(8))) == [0] * 8


def schema_of(db: sqlite3.Connection) -> dict[tuple[str, str], str]:
    """Return how tables, indexes and triggers are made, by kind and name."""
    made = db.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_schema")
    return {(kind, name): re.sub(r"\W+", " ", text).strip() for kind, name, text in made}


def test_a_new_store_is_what_the_steps_make_of_the_oldest_one(tmp_path: Path) -> None:
    path = tmp_path / "new.sqlite"
    SqliteStore(path, "s").close()
    with closing(sqlite3.connect(path)) as new, closing(sqlite3.connect(MEMORY)) as old:
        add_functions(old)
        for step in MIGRATIONS:
            old.executescript(step)
        assert schema_of(new) == schema_of(old)
        assert new.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
