"""Sites that do not answer take half of the places, whoever comes first."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st
from support.frontier import made_frontier

from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.frontier.reserve import SLOW_AFTER


class Entry(NamedTuple):
    site: str
    number: int = 0


def filled(slow: int | None, *sites: str, count: int = 3) -> Frontier[Entry]:
    frontier: Frontier[Entry] = made_frontier(slow=slow)
    for number in range(count):
        for site in sites:
            frontier.add_entry(Entry(site, number))
    return frontier


def popped(frontier: Frontier[Entry], now: float = 0.0) -> list[str]:
    found = []
    while (entry := frontier.pop_entry(now)) is not None:
        found.append(entry.site)
    return found


def test_sites_that_have_not_answered_share_their_places() -> None:
    assert popped(filled(3, "a", "b", "c", "d")) == ["a", "b", "c"]
    assert popped(filled(None, "a", "b", "c", "d")) == ["a", "b", "c", "d"] * 2


def test_where_many_places_are_taken_a_site_has_one() -> None:
    assert popped(filled(12, "a", "b", "c", "d")) == ["a", "b", "c", "d"]
    assert popped(filled(16, "a", "b")) == ["a", "b"] * 2


def test_a_site_that_answers_needs_no_place_of_theirs() -> None:
    frontier = filled(2, "a", "b", "c", count=9)
    assert popped(frontier) == ["a", "b"]
    frontier.note_answer("a")
    frontier.finish_entry("a")
    assert sorted(popped(frontier)) == ["a", "a", "c"]
    for _ in range(4):
        frontier.note_answer("a")
        frontier.finish_entry("a")
        assert popped(frontier) == ["a"]


def test_whoever_was_parked_goes_when_a_place_is_free() -> None:
    frontier = filled(1, "a", "b", count=1)
    assert popped(frontier) == ["a"]
    assert frontier.next_at() is None, "nothing but an answer can change that"
    frontier.note_failure("a")
    frontier.finish_entry("a")
    assert popped(frontier) == ["b"]


def test_as_many_parked_sites_may_go_as_there_are_free_places() -> None:
    frontier = filled(2, "a", "b", "c", "d", "e", count=1)
    assert popped(frontier) == ["a", "b"]
    frontier.note_failure("a")
    frontier.finish_entry("a")
    assert frontier.next_at() is not None
    entry = frontier.pop_entry(0.0)
    assert entry == Entry("c")
    assert frontier.next_at() is None, "the others stay parked: they are not looked at again"


def test_a_site_that_answers_has_all_its_requests() -> None:
    frontier = filled(1, "a", count=3)
    assert popped(frontier) == ["a"]
    frontier.note_answer("a")
    frontier.finish_entry("a")
    assert popped(frontier) == ["a", "a"]


def test_a_quick_site_that_falls_silent_is_a_slow_one() -> None:
    frontier = filled(2, "a", count=1)
    assert popped(frontier) == ["a"]
    frontier.note_answer("a")
    frontier.finish_entry("a")
    for number in range(2):
        frontier.add_entry(Entry("a", number))
    assert popped(frontier, 1.0) == ["a", "a"]
    for site in "bc":
        frontier.add_entry(Entry(site))
    assert popped(frontier, 1.0 + SLOW_AFTER / 2) == ["b", "c"]
    for site in "de":
        frontier.add_entry(Entry(site))
    for site in "bc":
        frontier.note_failure(site)
        frontier.finish_entry(site)
    assert popped(frontier, 1.0 + SLOW_AFTER) == [], "its two requests wait for too long by now"
    frontier.note_answer("a")
    assert popped(frontier, 1.0 + SLOW_AFTER) == ["d", "e"]


def test_robots_txt_holds_a_place_until_it_is_known_or_asked_for_later() -> None:
    frontier = filled(2, "a", "b", "c", "d", count=1)
    for _ in "ab":
        entry = frontier.pop_entry(0.0)
        assert entry is not None
        frontier.spend_turn(entry)
    assert popped(frontier) == []
    frontier.hold_site("a", 3600.0)
    assert popped(frontier) == ["c"], "a server that wants to be left alone holds no connection"
    frontier.resume_site("b")
    assert popped(frontier) == ["d"]
    frontier.resume_site("a")
    assert popped(frontier) == []


@given(
    slow=st.integers(1, 4),
    moves=st.lists(
        st.tuples(st.sampled_from(["answer", "fail", "robots", "known", "wait"]), st.integers(0, 5)),
        max_size=60,
    ),
)
def test_places_add_up_and_nothing_is_left_behind(slow: int, moves: list[tuple[str, int]]) -> None:
    sites = [f"s{number}" for number in range(6)]
    frontier = filled(slow, *sites, count=4)
    out: list[Entry] = []
    asking: list[str] = []
    now = 0.0

    def collect() -> None:
        while (entry := frontier.pop_entry(now)) is not None:
            out.append(entry)

    def end(entry: Entry, *, well: bool) -> None:
        if well:
            frontier.note_answer(entry.site)
        else:
            frontier.note_failure(entry.site)
        frontier.finish_entry(entry.site)

    collect()
    for move, which in moves:
        if move == "wait":
            now += 1.0
        elif move == "known" and asking:
            frontier.resume_site(asking.pop(which % len(asking)))
        elif move == "robots" and out:
            entry = out[which % len(out)]
            if entry.site not in asking:
                out.remove(entry)
                frontier.spend_turn(entry)
                asking.append(entry.site)
        elif move in ("answer", "fail") and out:
            end(out.pop(which % len(out)), well=move == "answer")
        collect()
        known = [site for name in sites if (site := frontier.site(name)) is not None]
        assert frontier._reserve.taken == sum(site.open_requests for site in known if not site.quick)
    for site in asking:
        frontier.resume_site(site)
    for _ in range(200):
        now += 1000.0
        collect()
        while out:
            end(out.pop(), well=False)
    assert len(frontier) == 0
    assert frontier._reserve.taken == 0


def test_a_site_that_answers_again_and_again_stays_quick() -> None:
    frontier = filled(1, "a", count=9)
    for _ in range(3):
        popped(frontier)
        frontier.note_answer("a")
        frontier.finish_entry("a")
    popped(frontier, SLOW_AFTER + 1)
    frontier.add_entry(Entry("b"))
    assert popped(frontier, SLOW_AFTER + 1) == ["b"], "the place of slow sites is free"
