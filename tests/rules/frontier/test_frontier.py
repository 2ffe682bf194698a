"""The frontier: turns, delay, concurrency, bounded memory; all over a clock of the test."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.frontier import delay_of, made_frontier

from ultracrawl.rules.frontier.frontier import Frontier


class Entry(NamedTuple):
    site: str
    number: int


def fill(frontier: Frontier[Entry], **sites: int) -> None:
    for site, count in sites.items():
        for number in range(count):
            frontier.add_entry(Entry(site, number))


def test_sites_take_turns_and_keep_their_own_order() -> None:
    frontier: Frontier[Entry] = made_frontier(concurrency=9)
    fill(frontier, a=3, b=2)
    popped = [frontier.pop_entry(0.0) for _ in range(5)]
    assert popped == [Entry("a", 0), Entry("b", 0), Entry("a", 1), Entry("b", 1), Entry("a", 2)]
    assert frontier.pop_entry(0.0) is None
    assert len(frontier) == 0


def test_no_more_than_concurrency_of_a_site_are_out_at_once() -> None:
    frontier: Frontier[Entry] = made_frontier(concurrency=2)
    fill(frontier, a=5)
    assert [frontier.pop_entry(0.0), frontier.pop_entry(0.0)] == [Entry("a", 0), Entry("a", 1)]
    assert frontier.pop_entry(0.0) is None
    assert frontier.next_at() is None, "only `finish_entry` can change that"
    frontier.finish_entry("a")
    assert frontier.pop_entry(0.0) == Entry("a", 2)


def test_the_delay_is_kept_from_request_to_request() -> None:
    frontier: Frontier[Entry] = made_frontier(delay=10.0, concurrency=9)
    fill(frontier, a=2, b=1)
    assert frontier.pop_entry(0.0) == Entry("a", 0)
    assert frontier.pop_entry(1.0) == Entry("b", 0)
    assert frontier.pop_entry(9.9) is None
    assert frontier.next_at() == 10.0
    assert frontier.pop_entry(10.0) == Entry("a", 1)


def test_an_emptied_site_still_keeps_its_delay() -> None:
    frontier: Frontier[Entry] = made_frontier(delay=10.0)
    fill(frontier, a=1)
    frontier.pop_entry(0.0)
    frontier.finish_entry("a")
    frontier.add_entry(Entry("a", 7))
    assert frontier.pop_entry(5.0) is None
    assert frontier.pop_entry(10.0) == Entry("a", 7)


def test_hold_keeps_a_site_back() -> None:
    frontier: Frontier[Entry] = made_frontier(concurrency=9)
    fill(frontier, a=1, b=1)
    frontier.hold_site("a", 30.0)
    assert frontier.pop_entry(0.0) == Entry("b", 0)
    assert frontier.pop_entry(29.0) is None
    assert frontier.next_at() == 30.0
    assert frontier.pop_entry(30.0) == Entry("a", 0)


def test_what_does_not_fit_stays_in_the_store_and_the_site_asks_for_it() -> None:
    frontier: Frontier[Entry] = made_frontier(capacity=2, concurrency=9)
    assert [frontier.add_entry(Entry("a", number)) for number in range(4)] == [
        True,
        True,
        False,
        False,
    ]
    assert frontier.hungry == set()
    frontier.pop_entry(0.0)
    assert frontier.add_entry(Entry("a", 4)) is False, "it would overtake those in the store"
    frontier.pop_entry(0.0)
    assert frontier.hungry == {"a"}
    frontier.refill_site("a", [Entry("a", 2), Entry("a", 3)], more=True)
    assert frontier.hungry == set()
    assert [frontier.pop_entry(0.0), frontier.pop_entry(0.0)] == [Entry("a", 2), Entry("a", 3)]
    assert frontier.hungry == {"a"}
    frontier.refill_site("a", [Entry("a", 4)], more=False)
    assert frontier.add_entry(Entry("a", 5)) is True


def test_a_thousand_sites_are_not_remembered_once_they_are_done() -> None:
    frontier: Frontier[Entry] = made_frontier()
    for number in range(1000):
        frontier.add_entry(Entry(f"s{number}", 0))
    while popped := frontier.pop_entry(0.0):
        frontier.finish_entry(popped.site)
    assert frontier.in_flight == 0
    assert not frontier._registry.sites


@pytest.mark.parametrize("delay", [0.0, 1.0])
@given(actions=st.lists(st.tuples(st.sampled_from("apd"), st.sampled_from("xyz")), max_size=60))
def test_nothing_is_lost_doubled_or_too_early(delay: float, actions: list[tuple[str, str]]) -> None:
    frontier: Frontier[Entry] = made_frontier(delay=delay, concurrency=2)
    added: list[Entry] = []
    popped: list[Entry] = []
    out: list[str] = []
    last: dict[str, float] = {}
    for now, (action, site) in enumerate(actions):
        if action == "a":
            added.append(Entry(site, now))
            frontier.add_entry(added[-1])
        elif action == "d" and out:
            frontier.finish_entry(out.pop())
        elif (entry := frontier.pop_entry(now / 2)) is not None:
            assert now / 2 - last.get(entry.site, -9.0) >= delay
            last[entry.site] = now / 2
            popped.append(entry)
            out.append(entry.site)
            assert out.count(entry.site) <= 2
    for name in out:
        frontier.finish_entry(name)
    now = 1000.0
    while (entry := frontier.pop_entry(now)) is not None:
        popped.append(entry)
        frontier.finish_entry(entry.site)
        now += delay
    assert sorted(popped) == sorted(added)


def test_a_cap_holds_from_now_on_and_for_its_site_only() -> None:
    frontier: Frontier[Entry] = made_frontier(concurrency=3)
    fill(frontier, a=5, b=5)
    assert frontier.pop_entry(0.0) == Entry("a", 0)
    frontier.limit_site("a", 1)
    out = [frontier.pop_entry(0.0) for _ in range(4)]
    assert out == [Entry("b", 0), Entry("b", 1), Entry("b", 2), None]
    frontier.finish_entry("a")
    assert frontier.pop_entry(0.0) == Entry("a", 1)
    assert frontier.next_at() is None


def test_a_withdrawn_site_is_empty_and_takes_new_entries() -> None:
    frontier: Frontier[Entry] = made_frontier(capacity=3)
    fill(frontier, a=5, b=1)
    assert frontier.withdraw_site("a") == [Entry("a", 0), Entry("a", 1), Entry("a", 2)]
    assert len(frontier) == 0
    assert frontier.hungry == {"b"}
    assert frontier.pop_entry(0.0) is None
    assert frontier.withdraw_site("nowhere") == []
    frontier.add_entry(Entry("a", 9))
    assert frontier.pop_entry(0.0) == Entry("a", 9)


# ---- turns that are taken for other requests (robots.txt)


def test_a_spent_turn_counts_and_the_entry_comes_first_again() -> None:
    frontier: Frontier[Entry] = made_frontier(delay=10.0, concurrency=1)
    fill(frontier, a=2, b=1)
    first = frontier.pop_entry(0.0)
    assert first == Entry("a", 0)
    frontier.spend_turn(first)
    assert frontier.pop_entry(0.0) == Entry("b", 0), "other sites go on"
    assert frontier.pop_entry(50.0) is None
    assert frontier.next_at() is None
    assert len(frontier) == 2
    frontier.resume_site("a")
    assert frontier.next_at() == 10.0
    assert frontier.pop_entry(9.9) is None
    assert frontier.pop_entry(10.0) == Entry("a", 0)


def test_entries_that_come_while_a_site_is_suspended_wait() -> None:
    frontier: Frontier[Entry] = made_frontier(concurrency=9)
    fill(frontier, a=1)
    entry = frontier.pop_entry(0.0)
    assert entry is not None
    frontier.spend_turn(entry)
    frontier.add_entry(Entry("a", 1))
    assert frontier.pop_entry(1.0) is None
    frontier.resume_site("a")
    assert [frontier.pop_entry(1.0), frontier.pop_entry(1.0)] == [Entry("a", 0), Entry("a", 1)]


def test_an_entry_that_is_given_back_is_not_asked_for_in_the_store_again() -> None:
    frontier: Frontier[Entry] = made_frontier(capacity=1)
    fill(frontier, a=2)
    entry = frontier.pop_entry(0.0)
    assert entry is not None
    assert frontier.hungry == {"a"}
    frontier.spend_turn(entry)
    assert frontier.hungry == set()
    frontier.resume_site("a")
    assert frontier.pop_entry(0.0) == Entry("a", 0)
    assert frontier.hungry == {"a"}


def test_a_claimed_turn_keeps_the_delay_before_and_after_it() -> None:
    frontier: Frontier[Entry] = made_frontier(delay=10.0)
    fill(frontier, a=2)
    assert frontier.pop_entry(0.0) == Entry("a", 0)
    assert frontier.claim_turn("a", 3.0) == 10.0
    assert frontier.claim_turn("a", 3.0) == 20.0
    assert frontier.pop_entry(29.9) is None
    assert frontier.pop_entry(30.0) == Entry("a", 1)
    assert frontier.claim_turn("new", 7.0) == 7.0


@pytest.mark.parametrize(
    ("own", "asked", "due"),
    [(1.0, 10.0, 10.0), (10.0, 1.0, 1.0), (0.0, 5.0, 5.0), (5.0, 0.0, 0.0)],
    ids=["longer", "shorter", "none of ours", "none asked"],
)
def test_fast_36_a_site_has_a_delay_of_its_own(own: float, asked: float, due: float) -> None:
    frontier: Frontier[Entry] = made_frontier(delay=own, concurrency=9)
    fill(frontier, a=2)
    entry = frontier.pop_entry(0.0)
    assert entry is not None
    frontier.spend_turn(entry)
    frontier.set_delay("a", asked)
    frontier.resume_site("a")
    assert (delay_of(frontier, "a"), delay_of(frontier, "b")) == (asked, own)
    if due:
        assert frontier.pop_entry(due - 0.1) is None
    assert frontier.pop_entry(due) == entry
    assert frontier.next_at() == due + asked


def test_a_site_that_is_held_stays_held_when_its_delay_changes() -> None:
    frontier: Frontier[Entry] = made_frontier(delay=1.0)
    fill(frontier, a=2)
    frontier.pop_entry(0.0)
    frontier.hold_site("a", 60.0)
    frontier.set_delay("a", 2.0)
    assert frontier.pop_entry(59.0) is None
    assert frontier.pop_entry(60.0) == Entry("a", 1)


def test_a_turn_without_a_request_is_given_back() -> None:
    frontier: Frontier[Entry] = made_frontier(delay=10.0, concurrency=1)
    fill(frontier, a=3)
    assert frontier.pop_entry(0.0) == Entry("a", 0)
    frontier.finish_entry("a")
    assert frontier.pop_entry(10.0) == Entry("a", 1)
    frontier.refund_turn("a")
    frontier.finish_entry("a")
    assert frontier.pop_entry(10.0) == Entry("a", 2)
    frontier.claim_turn("a", 10.0)
    frontier.refund_turn("a")
    assert frontier.claim_turn("a", 10.0) == 20.0, "only the latest turn comes back"


def test_a_suspended_site_that_was_withdrawn_gives_its_place_back_when_it_is_resumed() -> None:
    frontier: Frontier[Entry] = made_frontier(max_sites=1)
    fill(frontier, a=2, b=1)
    entry = frontier.pop_entry(0.0)
    assert entry == Entry("a", 0)
    frontier.spend_turn(entry)
    assert frontier.withdraw_site("a") == [Entry("a", 0), Entry("a", 1)]
    assert frontier.pop_entry(0.0) is None, "robots.txt of a is still being fetched"
    frontier.resume_site("a")
    assert frontier.pop_entry(0.0) == Entry("b", 0)


def test_an_entry_that_comes_first_wakes_a_site_that_had_nothing() -> None:
    frontier: Frontier[Entry] = made_frontier(delay=10.0)
    fill(frontier, a=1)
    assert frontier.pop_entry(0.0) == Entry("a", 0)
    frontier.finish_entry("a")
    frontier.add_first(Entry("a", 1))
    frontier.add_first(Entry("new", 0))
    assert frontier.pop_entry(0.0) == Entry("new", 0)
    assert frontier.next_at() == 10.0
    assert frontier.pop_entry(10.0) == Entry("a", 1)


@given(st.lists(st.tuples(st.sampled_from("asrcdw"), st.floats(0, 3)), max_size=80), st.floats(0.1, 2))
def test_starts_keep_the_delay_whatever_happens(steps: list[tuple[str, float]], delay: float) -> None:
    """Pop, spend, resume, claim, done and passing time in any order: two starts are never too close."""
    frontier: Frontier[Entry] = made_frontier(delay=delay, concurrency=3)
    fill(frontier, x=100)
    now, suspended, out = 0.0, False, 0
    starts: list[float] = []
    for step, seconds in steps:
        if step == "w":
            now += seconds
        elif step == "c":
            starts.append(frontier.claim_turn("x", now))
        elif step == "r" and suspended:
            frontier.resume_site("x")
            suspended = False
        elif step == "d" and out:
            frontier.finish_entry("x")
            out -= 1
        elif step in "as" and (entry := frontier.pop_entry(now)):
            assert not suspended
            starts.append(now)
            if step == "s":
                frontier.spend_turn(entry)
                suspended = True
            else:
                out += 1
    assert all(later - earlier >= delay - 1e-9 for earlier, later in pairwise(starts))
