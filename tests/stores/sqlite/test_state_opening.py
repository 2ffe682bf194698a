"""A store that is opened: while it is made, by another version, on a file system that cannot be written."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from ultracrawl.errors import StateDamagedError, StateError
from ultracrawl.rules.recrawl.feed_links import FeedLink
from ultracrawl.stores import SqliteStore
from ultracrawl.stores.port.sites import StoredSite
from ultracrawl.stores.sqlite import database
from ultracrawl.stores.sqlite.database import MIGRATIONS, SCHEMA_VERSION, lock_file

HOW: list[dict[str, bool]] = [{}, {"renew": True}, {"read_only": True}]
NEWS = [FeedLink(11, 5.0, 4.0, 1, only=True)]
SITE = StoredSite("h", 5.0, 1.5)
LATER = (
    "ALTER TABLE run ADD COLUMN later INTEGER NOT NULL DEFAULT 7",
    "UPDATE run SET later=8 WHERE number=1",
)


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


@pytest.mark.parametrize("version", [min(MIGRATIONS) - 2, 1, SCHEMA_VERSION + 1])
@pytest.mark.parametrize("how", HOW, ids=["write", "crawl", "read"])
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


@pytest.fixture
def earlier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state with the tables of an earlier version."""
    path = tmp_path / "s.sqlite"
    with closing(SqliteStore(path, "s")) as state:
        state.begin_run(1.0, "")
        state.sites.put_site(SITE)
        state.sites.put_feed_links(1, NEWS)
    monkeypatch.setattr(database, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    monkeypatch.setattr(database, "MIGRATIONS", {**MIGRATIONS, SCHEMA_VERSION + 1: LATER})
    return path


@pytest.mark.parametrize("how", HOW, ids=["write", "crawl", "read"])
def test_a_state_of_an_earlier_version_is_brought_to_this_one(earlier: Path, how: dict[str, bool]) -> None:
    with closing(SqliteStore(earlier, "s", **how)) as state:
        assert (state.sites.get_site("h"), state.sites.feed_links(1)) == (SITE, NEWS)
        assert state.renewed == ""
    with closing(sqlite3.connect(earlier)) as db:
        assert db.execute("SELECT later FROM run").fetchall() == [(8,)]
        assert db.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION + 1,)


def test_of_several_that_read_an_earlier_version_one_brings_it_to_this_one(earlier: Path) -> None:
    def site(_: int) -> StoredSite | None:
        with closing(SqliteStore(earlier, "s", read_only=True)) as state:
            return state.sites.get_site("h")

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(site, range(8))) == [SITE] * 8


def test_what_an_earlier_version_crawls_is_not_changed_meanwhile(
    earlier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "MIGRATION_SECONDS", 0.0)
    before = earlier.read_bytes()
    with closing(lock_file(earlier, "s")), pytest.raises(StateError):
        SqliteStore(earlier, "s", read_only=True)
    assert earlier.read_bytes() == before
    SqliteStore(earlier, "s", read_only=True).close()
