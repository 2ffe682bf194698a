"""The store of sites that all sources of a project share: leases, clocks, answers for robots.txt."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ultracrawl.errors import StateError
from ultracrawl.stores import SiteClock, SiteStore, SqliteSiteStore, StoredRobots
from ultracrawl.stores.port.site_store import StoredSession


@pytest.fixture(params=["file", "memory"])
def sites(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SiteStore]:
    """A store of each kind."""
    store = (
        SqliteSiteStore.in_memory()
        if request.param == "memory"
        else SqliteSiteStore(tmp_path / "sites" / "sites.sqlite")
    )
    with closing(store):
        yield store


def ask(sites: SiteStore, crawl: int, *names: str, now: float) -> list[str]:
    """Ask for sites, each for itself; return those that were given."""
    return sorted(sites.lease_sites(crawl, {name: [name] for name in names}, now))


def test_a_site_is_of_one_crawl_at_a_time_and_takes_its_clock_along(sites: SiteStore) -> None:
    one, two = sites.register_crawl("one", 100.0, 120.0), sites.register_crawl("two", 100.0, 120.0)
    assert sites.lease_sites(one, {"a": ["a"]}, 100.0) == {"a": [SiteClock("a")]}
    assert ask(sites, two, "a", "b", now=101.0) == ["b"]
    assert sites.contended_sites(one) == {"a"}
    assert sites.contended_sites(two) == frozenset()
    clock = SiteClock("a", 107.5, 102.5, 5.0, "5 s (definition)", True, 2, 4.0, "refused", 99.0)
    sites.put_clocks(one, [clock])
    assert sites.get_clock("a") == clock
    assert ask(sites, two, "a", now=103.0) == []
    sites.release_sites(one, [clock])
    assert sites.lease_sites(two, {"a": ["a"]}, 103.0) == {"a": [clock]}
    assert sites.contended_sites(two) == frozenset()


def test_who_waits_is_served_in_order_and_who_gave_a_site_back_is_last(sites: SiteStore) -> None:
    one, two, three = (sites.register_crawl(name, 0.0, 99.0) for name in ("one", "two", "three"))
    assert ask(sites, one, "a", now=1.0) == ["a"]
    for crawl in (three, two, three):
        assert ask(sites, crawl, "a", now=2.0) == []
    sites.release_sites(one, [SiteClock("a")])
    assert ask(sites, one, "a", now=3.0) == []
    assert ask(sites, two, "a", now=3.0) == []
    assert ask(sites, three, "a", now=3.0) == ["a"]
    holder = sites.lease_holder("a", 3.0)
    assert holder is not None
    assert (holder.source, holder.since, holder.waiting) == ("three", 3.0, ("two", "one"))
    sites.stop_waiting(two, ["a"])
    sites.release_sites(three, [SiteClock("a")])
    assert ask(sites, one, "a", now=4.0) == ["a"]


def test_all_that_a_site_stands_for_or_nothing(sites: SiteStore) -> None:
    one, two = sites.register_crawl("one", 0.0, 99.0), sites.register_crawl("two", 0.0, 99.0)
    assert list(sites.lease_sites(one, {"a": ["a", "ip:1"], "b": ["b", "ip:1"]}, 1.0)) == ["a", "b"]
    assert sites.lease_sites(two, {"c": ["c", "ip:1"]}, 1.0) == {}
    assert sites.lease_holder("c", 1.0) is None
    sites.release_sites(one, [SiteClock("a"), SiteClock("ip:1", 9.0)])
    assert sites.lease_sites(two, {"c": ["c", "ip:1"]}, 1.0) == {
        "c": [SiteClock("c"), SiteClock("ip:1", 9.0)]
    }


@pytest.mark.parametrize(
    ("again", "last"),
    [("two", 20.0), ("one", 15.0)],
    ids=["its time has to be over for another source", "its own source knows that it is dead"],
)
def test_a_crawl_that_died_counts_as_having_asked_to_the_last(
    sites: SiteStore, again: str, last: float
) -> None:
    one = sites.register_crawl("one", 0.0, 20.0)
    assert ask(sites, one, "a", now=1.0) == ["a"]
    sites.put_clocks(one, [SiteClock("a", 12.0, 2.0, 10.0, "10 s (robots.txt)", errors=1)])
    other = sites.register_crawl(again, 15.0, 60.0)
    assert ask(sites, other, "a", now=15.0) == (["a"] if again == "one" else [])
    if again == "two":
        assert ask(sites, other, "a", now=20.0) == [], "it may ask to the last moment"
        assert ask(sites, other, "a", now=20.5) == ["a"]
    assert sites.get_clock("a") == SiteClock("a", last + 10.0, last, 10.0, "10 s (robots.txt)", errors=1)


def test_what_a_crawl_writes_that_was_taken_for_dead_is_refused(sites: SiteStore) -> None:
    one = sites.register_crawl("one", 0.0, 20.0)
    assert ask(sites, one, "a", "b", now=1.0) == ["a", "b"]
    two = sites.register_crawl("two", 0.0, 60.0)
    assert ask(sites, two, "a", now=30.0) == ["a"]
    before = sites.get_clock("a")
    assert sites.renew_leases(one, 90.0) is False
    sites.put_clocks(one, [SiteClock("a", 1.0)])
    sites.release_sites(one, [SiteClock("a", 1.0)])
    assert ask(sites, one, "c", now=31.0) == []
    assert sites.get_clock("a") == before
    held = sites.lease_holder("a", 31.0)
    assert held is not None
    assert held.source == "two"
    assert sites.renew_leases(two, 90.0) is True
    assert sites.register_crawl("one", 31.0, 90.0) > two > one, "no number is given twice"


def test_the_number_of_a_crawl_is_not_given_again(tmp_path: Path) -> None:
    numbers = []
    for _ in range(3):
        with closing(SqliteSiteStore(tmp_path / "sites.sqlite")) as store:
            numbers.append(store.register_crawl("one", 0.0, 20.0))
            store.close_crawl(numbers[-1])
    assert numbers == sorted(set(numbers))


def test_a_crawl_that_has_ended_keeps_nobody_waiting(sites: SiteStore) -> None:
    one, two = sites.register_crawl("one", 0.0, 20.0), sites.register_crawl("two", 0.0, 20.0)
    assert ask(sites, one, "a", now=1.0) == ["a"]
    assert ask(sites, two, "a", now=1.0) == []
    sites.close_crawl(two)
    assert sites.contended_sites(one) == frozenset()
    sites.release_sites(one, [SiteClock("a")])
    sites.close_crawl(one)
    three = sites.register_crawl("three", 2.0, 20.0)
    assert ask(sites, three, "a", now=2.0) == ["a"]


def test_errors_are_forgiven_where_nobody_asks(sites: SiteStore) -> None:
    one = sites.register_crawl("one", 0.0, 99.0)
    for name in ("a", "b"):
        assert ask(sites, one, name, now=1.0) == [name]
        sites.put_clocks(one, [SiteClock(name, 5.0, 4.0, 60.0, errors=9, slowed=60.0)])
    sites.release_sites(one, [SiteClock("a", 5.0, 4.0, 60.0, errors=9, slowed=60.0)])
    sites.reset_site_errors(["a", "b"])
    assert sites.get_clock("a") == SiteClock("a", 5.0, 4.0)
    assert sites.get_clock("b") == SiteClock("b", 5.0, 4.0, 60.0, errors=9, slowed=60.0)


def test_sites_and_answers_of_long_ago_are_forgotten(sites: SiteStore) -> None:
    crawl = sites.register_crawl("two", 0.0, 91 * 86_400.0)
    ask(sites, crawl, "old", "new", now=0.0)
    sites.release_sites(crawl, [SiteClock("old", 5.0), SiteClock("new", 90 * 86_400.0)])
    sites.close_crawl(crawl)
    sites.put_robots(StoredRobots("http://old", 5.0, 200), "")
    sites.put_robots(StoredRobots("http://tried", 5.0, 200, failed=90 * 86_400.0), "")
    sites.register_crawl("one", 100 * 86_400.0, 101 * 86_400.0)
    assert (sites.get_clock("old"), sites.get_robots("http://old", "")) == (None, None)
    assert sites.get_clock("new") is not None
    assert sites.get_robots("http://tried", "") is not None


def test_robots_txt_is_kept_by_origin_and_by_what_servers_see(sites: SiteStore) -> None:
    row = StoredRobots("http://a", 5.0, 200, b"Disallow: /", guessed=3.0)
    sites.put_robots(row, "plain")
    assert sites.get_robots("http://a", "plain") == row
    assert sites.get_robots("http://a", "source members") is None
    assert sites.get_robots("https://a", "plain") is None
    sites.put_robots(StoredRobots("http://a", 4.0, 404), "plain")
    assert sites.get_robots("http://a", "plain") == row, "an older answer comes late"
    sites.put_robots(StoredRobots("http://a", 6.0, 404, timed_out=True), "plain")
    assert sites.get_robots("http://a", "plain") == StoredRobots("http://a", 6.0, 404, timed_out=True)


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
        store.register_crawl("one", 0.0, 1.0)
    with closing(SqliteSiteStore(path, renew=True)) as store:
        assert "set aside" in store.renewed
        assert store.register_crawl("one", 0.0, 1.0) == 1
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


def test_the_session_of_a_login_is_kept_by_name_and_the_later_one_stays(sites: SiteStore) -> None:
    assert sites.get_session("a") is None
    sites.put_session("a", StoredSession(5.0, b"sealed"))
    sites.put_session("a", StoredSession(4.0, b"older"))
    assert sites.get_session("a") == StoredSession(5.0, b"sealed")
    sites.put_session("a", StoredSession(6.0, b"later"))
    assert sites.get_session("a") == StoredSession(6.0, b"later")
    assert sites.get_session("b") is None
    sites.register_crawl("one", 100 * 86_400.0, 101 * 86_400.0)
    assert sites.get_session("a") is None, "nobody asked for it in a month"
