"""The file of the store of sites: missing, damaged, of another version, and of a crawl that was killed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ultracrawl.errors import StateError
from ultracrawl.stores import SiteClock, SqliteSiteStore
from ultracrawl.stores.sqlite.shared import SITES, SqliteTables


def test_a_store_that_is_not_there_is_empty_to_readers(tmp_path: Path) -> None:
    with closing(SqliteSiteStore(tmp_path / "sites" / "sites.sqlite", read_only=True)) as store:
        assert store.get_clock("a") is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", ["no database", "other tables"])
def test_a_damaged_store_is_set_aside_by_the_next_crawl(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "sites.sqlite"
    if damage == "no database":
        path.write_bytes(b"garbage " * 512)
    else:
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA user_version=1")
    with pytest.raises(StateError, match="is damaged"), closing(SqliteSiteStore(path)) as store:
        store.register_crawl("one", 1.0)
    with closing(SqliteSiteStore(path, renew=True)) as store:
        assert "set aside" in store.renewed
        assert store.register_crawl("one", 1.0) == 1
    assert len(list(tmp_path.glob("*damaged*"))) == 1


def test_a_store_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sites.sqlite"
    SqliteSiteStore(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version=99")
    with pytest.raises(StateError, match="newer version"):
        SqliteSiteStore(path, renew=True)
    with pytest.raises(StateError, match="another version"):
        SqliteSiteStore(path, read_only=True)


@pytest.mark.parametrize("reads", [True, False])
def test_a_store_of_an_earlier_version_is_brought_to_this_one(tmp_path: Path, *, reads: bool) -> None:
    path = tmp_path / "sites.sqlite"
    with closing(SqliteSiteStore(path)) as store:
        store.register_crawl("one", 1.0)
    steps = {one: (f"ALTER TABLE crawl ADD COLUMN new_{one} TEXT NOT NULL DEFAULT 'kept'",) for one in (2, 3)}
    later = replace(SITES, version=3, migrations=steps)
    with closing(SqliteTables(later, path, read_only=reads)) as tables:
        assert tables.rows("SELECT source, new_2, new_3 FROM crawl") == [("one", "kept", "kept")]
    with pytest.raises(StateError):
        SqliteTables(replace(SITES, version=5, migrations={**steps, 4: ("SELECT 1",)}), path)
    with closing(SqliteTables(later, path)) as tables:
        assert tables.rows("PRAGMA user_version") == [(3,)], "steps that lead nowhere are not taken"


def test_a_crawl_whose_process_ended_is_followed_at_once_and_counts_as_having_asked_until_now(
    tmp_path: Path,
) -> None:
    at, path = [100.0], tmp_path / "sites.sqlite"
    killed = SqliteSiteStore(path, clock=lambda: at[0])
    crawl = killed.register_crawl("one", 20.0)
    killed.lease_sites(crawl, {"a": ["a"]})
    killed.put_clocks(crawl, [SiteClock("a", 112.0, 102.0, 10.0)])
    killed.close()  # the system does so
    at[0] = 115.0
    with closing(SqliteSiteStore(path, clock=lambda: at[0])) as store:
        again = store.register_crawl("one", 20.0)
        assert again > crawl
        (known,) = store.lease_sites(again, {"a": ["a"]})["a"]
    assert (known.next_at, known.requested, known.delay) == (125.0, 115.0, 10.0)
