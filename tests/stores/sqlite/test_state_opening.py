"""A store that is opened: while it is made, by another version, on a file system that cannot be written."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from ultracrawl.errors import StateDamagedError, StateError
from ultracrawl.stores import SqliteStore
from ultracrawl.stores.sqlite.database import SCHEMA_VERSION


@pytest.mark.parametrize("attempt", range(20))
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


@pytest.mark.parametrize("version", [SCHEMA_VERSION - 1, 1, SCHEMA_VERSION + 1])
@pytest.mark.parametrize("how", [{}, {"renew": True}, {"read_only": True}], ids=["write", "crawl", "read"])
def test_a_state_of_another_version_is_refused_and_stays_as_it_is(
    tmp_path: Path, version: int, how: dict[str, bool]
) -> None:
    path = tmp_path / "s.sqlite"
    SqliteStore(path, "s").close()
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version={version}")
    before = path.read_bytes()
    with pytest.raises(StateError) as refused:
        SqliteStore(path, "s", **how)
    assert not isinstance(refused.value, StateDamagedError)
    assert path.read_bytes() == before
    assert sorted(one.suffix for one in tmp_path.iterdir()) in ([".sqlite"], [".lock", ".sqlite"])
