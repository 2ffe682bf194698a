"""The stores of sites that all sources of a project share: leases, clocks, answers for robots.txt, sessions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from stores.conftest import Place
from support import clock

from ultracrawl.errors import UserError
from ultracrawl.stores import SiteClock, SiteStore, StoredRobots
from ultracrawl.stores.port.site_store import StoredSession

DAY = 86_400.0
LEASE = 20.0


@pytest.fixture
def sites(place: Place) -> SiteStore:
    return place.open_sites()


@pytest.fixture
def at(sites: SiteStore) -> Callable[[float], float]:
    """Return a time by the clock of the store: so many seconds after the test began."""
    began = sites.now()
    return lambda seconds: began + seconds


def ask(sites: SiteStore, crawl: int, *names: str) -> list[str]:
    """Ask for sites, each for itself; return those that were given."""
    return sorted(sites.lease_sites(crawl, {name: [name] for name in names}))


def moment(value: float) -> object:
    """Return what equals a time, give or take how long a test takes."""
    return pytest.approx(value, abs=5.0)


def test_a_site_is_of_one_crawl_at_a_time_and_takes_its_clock_along(sites: SiteStore) -> None:
    one, two = sites.register_crawl("one", LEASE), sites.register_crawl("two", LEASE)
    assert sites.lease_sites(one, {"a": ["a"]}) == {"a": [SiteClock("a")]}
    assert ask(sites, two, "a", "b") == ["b"]
    assert sites.contended_sites(one) == {"a"}
    assert sites.contended_sites(two) == frozenset()
    known = SiteClock("a", 107.5, 102.5, 5.0, "5 s (definition)", True, 2, 4.0, "refused", 99.0)
    sites.put_clocks(one, [known])
    assert sites.get_clock("a") == known
    assert ask(sites, two, "a") == []
    sites.release_sites(one, [known])
    assert sites.lease_sites(two, {"a": ["a"]}) == {"a": [known]}
    assert sites.contended_sites(two) == frozenset()


def test_who_waits_is_served_in_order_and_who_gave_a_site_back_is_last(
    sites: SiteStore, at: Callable[[float], float]
) -> None:
    one, two, three = (sites.register_crawl(name, 99.0) for name in ("one", "two", "three"))
    assert ask(sites, one, "a") == ["a"]
    for crawl in (three, two, three):
        assert ask(sites, crawl, "a") == []
    sites.release_sites(one, [SiteClock("a")])
    assert ask(sites, one, "a") == []
    assert ask(sites, two, "a") == []
    clock.leap(30.0)
    assert ask(sites, three, "a") == ["a"]
    holder = sites.lease_holder("a")
    assert holder is not None
    assert (holder.source, holder.waiting) == ("three", ("two", "one"))
    assert (holder.since, holder.until) == (moment(at(30.0)), moment(at(99.0)))
    sites.stop_waiting(two, ["a"])
    sites.release_sites(three, [SiteClock("a")])
    assert ask(sites, one, "a") == ["a"]


def test_all_that_a_site_stands_for_or_nothing(sites: SiteStore) -> None:
    one, two = sites.register_crawl("one", LEASE), sites.register_crawl("two", LEASE)
    assert list(sites.lease_sites(one, {"a": ["a", "ip:1"], "b": ["b", "ip:1"]})) == ["a", "b"]
    assert sites.lease_sites(two, {"c": ["c", "ip:1"]}) == {}
    assert sites.lease_holder("c") is None
    sites.release_sites(one, [SiteClock("a"), SiteClock("ip:1", 9.0)])
    assert sites.lease_sites(two, {"c": ["c", "ip:1"]}) == {"c": [SiteClock("c"), SiteClock("ip:1", 9.0)]}


# ---- the end of a lease


def test_a_crawl_that_stands_still_counts_as_having_asked_to_the_end_of_its_lease(
    sites: SiteStore, at: Callable[[float], float]
) -> None:
    one, two = sites.register_crawl("one", LEASE), sites.register_crawl("two", 3 * LEASE)
    assert ask(sites, one, "a") == ["a"]
    known = SiteClock("a", at(12.0), at(2.0), 10.0, "10 s (robots.txt)", errors=1)
    sites.put_clocks(one, [known])
    clock.leap(LEASE - 5.0)
    assert ask(sites, two, "a") == [], "it may ask to the last moment"
    clock.leap(10.0)
    assert ask(sites, two, "a") == ["a"]
    stored = sites.get_clock("a")
    assert stored is not None
    assert (stored.next_at, stored.requested) == (moment(at(LEASE + 10.0)), moment(at(LEASE)))
    assert replace(stored, next_at=known.next_at, requested=known.requested) == known


def test_a_lease_that_is_renewed_lasts_from_then_on(sites: SiteStore) -> None:
    one, two = sites.register_crawl("one", LEASE), sites.register_crawl("two", 9 * LEASE)
    assert ask(sites, one, "a") == ["a"]
    for _ in range(3):
        clock.leap(LEASE - 5.0)
        assert sites.renew_leases(one, LEASE) is True
        assert ask(sites, two, "a") == []
    clock.leap(LEASE + 5.0)
    assert ask(sites, two, "a") == ["a"]


def test_what_a_crawl_writes_that_was_taken_for_dead_is_refused(sites: SiteStore) -> None:
    one = sites.register_crawl("one", LEASE)
    assert ask(sites, one, "a", "b") == ["a", "b"]
    two = sites.register_crawl("two", 9 * LEASE)
    clock.leap(LEASE + 5.0)
    assert ask(sites, two, "a") == ["a"]
    before = sites.get_clock("a")
    assert sites.renew_leases(one, LEASE) is False
    sites.put_clocks(one, [SiteClock("a", 1.0)])
    sites.release_sites(one, [SiteClock("a", 1.0)])
    assert ask(sites, one, "c") == []
    assert sites.get_clock("a") == before
    held = sites.lease_holder("a")
    assert held is not None
    assert held.source == "two"
    assert sites.renew_leases(two, LEASE) is True
    assert sites.register_crawl("one", LEASE) not in (one, two), "no number is given twice"


# ---- two crawls of one source


def test_a_second_crawl_of_a_source_is_refused_while_the_lease_of_the_first_lives(kept: Place) -> None:
    first, second = kept.open_sites(), kept.open_sites()
    one = first.register_crawl("one", LEASE)
    assert ask(first, one, "a") == ["a"]
    clock.leap(1.0)
    for _ in range(2):
        with pytest.raises(UserError):
            second.register_crawl("one", LEASE)
    assert first.renew_leases(one, LEASE) is True
    other = second.register_crawl("two", LEASE)
    assert ask(second, other, "a") == []
    clock.leap(LEASE + 1.0)
    again = second.register_crawl("one", LEASE)
    assert ask(second, again, "a") == ["a"]
    assert first.renew_leases(one, LEASE) is False


def test_a_crawl_that_ended_is_followed_at_once(kept: Place) -> None:
    first, second = kept.open_sites(), kept.open_sites()
    one = first.register_crawl("one", LEASE)
    assert ask(first, one, "a") == ["a"]
    first.close_crawl(one)
    two = second.register_crawl("one", LEASE)
    assert two != one
    assert ask(second, two, "a") == ["a"]


def test_the_number_of_a_crawl_is_not_given_again(kept: Place) -> None:
    numbers = []
    for _ in range(3):
        store = kept.open_sites()
        numbers.append(store.register_crawl("one", LEASE))
        store.close_crawl(numbers[-1])
        store.close()
    assert len({*numbers}) == 3


def test_a_crawl_that_has_ended_keeps_nobody_waiting(sites: SiteStore) -> None:
    one, two = sites.register_crawl("one", LEASE), sites.register_crawl("two", LEASE)
    assert ask(sites, one, "a") == ["a"]
    assert ask(sites, two, "a") == []
    sites.close_crawl(two)
    assert sites.contended_sites(one) == frozenset()
    sites.release_sites(one, [SiteClock("a")])
    sites.close_crawl(one)
    three = sites.register_crawl("three", LEASE)
    assert ask(sites, three, "a") == ["a"]


# ---- what is kept of sites


def test_errors_are_forgiven_where_nobody_asks(sites: SiteStore) -> None:
    one = sites.register_crawl("one", LEASE)
    for name in ("a", "b"):
        assert ask(sites, one, name) == [name]
        sites.put_clocks(one, [SiteClock(name, 5.0, 4.0, 60.0, errors=9, slowed=60.0)])
    sites.release_sites(one, [SiteClock("a", 5.0, 4.0, 60.0, errors=9, slowed=60.0)])
    sites.reset_site_errors(["a", "b"])
    assert sites.get_clock("a") == SiteClock("a", 5.0, 4.0)
    assert sites.get_clock("b") == SiteClock("b", 5.0, 4.0, 60.0, errors=9, slowed=60.0)


def test_sites_and_answers_of_long_ago_are_forgotten(sites: SiteStore, at: Callable[[float], float]) -> None:
    crawl = sites.register_crawl("two", LEASE)
    ask(sites, crawl, "old", "new")
    sites.release_sites(crawl, [SiteClock("old", at(-40 * DAY)), SiteClock("new", at(-10 * DAY))])
    sites.close_crawl(crawl)
    sites.put_robots(StoredRobots("http://old", at(-40 * DAY), 200), "")
    sites.put_robots(StoredRobots("http://tried", at(-40 * DAY), 200, failed=at(-10 * DAY)), "")
    sites.put_session("old", StoredSession(at(-40 * DAY), b"sealed"))
    sites.register_crawl("one", LEASE)
    assert (sites.get_clock("old"), sites.get_robots("http://old", "")) == (None, None)
    assert sites.get_clock("new") is not None
    assert sites.get_robots("http://tried", "") is not None
    assert sites.get_session("old") is None


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


def test_the_session_of_a_login_is_kept_by_name_and_the_later_one_stays(sites: SiteStore) -> None:
    assert sites.get_session("a") is None
    sites.put_session("a", StoredSession(5.0, b"sealed"))
    sites.put_session("a", StoredSession(4.0, b"older"))
    assert sites.get_session("a") == StoredSession(5.0, b"sealed")
    sites.put_session("a", StoredSession(6.0, b"later"))
    assert sites.get_session("a") == StoredSession(6.0, b"later")
    assert sites.get_session("b") is None
