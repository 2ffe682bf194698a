"""How a crawl takes orders: at most one look a second, and paused only when nothing is in flight."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from support.context import made_context

from ultracrawl.run.control.orders import ORDER_POLL_TICKS, CrawlControl
from ultracrawl.run.hooks import TICK_SECONDS, Feature
from ultracrawl.stores.control_channel import Command, ControlChannel, Phase, SiteWait


class FakePost:
    """Orders as a list; what was said as another."""

    def __init__(self, *orders: Command) -> None:
        self.orders = list(orders)
        self.looks = 0
        self.said: list[tuple[Phase, int]] = [(Phase.RUNNING, 0)]

    @property
    def phase(self) -> Phase:
        return self.said[-1][0]

    def publish_phase(self, phase: Phase, in_flight: int = 0) -> None:
        self.said.append((phase, in_flight))

    def publish_wait(self, wait: SiteWait | None) -> None:
        self.wait = wait

    def pop_order(self) -> Command | None:
        self.looks += 1
        return self.orders.pop(0) if self.orders else None


class Running:
    """A crawl with requests in flight that a test sets."""

    def __init__(self) -> None:
        self.in_flight = 0
        self.done: list[str] = []
        writer = SimpleNamespace(
            sync=lambda: self.done.append("flush"), drain=lambda: self.done.append("drain")
        )
        self.context = made_context(
            documents=SimpleNamespace(writer=writer), store=SimpleNamespace(flush=lambda: None)
        )


def control_of(crawl: Running, post: FakePost) -> CrawlControl:
    control = CrawlControl(crawl.context, lambda: crawl.in_flight)
    control.open(cast("ControlChannel", post))
    return control


def second(control: CrawlControl) -> None:
    for _ in range(ORDER_POLL_TICKS):
        control.tick()


def test_orders_are_looked_for_once_a_second_at_most() -> None:
    post = FakePost()
    control = control_of(Running(), post)
    for _ in range(100):
        control.tick()
    assert post.looks <= 100 * TICK_SECONDS


def test_what_a_crawl_waits_for_is_said_and_no_more_at_its_end() -> None:
    crawl, post = Running(), FakePost()
    control = control_of(crawl, post)
    crawl.context.run.wait = SiteWait("h.test", "refused", 60.0)
    second(control)
    assert post.wait == crawl.context.run.wait
    control.publish_ending(interrupted=False)
    assert post.wait is None


def test_paused_is_said_when_nothing_is_in_flight__portal_robot_133() -> None:
    crawl, post = Running(), FakePost(Command.PAUSE)
    crawl.in_flight = 2
    control = control_of(crawl, post)
    second(control)
    assert control.paused
    assert post.said[-1] == (Phase.PAUSING, 2)
    crawl.in_flight = 1
    control.tick()
    assert post.said[-1] == (Phase.PAUSING, 1)
    assert crawl.done == []
    crawl.in_flight = 0
    control.tick()
    assert post.said[-1] == (Phase.PAUSED, 0)
    assert crawl.done == ["flush", "drain"], "what was fetched is indexed meanwhile"
    control.tick()
    assert crawl.done == ["flush", "drain"], "once"


def test_resume_wakes_whoever_hands_out_requests__portal_robot_133() -> None:
    crawl, post = Running(), FakePost(Command.PAUSE, Command.RESUME)
    control = control_of(crawl, post)
    woken: list[int] = []
    crawl.context.hooks.call(Feature.resumed, lambda: woken.append(1))
    second(control)
    control.tick()
    assert (control.paused, woken) == (True, [])
    second(control)
    assert (control.paused, woken, post.phase) == (False, [1], Phase.RUNNING)


def test_without_a_post_nothing_is_looked_for() -> None:
    control = CrawlControl(made_context(), lambda: 0)
    control.open(None)
    second(control)
    control.publish_ending(interrupted=False)
    control.close()
    assert not control.paused
