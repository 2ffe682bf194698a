"""A few crawls at a time: turns, restarts and ends, with crawls that are none and a clock that leaps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from support.launching import Crawl, Launcher, settle

from ultracrawl.errors import WorkError
from ultracrawl.service.orders import CrawlEnd, CrawlOrder, Event, EventKind, EventStream
from ultracrawl.service.supervisor.pool import FIRST_RESTART_DELAY, CrawlPool


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
    def __init__(self, jobs: int = 2, restarts: int = 0, turn: float = float("inf")) -> None:
        self.launcher, self.clock, self.events = Launcher(), Leaping(), EventStream()
        self.seen = self.events.subscribe()
        self.completed: list[Crawl] = []
        self.pool = CrawlPool(
            self.launcher,
            self.clock,
            self.events,
            jobs=jobs,
            restarts=restarts,
            turn=turn,
            complete_dead=self.complete,
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
    assert [rest for rest in scene.clock.slept if rest < float("inf")] == [
        FIRST_RESTART_DELAY,
        2 * FIRST_RESTART_DELAY,
    ]
    assert scene.kinds().count(EventKind.CHILD_DIED) == 3


@played
async def test_more_places_are_given_at_once() -> None:
    scene = Scene(jobs=1)
    await scene.order("a", "b", "c")
    scene.pool.set_limits(2, float("inf"))
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
    assert (waits.source, waits.text) == ("b", "waits for a free slot; being crawled: a")
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
    scene.pool.crawls["a"].note_pause(paused=True)
    await settle()
    assert scene.launcher.names == ["a", "b"]


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
