"""Places, turns in a row, addresses and levels; and that all of them together lose nothing and keep every delay."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.frontier import delay_of, made_frontier

from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.frontier.levels import LevelSelector, PopScheme
from ultracrawl.rules.frontier.politeness.pace import Pace


class Entry(NamedTuple):
    site: str
    number: int
    level: int = 1


def filled(frontier: Frontier[Entry], **sites: int) -> Frontier[Entry]:
    for site, count in sites.items():
        for number in range(count):
            assert frontier.add_entry(Entry(site, number))
    return frontier


def drain(frontier: Frontier[Entry], now: float = 0.0) -> list[Entry]:
    """Pop and finish until nothing comes."""
    popped = []
    while (entry := frontier.pop_entry(now)) is not None:
        popped.append(entry)
        frontier.finish_entry(entry.site)
    return popped


def names(entries: list[Entry]) -> str:
    return "".join(f"{entry.site}{entry.number}" for entry in entries)


# ---- max_sites, max_inter_docs


@pytest.mark.parametrize(
    ("max_sites", "consecutive", "order"),
    [
        (None, None, "a0b0c0a1b1c1a2b2c2"),
        (1, None, "a0a1a2b0b1b2c0c1c2"),
        (2, None, "a0b0a1b1a2b2c0c1c2"),
        (1, 1, "a0b0c0a1b1c1a2b2c2"),
        (1, 2, "a0a1b0b1c0c1a2b2c2"),
        (2, 2, "a0b0a1b1c0a2c1b2c2"),
    ],
)
def test_fast_15_16_places_and_turns(max_sites: int | None, consecutive: int | None, order: str) -> None:
    frontier: Frontier[Entry] = made_frontier(max_sites=max_sites, max_inter_docs=consecutive)
    assert names(drain(filled(frontier, a=3, b=3, c=3))) == order
    assert drain(frontier) == []
    assert frontier.remembered == 0


def test_fast_15_of_ten_sites_five_start_only_when_others_have_finished() -> None:
    frontier: Frontier[Entry] = made_frontier(max_sites=5, concurrency=1)
    filled(frontier, **{chr(ord("a") + number): 1 for number in range(10)})
    first = [frontier.pop_entry(0.0) for _ in range(6)]
    assert first[5] is None
    assert frontier.waiting == 5
    frontier.finish_entry("c")
    assert frontier.pop_entry(0.0) == Entry("f", 0), "the empty queue of c made a place free"


def test_a_site_in_flight_keeps_its_place_for_what_its_page_may_link_to() -> None:
    frontier: Frontier[Entry] = filled(made_frontier(max_sites=1), a=1, b=1)
    assert frontier.pop_entry(0.0) == Entry("a", 0)
    assert frontier.pop_entry(0.0) is None
    frontier.add_entry(Entry("a", 1))
    frontier.finish_entry("a")
    assert names(drain(frontier)) == "a1b0"


def test_fast_16_a_turn_that_is_given_back_does_not_count() -> None:
    frontier = filled(made_frontier(max_sites=1, max_inter_docs=2), a=4, b=1)
    assert frontier.pop_entry(0.0) == Entry("a", 0)
    frontier.refund_turn("a")
    frontier.finish_entry("a")
    assert names(drain(frontier)) == "a1a2b0a3"


def test_fast_15_an_entry_that_comes_first_waits_for_a_place_like_others() -> None:
    frontier = filled(made_frontier(max_sites=1), a=2)
    frontier.add_first(Entry("b", 0))
    assert frontier.waiting == 1
    assert names(drain(frontier)) == "a0a1b0"


def test_fast_15_a_place_that_was_given_back_is_one_place() -> None:
    frontier: Frontier[Entry] = made_frontier(max_sites=1)
    for first, second in ("ab", "cd", "ef"):
        filled(frontier, **{first: 1, second: 1})
        assert (frontier.waiting, frontier._slots.taken) == (1, 1)
        assert names(drain(frontier)) == f"{first}0{second}0"
        assert (frontier.waiting, frontier._slots.taken) == (0, 0)


def test_fast_16_with_nobody_waiting_a_site_goes_on() -> None:
    frontier: Frontier[Entry] = filled(made_frontier(max_sites=2, max_inter_docs=2), a=9)
    assert len(drain(frontier)) == 9


@pytest.mark.parametrize("leave", ["withdraw_site", "give_up_site"])
def test_a_site_that_ends_early_gives_its_place_to_the_next(leave: str) -> None:
    frontier: Frontier[Entry] = filled(made_frontier(max_sites=1), a=5, b=1)
    assert frontier.pop_entry(0.0) == Entry("a", 0)
    getattr(frontier, leave)("a")
    frontier.finish_entry("a")
    assert frontier.pop_entry(0.0) == Entry("b", 0)


def test_a_site_that_waits_and_is_withdrawn_waits_no_more() -> None:
    frontier: Frontier[Entry] = filled(made_frontier(max_sites=1), a=1, b=2, c=1)
    assert frontier.withdraw_site("b") == [Entry("b", 0), Entry("b", 1)]
    assert names(drain(frontier)) == "a0c0"


def test_fast_15_a_site_that_was_withdrawn_and_comes_again_waits_behind_the_others() -> None:
    frontier = filled(made_frontier(max_sites=1), a=1, b=1, c=1)
    frontier.withdraw_site("b")
    filled(frontier, b=1)
    assert frontier.waiting == 2
    assert names(drain(frontier)) == "a0c0b0"


def test_sites_that_wait_ask_the_store_only_when_they_have_a_place() -> None:
    frontier: Frontier[Entry] = made_frontier(max_sites=1)
    for name in "abc":
        frontier.mark_stored(name)
    assert frontier.hungry == {"a"}
    assert frontier.remembered == 1, "those that wait are only names"
    assert frontier.pending
    frontier.refill_site("a", [Entry("a", 0)], more=False)
    assert names(drain(frontier)) == "a0"
    assert frontier.hungry == {"b"}
    frontier.refill_site("b", [], more=False)
    assert frontier.hungry == {"c"}, "a site of which nothing is left goes at once"
    frontier.refill_site("c", [Entry("c", 0)], more=False)
    assert names(drain(frontier)) == "c0"
    assert not frontier.pending


def test_a_claim_for_a_site_that_waits_does_not_lose_its_stored_entries() -> None:
    frontier: Frontier[Entry] = filled(made_frontier(max_sites=1), a=1)
    frontier.mark_stored("b")
    frontier.claim_turn("b", 0.0)
    drain(frontier)
    assert frontier.hungry == {"b"}


def test_sites_without_a_place_leave_memory_to_those_with_one() -> None:
    frontier: Frontier[Entry] = made_frontier(capacity=10, max_sites=1)
    kept = [
        frontier.add_entry(Entry("a", 0)),
        *(frontier.add_entry(Entry("b", number)) for number in range(9)),
    ]
    assert kept.count(True) == 5
    assert all(frontier.add_entry(Entry("a", number)) for number in range(1, 6))
    assert names(drain(frontier)) == "a0a1a2a3a4a5b0b1b2b3"
    assert frontier.hungry == {"b"}


# ---- levels


@pytest.mark.parametrize(
    ("scheme", "order"),
    [
        (PopScheme.WRR, "A1 A2 A3 B1 A4 A5 B2 B3"),
        (PopScheme.DEFAULT, "A1 A2 A3 B1 A4 A5 B2 B3"),
        (PopScheme.PRI, "A1 A2 A3 A4 A5 B1 B2 B3"),
        (PopScheme.RR, "A1 B1 A2 B2 A3 B3 A4 A5"),
    ],
)
@pytest.mark.parametrize("sites", [1, 2], ids=["one site", "a site for each level"])
def test_fast_148_151_153_pop_schemes(scheme: PopScheme, order: str, sites: int) -> None:
    frontier: Frontier[Entry] = made_frontier(
        selector=LevelSelector(2, scheme, [3, 1]), level_of=lambda entry: entry.level
    )
    for number in range(1, 6):
        frontier.add_entry(Entry("s", number, 1))
    for number in range(1, 4):
        frontier.add_entry(Entry("s" if sites == 1 else "t", number, 2))
    popped = drain(frontier)
    assert " ".join(f"{'AB'[entry.level - 1]}{entry.number}" for entry in popped) == order


def chosen(selector: LevelSelector, ready: str) -> str:
    """Return the levels chosen one after the other; each word lists the levels that have a URL then."""
    return "".join(
        str(selector.choose(levels.__contains__) or "-") for levels in map(_numbers, ready.split())
    )


def _numbers(word: str) -> list[int]:
    return [int(digit) for digit in word if digit != "-"]


@pytest.mark.parametrize(
    ("shares", "ready", "levels"),
    [
        ((3, 1), "- 12 - 12 - - 12 - 12 12", "-1-1--1-21"),
        ((2, 1), "12 1 12 1 12 1 12 1", "11211121"),
        ((1, 1), "1 1 12 12 12", "11221"),
    ],
    ids=["nothing to fetch between", "level 2 is never ready in its turn", "a level that was empty"],
)
def test_fast_153_a_turn_is_over_when_its_urls_are_taken(
    shares: tuple[int, ...], ready: str, levels: str
) -> None:
    assert chosen(LevelSelector(2, PopScheme.WRR, shares), ready) == levels


def test_fast_153_a_site_that_is_passed_over_costs_its_level_no_turn() -> None:
    selector = LevelSelector(2, PopScheme.WRR, (2, 1))
    assert selector.choose({1, 2}.__contains__) == 1
    selector.refund(1)
    assert chosen(selector, "12 12 12 12") == "1121"


def test_a_site_that_waits_for_its_delay_does_not_block_lower_levels() -> None:
    frontier: Frontier[Entry] = made_frontier(
        delay=10.0, selector=LevelSelector(2, PopScheme.PRI), level_of=lambda entry: entry.level
    )
    for entry in (Entry("a", 0, 1), Entry("a", 1, 1), Entry("b", 0, 2)):
        frontier.add_entry(entry)
    assert [frontier.pop_entry(0.0), frontier.pop_entry(0.0), frontier.pop_entry(0.0)] == [
        Entry("a", 0),
        Entry("b", 0, 2),
        None,
    ]


def test_fast_148_levels_outside_are_moved_to_the_nearest() -> None:
    frontier: Frontier[Entry] = made_frontier(
        selector=LevelSelector(2, PopScheme.PRI), level_of=lambda entry: entry.level
    )
    for number, level in enumerate([9, 2, 0, 1]):
        frontier.add_entry(Entry("a", number, level))
    assert names(drain(frontier)) == "a2a3a0a1"


def test_each_level_asks_the_store_for_its_own_entries() -> None:
    frontier: Frontier[Entry] = made_frontier(
        concurrency=9, selector=LevelSelector(2, PopScheme.PRI), level_of=lambda entry: entry.level
    )
    frontier.mark_stored("a")
    assert frontier.hungry_levels("a") == [1, 2]
    frontier.refill_site("a", [Entry("a", 0, 1)], more=True, level=1)
    assert frontier.hungry_levels("a") == [2]
    frontier.refill_site("a", [Entry("a", 1, 2)], more=False, level=2)
    assert frontier.hungry == set()
    assert frontier.pop_entry(0.0) == Entry("a", 0, 1)
    assert (frontier.hungry, frontier.hungry_levels("a")) == ({"a"}, [1])
    assert frontier.add_entry(Entry("a", 2, 1)) is False, "it would overtake those in the store"
    assert frontier.add_entry(Entry("a", 3, 2)) is True


# ---- addresses


def test_fast_14_hosts_of_one_address_share_delay_and_concurrency() -> None:
    frontier: Frontier[Entry] = made_frontier(Pace(10.0, 1, per_address=True))
    filled(frontier, a=2, b=2, c=2)
    assert frontier.unlocated == {"a", "b", "c"}
    assert frontier.pop_entry(0.0) is None, "nothing goes out before the address is known"
    for name, address in (("a", "192.0.2.1"), ("b", "192.0.2.1"), ("c", "192.0.2.2")):
        frontier.set_address(name, address)
    assert [frontier.pop_entry(0.0), frontier.pop_entry(0.0), frontier.pop_entry(0.0)] == [
        Entry("a", 0),
        Entry("c", 0),
        None,
    ]
    frontier.finish_entry("a")
    assert frontier.pop_entry(9.9) is None
    assert frontier.pop_entry(10.0) == Entry("b", 0)
    assert frontier.pop_entry(20.0) is None, "b is still out, and c too"
    frontier.finish_entry("b")
    frontier.finish_entry("c")
    assert {frontier.pop_entry(20.0), frontier.pop_entry(20.0)} == {Entry("a", 1), Entry("c", 1)}


def test_fast_14_a_site_without_an_address_has_a_clock_of_its_own() -> None:
    frontier: Frontier[Entry] = filled(made_frontier(Pace(10.0, per_address=True)), a=1, b=1)
    frontier.set_address("a", "")
    frontier.set_address("b", "")
    assert [frontier.pop_entry(0.0), frontier.pop_entry(0.0)] == [Entry("a", 0), Entry("b", 0)]


def test_fast_14_nobody_is_woken_before_the_address_may_be_asked() -> None:
    frontier: Frontier[Entry] = filled(made_frontier(Pace(10.0, 2, per_address=True)), a=1, b=1)
    frontier.set_address("a", "x")
    frontier.set_address("b", "x")
    assert frontier.pop_entry(0.0) == Entry("a", 0)
    assert frontier.pop_entry(0.0) is None
    assert frontier.next_at() == 10.0
    frontier.finish_entry("a")
    assert frontier.next_at() == 10.0


def test_fast_14_an_address_is_reported_once_and_to_sites_that_are_there() -> None:
    frontier: Frontier[Entry] = filled(made_frontier(Pace(10.0, per_address=True)), a=1, b=1)
    frontier.set_address("nobody", "x")
    frontier.set_address("a", "x")
    frontier.set_address("a", "y")
    frontier.set_address("b", "x")
    assert frontier.pop_entry(0.0) == Entry("a", 0)
    assert frontier.pop_entry(9.9) is None, "both are at x"
    assert frontier.pop_entry(10.0) == Entry("b", 0)
    assert frontier.unlocated == set()


def test_addresses_are_forgotten_with_their_sites() -> None:
    frontier: Frontier[Entry] = filled(made_frontier(Pace(1.0, per_address=True)), a=1, b=1)
    frontier.set_address("a", "x")
    frontier.set_address("b", "x")
    for now in (0.0, 1.0):
        entry = frontier.pop_entry(now)
        assert entry
        frontier.finish_entry(entry.site)
    assert frontier.pop_entry(3.0) is None
    assert (frontier.remembered, frontier._order._addresses) == (0, {})


# ---- memory


def test_a_site_is_forgotten_when_its_delay_is_over() -> None:
    frontier: Frontier[Entry] = made_frontier(delay=10.0)
    for number in range(1000):
        frontier.add_entry(Entry(f"s{number}", 0))
    assert len(drain(frontier)) == 1000
    assert frontier.pop_entry(9.0) is None
    assert frontier.remembered == 1000
    assert frontier.pop_entry(10.0) is None
    assert frontier.remembered == 0
    assert frontier._registry._expiring == []
    assert frontier._order._turns._heap == []


def test_what_was_known_before_a_restart_counts() -> None:
    frontier: Frontier[Entry] = made_frontier(Pace(1.0))
    frontier.restore_site("a", 30.0, errors=2, slowed=8.0)
    filled(frontier, a=2, b=1)
    assert frontier.pop_entry(0.0) == Entry("b", 0)
    assert frontier.pop_entry(29.0) is None
    assert frontier.pop_entry(30.0) == Entry("a", 0)
    assert delay_of(frontier, "a") == 8.0


def test_what_was_known_of_sites_without_entries_is_forgotten_in_time() -> None:
    frontier: Frontier[Entry] = made_frontier(Pace(1.0))
    frontier.restore_site("a", 30.0)
    frontier.hold_site("b", 30.0)
    frontier.set_delay("c", 9.0)
    assert (frontier.pop_entry(29.0), frontier.remembered) == (None, 2)
    assert (frontier.pop_entry(30.0), frontier.remembered) == (None, 0)


# ---- everything together

SITES = "pqrstuvw"


@settings(max_examples=150)
@given(
    entries=st.lists(st.tuples(st.sampled_from(SITES), st.integers(1, 3)), min_size=1, max_size=80),
    max_sites=st.sampled_from([None, 1, 2, 5]),
    consecutive=st.sampled_from([None, 1, 3]),
    delay=st.sampled_from([0.0, 1.0, 2.5]),
    concurrency=st.integers(1, 3),
    per_address=st.booleans(),
    scheme=st.sampled_from(list(PopScheme)),
    capacity=st.sampled_from([2, 7, 1000]),
    seconds=st.floats(0.0, 4.0),
)
def test_nothing_is_lost_and_every_limit_holds(
    entries: list[tuple[str, int]],
    max_sites: int | None,
    consecutive: int | None,
    delay: float,
    concurrency: int,
    per_address: bool,
    scheme: PopScheme,
    capacity: int,
    seconds: float,
) -> None:
    """A whole crawl with a store beside, on a virtual clock: every answer takes `seconds`."""
    frontier: Frontier[Entry] = made_frontier(
        Pace(delay, concurrency, per_address=per_address),
        capacity=capacity,
        max_sites=max_sites,
        max_inter_docs=consecutive,
        selector=LevelSelector(3, scheme, [3, 2]),
        level_of=lambda entry: entry.level,
    )
    wanted = [Entry(site, number, level) for number, (site, level) in enumerate(entries)]
    waiting = set(wanted)
    for entry in wanted:
        frontier.add_entry(entry)
    now, out, got, last = 0.0, [], [], {}
    while waiting or out:
        for site in list(frontier.unlocated):
            frontier.set_address(site, "x" if site in "pqr" else "")
        while frontier.hungry:
            site = next(iter(frontier.hungry))
            for level in frontier.hungry_levels(site):
                rows = sorted(e for e in waiting if (e.site, e.level) == (site, level))
                frontier.refill_site(
                    site,
                    rows[: frontier.batch_size],
                    more=len(rows) > frontier.batch_size,
                    level=level,
                )
        entry = frontier.pop_entry(now)
        if entry is not None:
            waiting.remove(entry)
            got.append(entry)
            heapq.heappush(out, (now + seconds, entry))
            group = "x" if per_address and entry.site in "pqr" else entry.site
            assert now - last.get(group, -99.0) >= delay - 1e-9
            last[group] = now
            members = [e for _, e in out if (group == "x" and e.site in "pqr") or e.site == group]
            assert len(members) <= concurrency
            continue
        at = frontier.next_at()
        if frontier.unlocated or frontier.hungry:
            continue
        assert out or at is not None, "it would sleep for ever"
        if out and (at is None or out[0][0] <= at):
            now, ended = heapq.heappop(out)
            frontier.finish_entry(ended.site)
        else:
            assert at is not None
            assert at > now
            now = at
        assert max_sites is None or frontier._slots.taken <= max_sites
    assert sorted(got) == sorted(wanted)
    assert frontier.pop_entry(now + delay) is None
    assert not frontier.pending
    assert frontier.remembered == 0
