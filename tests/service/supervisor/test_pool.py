"""A few crawls at a time: turns, restarts and ends, with crawls that are none and a clock that leaps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from math import inf
from typing import Any

import pytest
from support.launching import Crawl, Launcher, settle
from support.sentences import sentence

from ultracrawl.errors import WorkError
from ultracrawl.service.orders import CrawlEnd, CrawlOrder, CrawlProgress, Event, EventKind, EventStream
from ultracrawl.service.supervisor.pool import FIRST_RESTART_DELAY, MAX_START, CrawlPool
from ultracrawl.service.supervisor.slots import LEND_AFTER, SlotLimits


class Leaping:
    """A clock whose waits are over as soon as nobody has anything else to do."""

    def __init__(self) -> None:
        self.time = 0.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        for _ in range(50):
            await asyncio.sleep(0)
        self.slept.append(seconds)
        self.time += seconds


class Scene:
    def __init__(self, jobs: int = 2, restarts: int = 0, turn: float = inf, starts: int = 9) -> None:
        self.launcher, self.clock, self.events = Launcher(), Leaping(), EventStream()
        self.seen = self.events.subscribe()
        self.completed: list[Crawl] = []
        self.told_waiting: list[list[str]] = []
        self.launcher.complete_dead = self.complete
        self.pool = CrawlPool(
            self.launcher,
            self.clock,
            self.events,
            limits=SlotLimits(jobs, starts, turn),
            restarts=restarts,
            waiting_changed=lambda sources: self.told_waiting.append(list(sources)),
        )

    async def complete(self, order: CrawlOrder, death: str) -> Crawl:
        assert death == "was killed"
        self.completed.append(Crawl(order))
        return self.completed[-1]

    async def order(self, *names: str) -> list[asyncio.Task[CrawlEnd]]:
        crawls = [await self.pool.launch(CrawlOrder(name)) for name in names]
        ends = [asyncio.ensure_future(crawl.finished()) for crawl in crawls]
        await settle()
        return ends

    async def until_begun(self, *names: str) -> None:
        """Let time go by until these have begun, each time they did."""
        while self.launcher.names != list(names):
            assert self.launcher.names == list(names)[: len(self.launcher.names)]
            await asyncio.sleep(0)

    def heard(self) -> list[Event]:
        waiting = self.seen._queue
        return [waiting.get_nowait() for _ in range(waiting.qsize())]

    def kinds(self) -> list[EventKind]:
        return [event.kind for event in self.heard()]


def played(scene: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    def test() -> None:
        asyncio.run(scene())

    test.__name__ = scene.__name__
    return test


@played
async def test_so_many_crawl_at_a_time_and_the_others_in_the_order_in_which_they_came() -> None:
    scene = Scene(jobs=2)
    ends = await scene.order("a", "b", "c", "d")
    assert scene.launcher.names == ["a", "b"]
    scene.launcher.launched[1].finish()
    await settle()
    assert scene.launcher.names == ["a", "b", "c"]
    for crawl in scene.launcher.launched:
        crawl.finish()
    await settle()
    scene.launcher.launched[-1].finish()
    assert [(await end).failed for end in ends] == [False] * 4
    assert not scene.pool.crawls


@played
async def test_a_source_is_not_crawled_twice_at_a_time() -> None:
    scene = Scene()
    await scene.order("a")
    with pytest.raises(WorkError, match="crawled already"):
        await scene.pool.launch(CrawlOrder("a"))
    scene.launcher.launched[0].finish()
    await settle()
    await scene.order("a")
    assert scene.launcher.names == ["a", "a"]


@played
async def test_one_that_died_is_begun_again_later_each_time_and_then_given_up() -> None:
    scene = Scene(restarts=2)
    (end,) = await scene.order("a")
    for number in range(3):
        while len(scene.launcher.launched) == number:
            await asyncio.sleep(0)
        assert not scene.completed
        scene.launcher.launched[number].die()
    while not scene.completed:
        await asyncio.sleep(0)
    await settle()
    assert not end.done(), "what the source wants done then is not done"
    scene.completed[0].finish()
    assert (await end).died
    assert scene.clock.slept == [FIRST_RESTART_DELAY, 2 * FIRST_RESTART_DELAY]
    assert scene.kinds().count(EventKind.CHILD_DIED) == 3


@played
async def test_more_places_are_given_at_once() -> None:
    scene = Scene(jobs=1)
    await scene.order("a", "b", "c")
    scene.pool.set_limits(SlotLimits(2, 9))
    await settle()
    assert scene.launcher.names == ["a", "b"]
    await scene.pool.kill_crawls()


@played
async def test_while_one_rests_another_has_its_place() -> None:
    scene = Scene(jobs=1, restarts=5)
    hold = asyncio.Event()

    async def sleep(seconds: float) -> None:
        await hold.wait()

    scene.clock.sleep = sleep  # type: ignore[method-assign]
    await scene.order("a", "b")
    scene.launcher.launched[0].die()
    await settle()
    assert scene.launcher.names == ["a", "b"]
    assert scene.pool.crawls["a"].awaits_restart
    hold.set()
    scene.launcher.launched[1].finish()
    await settle()
    assert scene.launcher.names == ["a", "b", "a"]


@played
async def test_one_that_is_begun_again_and_waits_for_others_says_so() -> None:
    scene = Scene(jobs=1, restarts=5)
    await scene.order("a", "b")
    (waits,) = (one for one in scene.heard() if one.kind is EventKind.RUN_WAITS)
    assert (waits.source, waits.text) == ("b", sentence("supervisor.waits_while_a_is_crawled"))
    scene.launcher.launched[0].die()
    while scene.pool.waiting != ["a"]:
        await asyncio.sleep(0)
    assert [one.source for one in scene.heard() if one.kind is EventKind.RUN_WAITS] == ["a"]
    scene.launcher.launched[1].finish()
    await settle()
    assert not scene.pool.waiting
    assert EventKind.RUN_WAITS not in scene.kinds()


@played
async def test_one_that_rests_ends_at_once_when_it_is_stopped() -> None:
    scene = Scene(restarts=5)

    async def sleep(seconds: float) -> None:
        await asyncio.Event().wait()

    scene.clock.sleep = sleep  # type: ignore[method-assign]
    (end,) = await scene.order("a")
    scene.launcher.launched[0].die()
    await settle()
    await scene.pool.drain()
    assert (await end).died


@played
async def test_what_is_done_after_a_death_ends_with_the_service() -> None:
    scene = Scene()
    (end,) = await scene.order("a")
    scene.launcher.launched[0].die()
    while not scene.completed:
        await asyncio.sleep(0)
    await scene.pool.kill_crawls()
    assert (await end).died
    assert not scene.pool.crawls


@played
async def test_who_lasts_long_makes_room_and_goes_on_later() -> None:
    scene = Scene(jobs=1, turn=900.0)
    ends = await scene.order("long", "short")
    while scene.launcher.names != ["long", "short"]:
        await asyncio.sleep(0)
    assert not ends[0].done(), "the run goes on later, so it is not over"
    scene.launcher.launched[1].finish()
    while scene.launcher.names != ["long", "short", "long"]:
        await asyncio.sleep(0)
    scene.launcher.launched[2].finish()
    assert not (await ends[0]).failed


@played
async def test_whose_turn_is_over_before_it_has_begun_goes_on_later_too() -> None:
    scene = Scene(jobs=1, turn=900.0)
    ends = await scene.order("slow", "short")
    scene.launcher.launched[0].starting = True
    while scene.launcher.names != ["slow", "short"]:
        await asyncio.sleep(0)
    assert not ends[0].done(), "nobody wanted it to end"
    scene.launcher.launched[1].finish()
    while scene.launcher.names != ["slow", "short", "slow"]:
        await asyncio.sleep(0)
    scene.launcher.launched[2].finish()
    assert not (await ends[0]).failed


@played
async def test_one_that_is_paused_leaves_its_place() -> None:
    scene = Scene(jobs=1)
    await scene.order("a", "b")
    scene.launcher.launched[0].progress = CrawlProgress("1", paused=True)
    await scene.until_begun("a", "b")


@played
async def test_one_without_answers_lends_its_place_and_goes_on() -> None:
    scene = Scene(jobs=1)
    ends = await scene.order("silent", "b", "c")
    scene.launcher.launched[0].progress = CrawlProgress("1", quiet=LEND_AFTER)
    await scene.until_begun("silent", "b")
    assert scene.pool.waiting == ["c"]
    scene.launcher.launched[0].progress = CrawlProgress("1", quiet=0.0)
    scene.launcher.launched[1].finish()
    await settle()
    assert scene.pool.waiting == ["c"], "it has an answer, and its place again"
    scene.launcher.launched[0].finish()
    await scene.until_begun("silent", "b", "c")
    assert ends[0].done()


@played
async def test_too_many_that_lend_make_the_first_of_them_wait_for_its_next_turn() -> None:
    scene = Scene(jobs=1)
    ends = await scene.order("silent", "deaf", "c")
    for number, names in enumerate((["silent", "deaf"], ["silent", "deaf", "c"])):
        scene.launcher.launched[number].progress = CrawlProgress("1", quiet=LEND_AFTER)
        await scene.until_begun(*names)
    assert scene.pool.waiting == ["silent"]
    assert not any(end.done() for end in ends), "nobody wanted it to end"
    assert scene.kinds().count(EventKind.RUN_FAILED) == 0
    scene.launcher.launched[2].finish()
    await scene.until_begun("silent", "deaf", "c", "silent")


@played
async def test_only_so_many_start_at_a_time_unless_one_takes_too_long() -> None:
    scene = Scene(jobs=3, starts=1)
    scene.launcher.starting = True
    await scene.order("a", "b", "c")
    assert scene.launcher.names == ["a"]
    scene.launcher.launched[0].progress = CrawlProgress("1")
    await scene.until_begun("a", "b")
    begun = scene.clock.time
    await scene.until_begun("a", "b", "c")
    assert scene.clock.time - begun >= MAX_START - 1
    assert EventKind.RUN_WAITS not in scene.kinds(), "there is a place for each"


@played
async def test_a_turn_ends_as_soon_as_somebody_waits() -> None:
    scene = Scene(jobs=1, turn=900.0)
    await scene.order("long")
    scene.clock.time += 901.0
    begun = scene.clock.time
    await scene.order("short")
    assert scene.launcher.names == ["long", "short"]
    assert scene.clock.time == begun


@played
async def test_a_turn_begins_when_its_crawl_has_started() -> None:
    scene = Scene(jobs=1, turn=60.0)
    await scene.order("slow")
    scene.launcher.launched[0].progress = CrawlProgress("1", start=5.0)
    scene.clock.time += 61.0
    await scene.order("short")
    assert scene.launcher.names == ["slow"]
    scene.clock.time += 4.0
    await scene.until_begun("slow", "short")


@played
async def test_a_clock_that_is_set_back_prolongs_no_turn() -> None:
    scene = Scene(jobs=1, turn=60.0)
    await scene.order("long")
    scene.clock.time -= 172_800.0
    await scene.order("short")
    scene.clock.time += 61.0
    await scene.until_begun("long", "short")


@played
async def test_who_waits_is_notified_of_every_change() -> None:
    scene = Scene(jobs=1, turn=900.0)
    await scene.order("a", "b")
    assert scene.told_waiting == [["b"]]
    scene.clock.time += 901.0
    await scene.until_begun("a", "b")
    await settle()
    assert scene.told_waiting == [["b"], [], ["a"]], "also after its turn"
    scene.launcher.launched[1].finish()
    await settle()
    assert scene.told_waiting[-1] == []


@played
async def test_an_order_that_waits_can_be_withdrawn_and_a_crawl_cannot() -> None:
    scene = Scene(jobs=1, restarts=5)
    ends = await scene.order("a", "b")
    scene.pool.withdraw("a")
    scene.pool.withdraw("b")
    scene.pool.withdraw("nobody")
    await settle()
    assert (ends[0].done(), ends[1].done()) == (False, True)
    scene.launcher.launched[0].finish()
    await settle()
    assert scene.launcher.names == ["a"]


@played
async def test_one_that_has_opened_nothing_yet_is_withdrawn_too() -> None:
    scene = Scene()
    scene.launcher.starting = True
    (end,) = await scene.order("a")
    scene.pool.withdraw("a")
    assert (await end).report is None


@played
async def test_a_drain_ends_those_that_wait_at_once() -> None:
    scene = Scene(jobs=1)
    ends = await scene.order("a", "b")
    await scene.pool.drain()
    results = [await end for end in ends]
    assert scene.launcher.names == ["a"]
    assert results[0].report is not None
    assert results[0].report.interrupted
    assert results[1].report is None


@played
async def test_whoever_looks_on_hears_of_it() -> None:
    scene = Scene()
    await scene.order("a")
    scene.launcher.launched[0].finish()
    await settle()
    assert scene.kinds() == [EventKind.RUN_BEGAN, EventKind.RUN_ENDED]
