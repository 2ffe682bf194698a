"""Who crawls: each decision of `pick` by a table, and what holds for all by properties; and the default number."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import ceil, inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.service.metrics.machine import available_bytes
from ultracrawl.service.supervisor import slots as slots_module
from ultracrawl.service.supervisor.slots import (
    MAX_SLOTS,
    MIN_SLOTS,
    ActiveCrawl,
    Picks,
    SlotLimits,
    WaitingOrder,
    default_slots,
    pick,
)

NOW = 10_000.0
LIMITS = SlotLimits(slots=2, starts=2, turn=900.0, lend_after=30.0)


def orders(*names: str) -> list[WaitingOrder]:
    """Return orders, of which the first has waited longest."""
    return [WaitingOrder(name, NOW - 10.0 + number) for number, name in enumerate(names)]


def busy(source: str, ran: float = 60.0) -> ActiveCrawl:
    return ActiveCrawl(source, NOW - ran, NOW)


def quiet(source: str, waited: float = 30.0, ran: float = 60.0) -> ActiveCrawl:
    return ActiveCrawl(source, NOW - ran, NOW - waited)


def lent(crawl: ActiveCrawl, since: float = 20.0) -> ActiveCrawl:
    return replace(crawl, lent=NOW - since)


def paused(crawl: ActiveCrawl) -> ActiveCrawl:
    return replace(crawl, paused=True)


def stopping(crawl: ActiveCrawl) -> ActiveCrawl:
    return replace(crawl, stopping=True)


def starting(source: str) -> ActiveCrawl:
    return replace(busy(source, 1.0), starting=True)


CASES: dict[str, tuple[list[WaitingOrder], list[ActiveCrawl], SlotLimits, Picks]] = {
    "nothing to do": ([], [], LIMITS, Picks()),
    "free slots": (orders("a"), [busy("x")], LIMITS, Picks(begin=("a",))),
    "first in, first out": (orders("b", "a", "c"), [], LIMITS, Picks(begin=("b", "a"))),
    "so many start at a time": (
        orders("a", "b", "c"),
        [starting("x")],
        replace(LIMITS, slots=9),
        Picks(begin=("a",)),
    ),
    "a slot stays free for one that only waits for its start": (
        orders("a"),
        [starting("x"), quiet("y"), busy("z", 9000.0)],
        replace(LIMITS, slots=4, starts=1),
        Picks(),
    ),
    "all are busy": (orders("a"), [busy("x"), busy("y")], LIMITS, Picks()),
    "nobody waits for the slot of a quiet one": ([], [quiet("x"), quiet("y", 900.0)], LIMITS, Picks()),
    "nobody waits for that of a paused one": ([], [paused(busy("x"))], LIMITS, Picks()),
    "one without answers lends": (
        orders("a"),
        [busy("x"), quiet("y")],
        LIMITS,
        Picks(begin=("a",), lend=("y",)),
    ),
    "one that had an answer a moment ago does not": (
        orders("a"),
        [busy("x"), quiet("y", 29.9)],
        LIMITS,
        Picks(),
    ),
    "as many lend as orders wait, the longest wait first": (
        orders("a"),
        [quiet("x", 40.0), quiet("y", 50.0)],
        LIMITS,
        Picks(begin=("a",), lend=("y",)),
    ),
    "a paused one lends at once, and first": (
        orders("a"),
        [quiet("x", 500.0), paused(busy("y"))],
        LIMITS,
        Picks(begin=("a",), lend=("y",)),
    ),
    "who lends does not wait for a start": (
        orders("a"),
        [quiet("x"), starting("y")],
        replace(LIMITS, starts=1),
        Picks(lend=("x",)),
    ),
    "one that starts does not lend": (
        orders("a"),
        [busy("x"), replace(starting("y"), answered=NOW - 99.0)],
        LIMITS,
        Picks(),
    ),
    "too many have lent: the first of them is stopped, and the next lends later": (
        orders("a"),
        [busy("x"), quiet("y"), lent(quiet("l1"), 50.0), lent(quiet("l2"), 60.0)],
        LIMITS,
        Picks(displaced=("l2",)),
    ),
    "one that is stopped already makes room soon": (
        orders("a"),
        [busy("x"), quiet("y"), lent(quiet("l1"), 50.0), stopping(lent(quiet("l2"), 10.0))],
        LIMITS,
        Picks(),
    ),
    "one that works again is stopped last": (
        orders("a"),
        [busy("x"), quiet("y"), lent(quiet("l1"), 50.0), lent(busy("l2"), 60.0)],
        LIMITS,
        Picks(displaced=("l1",)),
    ),
    "paused ones do not count, and are not stopped": (
        orders("a"),
        [busy("x"), quiet("y"), lent(paused(quiet("l1")), 70.0), lent(quiet("l2"), 60.0)],
        LIMITS,
        Picks(begin=("a",), lend=("y",)),
    ),
    "nobody is stopped though too many have lent, as nobody waits": (
        [],
        [quiet("x"), quiet("y"), *(lent(quiet(name)) for name in "abc")],
        LIMITS,
        Picks(),
    ),
    "an answer brings the slot back": ([], [lent(busy("l"))], LIMITS, Picks(take_back=("l",))),
    "before orders": (orders("a"), [busy("x"), lent(busy("l"))], LIMITS, Picks(take_back=("l",))),
    "but only a free one": ([], [busy("x"), busy("y"), lent(busy("l"))], LIMITS, Picks()),
    "the first of them first": (
        [],
        [busy("x"), lent(busy("l1", 60.0)), lent(busy("l2", 70.0))],
        LIMITS,
        Picks(take_back=("l2",)),
    ),
    "none for one that ends": ([], [stopping(lent(busy("l")))], LIMITS, Picks()),
    "a turn is over at any moment": (
        orders("a"),
        [busy("x", 900.0), busy("y")],
        LIMITS,
        Picks(turn_over=("x",)),
    ),
    "not a moment earlier": (orders("a"), [busy("x", 899.9), busy("y")], LIMITS, Picks()),
    "nor before it has started": (
        orders("a"),
        [busy("x"), replace(starting("y"), begun=NOW - 999.0)],
        LIMITS,
        Picks(),
    ),
    "nor while nobody waits": ([], [busy("x", 9000.0), busy("y", 9000.0)], LIMITS, Picks()),
    "as many as wait, the longest first": (
        orders("a"),
        [busy("x", 901.0), busy("y", 902.0)],
        LIMITS,
        Picks(turn_over=("y",)),
    ),
    "one is enough": (orders("a"), [busy("x", 950.0), stopping(busy("y", 951.0))], LIMITS, Picks()),
    "lending is enough": (
        orders("a"),
        [busy("x", 950.0), quiet("y", 40.0, 960.0)],
        LIMITS,
        Picks(begin=("a",), lend=("y",)),
    ),
    "one that works without a slot has its turn too": (
        orders("a"),
        [busy("x"), busy("y"), lent(busy("l", 950.0))],
        LIMITS,
        Picks(turn_over=("l",)),
    ),
    "and no slot again after that": (
        orders("a", "b"),
        [busy("x"), lent(busy("l", 950.0))],
        LIMITS,
        Picks(begin=("a",), turn_over=("l",)),
    ),
    "more had slots when the limit was lowered": (
        orders("a"),
        [busy("x"), busy("y"), busy("z")],
        LIMITS,
        Picks(),
    ),
}


def test_pick(subtests: pytest.Subtests) -> None:
    for case, (waiting, running, limits, expected) in CASES.items():
        with subtests.test(case):
            assert pick(waiting, running, NOW, limits) == expected
            assert pick(waiting[::-1], running[::-1], NOW, limits) == expected, (
                "the order of the arguments says nothing"
            )


# ---- what holds for all

ages = st.sampled_from([0.0, 1.0, 29.0, 30.0, 31.0, 899.0, 900.0, 5000.0])


@st.composite
def crawls(draw: st.DrawFn, name: str) -> ActiveCrawl:
    ran = draw(ages)
    return ActiveCrawl(
        name,
        NOW - ran,
        NOW - min(draw(ages), ran),
        draw(st.none() | st.just(NOW - min(draw(ages), ran))),
        starting=draw(st.booleans()),
        paused=draw(st.booleans()),
        stopping=draw(st.booleans()),
    )


limits = st.builds(
    SlotLimits,
    st.integers(1, 5),
    st.integers(1, 3),
    st.sampled_from([1.0, 900.0, inf]),
    st.just(30.0),
)
scenes = st.integers(0, 8).flatmap(lambda n: st.tuples(*(crawls(f"r{number}") for number in range(n))))


@given(scenes, st.integers(0, 6), limits)
def test_never_more_have_slots_than_there_are_and_nobody_is_stopped_for_nothing(
    running: tuple[ActiveCrawl, ...], waiting: int, limits: SlotLimits
) -> None:
    queue = [WaitingOrder(f"o{number}", NOW - number) for number in range(waiting)]
    picks = pick(queue, running, NOW, limits)
    had = {crawl.source for crawl in running if crawl.lent is None}
    has = had.difference(picks.lend) | {*picks.take_back, *picks.begin}
    assert len(has) <= max(limits.slots, len(had))
    assert sum(crawl.starting for crawl in running) + len(picks.begin) <= max(
        limits.starts, sum(crawl.starting for crawl in running)
    )
    assert list(picks.begin) == [f"o{number}" for number in range(waiting)][::-1][: len(picks.begin)]
    if len(picks.begin) == waiting:
        assert not picks.turn_over
        assert not picks.displaced
    if not waiting:
        assert not picks.lend
    counted = {crawl.source for crawl in running if crawl.lent is not None and not crawl.paused}
    pausing = {crawl.source for crawl in running if crawl.paused}
    after = counted.difference(picks.take_back) | set(picks.lend).difference(pausing)
    assert len(after) <= max(limits.slots, len(counted))
    assert not pausing.intersection(picks.stop)
    stopped = {crawl.source for crawl in running if crawl.stopping}
    assert not stopped.intersection(picks.stop), "it was told already"
    groups = [picks.lend, picks.take_back, picks.stop]
    assert len(set().union(*groups)) == sum(map(len, groups)), "one decision for each crawl"


@dataclass
class Behaviour:
    """A source: its crawls last so long (None: for ever), and have an answer every so many seconds."""

    lasts: float | None
    every: float = 1.0


@dataclass
class Fleet:
    """Sources that are ordered anew as soon as they have ended, in steps of a second."""

    sources: dict[str, Behaviour]
    limits: SlotLimits
    start: float = 2.0
    stop: float = 3.0
    now: float = 0.0
    queue: dict[str, float] = field(default_factory=dict)
    running: dict[str, ActiveCrawl] = field(default_factory=dict)
    gone: dict[str, float] = field(default_factory=dict)
    longest_wait: float = 0.0

    def step(self) -> None:
        self.now += 1.0
        for name, crawl in list(self.running.items()):
            behaviour, ran = self.sources[name], self.now - crawl.begun
            crawl = replace(crawl, starting=ran < self.start)  # noqa: PLW2901 - a value that is replaced
            answered = (
                crawl.begun + ran // behaviour.every * behaviour.every if behaviour.every < inf else 0.0
            )
            self.running[name] = replace(crawl, answered=max(crawl.answered, answered))
            ended = behaviour.lasts is not None and ran >= behaviour.lasts
            if ended or self.now >= self.gone.get(name, inf):
                del self.running[name]
                self.gone.pop(name, None)
                self.queue[name] = self.now
        for name in self.sources:
            if name not in self.running:
                self.queue.setdefault(name, self.now)
        waiting = [WaitingOrder(name, since) for name, since in self.queue.items()]
        picks = pick(waiting, list(self.running.values()), self.now, self.limits)
        for name in picks.begin:
            self.longest_wait = max(self.longest_wait, self.now - self.queue.pop(name))
            self.running[name] = ActiveCrawl(name, self.now, self.now, starting=True)
        for name in picks.lend:
            self.running[name] = replace(self.running[name], lent=self.now)
        for name in picks.take_back:
            self.running[name] = replace(self.running[name], lent=None)
        for name in picks.stop:
            self.running[name] = replace(self.running[name], stopping=True)
            self.gone[name] = self.now + self.stop
        self.longest_wait = max([self.longest_wait, *(self.now - since for since in self.queue.values())])
        assert sum(crawl.lent is None for crawl in self.running.values()) <= self.limits.slots
        assert sum(crawl.lent is not None for crawl in self.running.values()) <= self.limits.slots


behaviours = st.builds(
    Behaviour, st.sampled_from([None, 5.0, 40.0, 200.0]), st.sampled_from([1.0, 31.0, 45.0, inf])
)


@given(st.lists(behaviours, min_size=1, max_size=12), st.integers(1, 4), st.integers(1, 2))
def test_a_waiting_order_begins_in_time_whatever_the_others_do(
    sources: list[Behaviour], slots: int, starts: int
) -> None:
    turn, lend_after = 60.0, 30.0
    fleet = Fleet(
        {f"s{number}": one for number, one in enumerate(sources)},
        SlotLimits(slots, starts, turn, lend_after),
    )
    before = ceil(len(sources) / slots)
    bound = before * (turn + fleet.stop + 2.0) + len(sources) * (fleet.start + 1.0) / starts
    for _ in range(1200):
        fleet.step()
        assert fleet.longest_wait <= bound


def test_two_silent_and_two_endless_sources_keep_nobody_waiting_for_long() -> None:
    sources = {"silent1": Behaviour(None, inf), "silent2": Behaviour(None, inf)}
    sources |= {"trap1": Behaviour(None), "trap2": Behaviour(None)}
    sources |= {f"healthy{number}": Behaviour(5.0) for number in range(8)}
    fleet = Fleet(sources, SlotLimits(2, 2, turn=60.0, lend_after=30.0))
    for _ in range(3600):
        fleet.step()
    assert fleet.longest_wait < 3 * 60.0


# ---- the default

MEMINFO = "MemTotal:  64000000 kB\nMemFree:  1000 kB\nMemAvailable:  {} kB\n"


def machine(root: Path, kilobytes: int, **files: str) -> Path:
    """Make the files of a machine with so much available memory; the names of the others have `__` for `/`."""
    files["proc__meminfo"] = MEMINFO.format(kilobytes)
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("DOT", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("available", "slots"),
    [
        (None, MIN_SLOTS),
        (0, 8),
        (799_999_999, 8),
        (1_600_000_000, 16),
        (1_699_999_999, 16),
        (10**12, MAX_SLOTS),
    ],
)
def test_the_default_is_one_slot_for_each_100_megabytes(
    available: int | None, slots: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots_module, "available_bytes", lambda: available)
    assert default_slots.__wrapped__() == slots


def test_available_memory_is_that_of_the_machine(tmp_path: Path) -> None:
    assert available_bytes(machine(tmp_path, 3_000_000)) == 3_072_000_000
    assert available_bytes(tmp_path / "no machine") is None


def test_a_control_group_of_version_2_leaves_less(tmp_path: Path) -> None:
    group = "sys__fs__cgroup__system__crawlDOTservice__memory"
    files = {
        "proc__self__cgroup": "0::/system/crawl.service\n",
        f"{group}DOTmax": "2000000000\n",
        f"{group}DOTcurrent": "1500000000\n",
        f"{group}DOTstat": "anon 1\ninactive_file 500000000\nactive_file 3\n",
        "sys__fs__cgroup__system__memoryDOTmax": "max\n",
        "sys__fs__cgroup__system__memoryDOTcurrent": "1700000000\n",
    }
    assert available_bytes(machine(tmp_path, 3_000_000, **files)) == 1_000_000_000


def test_the_group_around_it_counts_too_and_one_of_version_1(tmp_path: Path) -> None:
    group = "sys__fs__cgroup__memory__memoryDOT"
    files = {
        "proc__self__cgroup": "4:memory:/docker/abc\n2:cpu:/docker/abc\n0::/\n",
        f"{group}limit_in_bytes": "1000000000\n",
        f"{group}usage_in_bytes": "900000000\n",
    }
    assert available_bytes(machine(tmp_path, 3_000_000, **files)) == 100_000_000
