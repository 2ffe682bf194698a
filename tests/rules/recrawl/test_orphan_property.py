"""No document is given up while a page that may still lead to it was not read: random link graphs with failures."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.recrawl.cycle import CycleRule, RefreshMode
from ultracrawl.rules.recrawl.orphans import provable_orphans
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.removal.orphans import OrphanSweeper
from ultracrawl.sources import DataSource
from ultracrawl.stores import QueueEntry, QueueStart, SqliteStore

PAGES = 7
URLS = [f"http://a.example/{number}" for number in range(PAGES)]
KEYS = [url_key(url) for url in URLS]

links = st.frozensets(st.integers(0, PAGES - 1), max_size=3)
graph = st.tuples(*[links] * PAGES)
fates = st.tuples(*[st.sampled_from(["ok", "ok", "ok", "unchanged", "error", "gone"])] * PAGES)
lives = st.lists(st.tuples(graph, fates), min_size=3, max_size=7)


@dataclass
class Life:
    """A crawl of a small site without network: page 0 is the start URL."""

    state: SqliteStore
    keeper: OrphanSweeper
    read: dict[int, frozenset[int]] = field(default_factory=dict)
    """What each page led to when it was read last, without the pages that are gone."""
    removed: list[int] = field(default_factory=list)
    fetched: set[int] = field(default_factory=set)

    def cycle(self, number: int, pages: tuple[frozenset[int], ...], fate: tuple[str, ...]) -> None:
        run, _ = self.state.begin_run(float(number), "s", QueueStart(CycleRule(RefreshMode.SCRATCH)))
        self.removed, self.fetched = [], set()
        queue = [0]
        if KEYS[0] in self.state.records.known_urls([KEYS[0]]):
            self.state.visits.note_met([KEYS[0]])
        while queue:
            page = queue.pop()
            queue += self.visit(page, pages[page], fate[page], float(number))
            if not queue:
                queue += self.sweep()
        self.state.end_run(replace(run, finished=float(number)))

    def visit(self, page: int, targets: frozenset[int], fate: str, now: float) -> Iterator[int]:
        self.fetched.add(page)
        key = KEYS[page]
        known = self.state.records.get_record(key) or UrlRecord(URLS[page], "s")
        outcome = UrlOutcome.MODIFIED
        if fate == "unchanged" and page in self.read:
            outcome, targets = UrlOutcome.NOT_MODIFIED, self.read[page]
        elif fate == "error":
            outcome, targets = UrlOutcome.HTTP_ERROR, frozenset()
        elif fate == "gone":
            outcome, targets = UrlOutcome.GONE, frozenset()
        record = replace(known, outcome=outcome, last_fetched=now)
        if outcome is not UrlOutcome.HTTP_ERROR:
            self.read[page] = targets
            stored = array("q", [KEYS[target] for target in sorted(targets)]).tobytes()
            record = replace(record, links=stored, indexed=outcome is not UrlOutcome.GONE)
        self.state.records.finish_url(
            QueueEntry(key, URLS[page], "a", 1, self.state.queue.next_seq()), record
        )
        self.state.visits.note_seen([key])
        self.state.flush()
        return self.lead_to(targets, now)

    def lead_to(self, targets: frozenset[int], now: float) -> Iterator[int]:
        known = self.state.records.known_urls([KEYS[target] for target in targets])
        for target in sorted(targets):
            if KEYS[target] not in known:
                entry = QueueEntry(KEYS[target], URLS[target], "a", 1, self.state.queue.next_seq())
                self.state.records.discover_url(entry, now)
                yield target
        for one in self.state.visits.note_met(list(known)):
            yield KEYS.index(one.key)

    def sweep(self) -> list[int]:
        sweep = self.keeper.sweep()
        self.removed += [KEYS.index(one.key) for one in (*sweep.remove, *sweep.forget)]
        self.state.drop_urls([one.key for one in (*sweep.remove, *sweep.forget)])
        for page in self.removed:
            self.read.pop(page, None)
        self.state.visits.note_seen([one.key for one in sweep.ask])
        return [KEYS.index(one.key) for one in sweep.ask]


def live(delete: bool, after: int, cycles: list) -> Iterator[tuple[Life, dict[int, frozenset[int]]]]:
    """Go through the cycles; yields after each, with what each page had led to before removals."""
    orphans = {"after": after, "delete": delete}
    source = DataSource(name="s", start_urls=[URLS[0]], refresh={"mode": "scratch"}, orphans=orphans)
    state = SqliteStore(":memory:", "s")
    life = Life(state, OrphanSweeper(state, source, (URLS[0],)))
    for number, (pages, fate) in enumerate(cycles, 1):
        before = dict(life.read)
        life.cycle(number, pages, fate)
        yield life, {**before, **life.read}
    state.close()


@settings(max_examples=80)
@given(after=st.integers(1, 3), cycles=lives)
def test_fast_64_no_document_leaves_while_a_page_that_led_to_it_was_not_read(
    after: int, cycles: list
) -> None:
    for life, led in live(True, after, cycles):
        for gone in life.removed:
            assert gone not in life.fetched
            for page, targets in led.items():
                if gone in targets and page not in life.removed and page != gone:
                    assert page in life.fetched, f"{page} was not read, and led to {gone}"
                    assert gone not in life.read.get(page, frozenset())


@settings(max_examples=60)
@given(after=st.integers(1, 3), cycles=lives)
def test_fast_63_without_delete_no_document_leaves_unasked(after: int, cycles: list) -> None:
    before: set[str] = set()
    for life, _ in live(False, after, cycles):
        documents = {record.url for record in life.state.records.all_records() if record.indexed}
        left = before - documents
        assert left <= {URLS[page] for page in life.fetched}
        before = documents


def test_fast_64_the_simulated_life_does_delete_orphans() -> None:
    """The properties above are not empty: an orphan leaves as soon as its hub was read without it."""
    none = frozenset[int]()
    before = (frozenset({1}), frozenset({2}), frozenset({3}), none, none, none, none)
    after = (frozenset({1}), none, *before[2:])
    ok, failing = ("ok",) * PAGES, ("ok", "error", *["ok"] * (PAGES - 2))
    removed = [
        set(life.removed) for life, _ in live(True, 2, [(before, ok), (after, failing), *[(after, ok)] * 2])
    ]
    assert removed == [set(), set(), {2, 3}, set()]
    removed = [set(life.removed) for life, _ in live(True, 2, [(before, ok), *[(after, failing)] * 3])]
    assert removed == [set()] * 4, "the hub was never read again"


def stored(*numbers: int) -> bytes:
    return array("q", numbers).tobytes()


@pytest.mark.parametrize(
    ("unseen", "pages", "proven"),
    [
        pytest.param({2}, [(1, stored(3))], {2}, id="nothing links to it"),
        pytest.param({2}, [(1, stored(2))], set(), id="a page that was not read still links to it"),
        pytest.param({2, 3}, [(2, stored(3)), (3, stored(2))], {2, 3}, id="two that link to each other only"),
        pytest.param(
            {2, 3}, [(2, stored(3)), (3, stored(2)), (1, stored(2))], set(), id="one of them is held"
        ),
        pytest.param({2, 3}, [(2, stored(3)), (1, stored(3))], {2}, id="only what is below the failed hub"),
        pytest.param({2}, [(2, stored(2))], {2}, id="a link to itself is none"),
        pytest.param({2}, [], {2}, id="no page has links"),
    ],
)
def test_fast_64_provable_orphans(unseen: set[int], pages: list, proven: set[int]) -> None:
    assert provable_orphans(unseen, pages) == proven
