"""Crawler traps beside honest sites of the same look: the ones are bounded, the others lose no page."""

from __future__ import annotations

import re
from itertools import islice

import pytest
from support.trap_sites import HONEST, HOST, TRAPS, chain, everything, played, reachable

from ultracrawl.rules.candidates import traps as module
from ultracrawl.rules.candidates.traps import TrapPatterns
from ultracrawl.rules.duplicates.marks import Marks, marks_of
from ultracrawl.rules.urls.patterns import url_patterns

DEFAULT = 100
"""The default of `limits.trap_pages`."""
NOTHING = Marks()


def by_default() -> TrapPatterns:
    return TrapPatterns(lambda _: DEFAULT)


@pytest.mark.parametrize("name", TRAPS)
def test_each_kind_of_trap_ends(name: str) -> None:
    crawl = played(by_default(), *TRAPS[name])
    assert crawl.bounded_after
    assert len(crawl.pages) < 5000


@pytest.mark.parametrize("name", HONEST)
@pytest.mark.parametrize("lot", [None, 1])
def test_an_honest_site_loses_no_page(name: str, lot: int | None) -> None:
    crawl = played(by_default(), *HONEST[name], lot=lot)
    assert not crawl.bounded_after
    assert set(crawl.pages) == set(reachable(*HONEST[name]))


@pytest.mark.parametrize("lot", [None, 1])
def test_ten_traps_beside_twenty_honest_sites_on_one_host(lot: int | None) -> None:
    crawl = played(by_default(), "/", everything, lot=lot)
    honest = {page for start, maker in HONEST.values() for page in reachable(start, maker)}
    assert honest <= set(crawl.pages)
    assert {re.split("[/?#]", pattern.strip("/*"))[0] for pattern in crawl.bounded_after} >= {
        "cal", "calendar", "shop", "entries", "maze", "house", "search", "login",
    }  # fmt: skip
    wasted = [
        page
        for number, page in enumerate(crawl.pages)
        if any(
            crawl.bounded_after.get(one.text.removeprefix(HOST), number + 1) <= number
            for one in url_patterns(HOST + page)
        )
    ]
    assert len(wasted) <= 0.02 * len(crawl.pages)


def page_of_calendar(patterns: TrapPatterns, number: int, words: Marks = NOTHING) -> None:
    at = "http://h/cal?month="
    patterns.note_link(f"{at}{number + 1}", "h", f"{at}{number}")
    patterns.note_page(f"{at}{number}", "h", words, float(number))


def bounded_calendar(limit: int = 20) -> TrapPatterns:
    patterns = TrapPatterns(lambda _: limit)
    for number in range(2 * limit):
        page_of_calendar(patterns, number)
    return patterns


def test_a_pattern_is_slow_first_and_then_bounded() -> None:
    patterns = TrapPatterns(lambda _: 20)
    stages = []
    for number in range(26):
        page_of_calendar(patterns, number)
        stages.append((patterns.slowing("http://h/cal?month=99"), patterns.bounding("http://h/cal?month=99")))
    slow, bounded = ("http://h/cal?month=*", ""), ("", "http://h/cal?month=*")
    assert list(dict.fromkeys(stages))[:2] == [("", ""), slow]
    assert stages[-1] == ("http://h/cal?*", bounded[1])
    assert not patterns.bounding("http://h/calendar")
    assert not patterns.bounding("http://h/cal?event=3")


def test_what_does_not_grow_is_no_trap() -> None:
    patterns = TrapPatterns(lambda _: 20)
    for number in range(200):
        patterns.note_page(f"http://h/scan/{number}.pdf", "h", NOTHING, 1.0)
    assert not patterns.suspects


def test_pages_that_differ_by_numbers_only_are_slow_but_not_bounded() -> None:
    patterns = TrapPatterns(lambda _: 20)
    start, maker = "/part/0", chain("/part/", 300, lambda number: f"Part {number * 7919 + 100_000}")
    assert len(played(patterns, start, maker).pages) == 300
    assert not any(one.bounded for one in patterns.traps())


def test_what_is_remembered_goes_on_where_it_was() -> None:
    one = TrapPatterns(lambda _: 20)
    for number in range(15):
        page_of_calendar(one, number)
    other = TrapPatterns(lambda _: 20, remembered=one.as_rows())
    for number in range(15, 25):
        page_of_calendar(one, number)
        page_of_calendar(other, number)
    assert list(one.traps()) == list(other.traps())
    assert [trap.pattern for trap in other.traps() if trap.bounded] == ["http://h/cal?month=*"]
    assert TrapPatterns(lambda _: 20, remembered=other.as_rows()).as_rows() == other.as_rows()


def test_an_allowed_pattern_is_no_trap_and_a_higher_limit_asks_for_more() -> None:
    rows = bounded_calendar().as_rows()
    url = "http://h/cal?month=99"
    assert TrapPatterns(lambda _: 20, remembered=rows).bounding(url)
    assert not TrapPatterns(lambda _: 20, ["http://h/cal?month=*"], rows).bounding(url)
    assert not TrapPatterns(lambda _: 50, remembered=rows).bounding(url)
    assert not TrapPatterns(lambda _: None, remembered=rows).suspects


def test_new_content_frees_a_pattern() -> None:
    patterns = bounded_calendar()
    for number, text in enumerate(("an exhibition of herons", "the concert in spring")):
        page_of_calendar(patterns, 900 + number, marks_of(text))
    assert not any(trap.bounded for trap in patterns.traps())


def test_a_well_known_pattern_is_not_bounded_by_a_wider_one() -> None:
    patterns = TrapPatterns(lambda _: 20)
    for number, text in enumerate(("herons", "storks", "cranes")):
        patterns.note_page(f"http://h/x?bird={number}", "h", marks_of(text), 1.0)
    for number in range(40):
        here, there = (
            f"http://h/x?{'abcdefghijklmnopqrst'[one % 20]}a=1&z={one}" for one in (number, number + 1)
        )
        patterns.note_link(there, "h", here)
        patterns.note_page(here, "h", NOTHING, 1.0)
    assert patterns.bounding("http://h/x?new=1&z=1")
    assert not patterns.bounding("http://h/x?bird=9")


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PATTERNS", 50)
    monkeypatch.setattr(module, "MAX_MARKS", 50)
    patterns = bounded_calendar()
    for number in range(400):
        name = "".join(chr(97 + int(digit)) for digit in str(number))
        patterns.note_page(f"http://h/{name}/x", "h", NOTHING, 1.0)
        patterns.note_page(f"http://{name}/y", name, marks_of(f"word {name}"), 1.0)
    assert len(patterns._tallies) <= 50
    assert sum(map(len, patterns._seen.values())) <= 60
    assert patterns.bounding("http://h/cal?month=99")
    assert len(list(islice(patterns.traps(), 60))) <= 50
