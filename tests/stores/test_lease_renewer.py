"""Leases outlast a loop that is held up, and end with one that hangs for ever; times are told, not waited for."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from ultracrawl.errors import StateError
from ultracrawl.stores import lease_renewer
from ultracrawl.stores.lease_renewer import (
    LATE_SECONDS,
    LEAST_SILENCE,
    LeaseRenewer,
    LoopPulse,
    longest_silence,
)
from ultracrawl.system.wall_guard import wall_limit


class Held:
    """A lease of which a test says how old it is, and what its store does."""

    def __init__(self, age: float, error: Exception | None = None) -> None:
        self.age, self.error = age, error
        self.done: list[str] = []

    def lease_age(self) -> float:
        return self.age

    def renew_beside(self) -> None:
        self.done.append("renewed")
        if self.error is not None:
            raise self.error

    def end_beside(self) -> None:
        self.done.append("ended")


class Loop:
    """A loop that answers when a test lets it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.asked: list[Callable[[], None]] = []
        self.pulse = LoopPulse(self.asked.append, 600.0, lambda: self.now)

    def go_on(self) -> None:
        asked, self.asked[:] = list(self.asked), []
        for answer in asked:
            answer()


def test_a_loop_lives_as_long_as_it_answers_in_time() -> None:
    loop = Loop()
    for _ in range(3):
        assert loop.pulse.lives()
        loop.now += 599.0
        assert loop.pulse.lives()
        assert len(loop.asked) == 1, "it is asked once"
        loop.go_on()
        loop.now += 10_000.0  # nobody asks
    assert loop.pulse.lives()
    loop.now += 601.0
    assert not loop.pulse.lives()
    loop.go_on()
    assert loop.pulse.lives()


def test_a_closed_loop_does_not_live() -> None:
    def closed(_: object) -> None:
        raise RuntimeError

    assert not LoopPulse(closed, 600.0).lives()


@pytest.mark.parametrize("timeout", [0.5, 10.0, 600.0])
def test_a_function_of_a_filter_may_take_its_limit(timeout: float) -> None:
    assert longest_silence(timeout) >= max(LEAST_SILENCE, wall_limit(timeout))


def test_late_leases_are_renewed_and_what_fails_costs_no_other() -> None:
    fresh, broken, late = Held(LATE_SECONDS - 0.1), Held(LATE_SECONDS, StateError("lost")), Held(LATE_SECONDS)
    renewed: list[bool] = []
    renewer = LeaseRenewer(lambda: True)
    renewer.renewed = lambda: renewed.append(True)
    for lease in (fresh, broken, late):
        renewer.keep(lease)
    renewer.look()
    assert (fresh.done, broken.done, late.done, renewed) == ([], ["renewed"], ["renewed"], [True])


def test_who_does_not_live_keeps_nothing_and_is_not_asked_before_it_is_late() -> None:
    asked: list[bool] = []
    lease, renewer = Held(LATE_SECONDS - 0.1), LeaseRenewer(lambda: bool(asked.append(True)))
    renewer.keep(lease)
    renewer.look()
    assert not asked
    lease.age = LATE_SECONDS
    renewer.look()
    assert (asked, lease.done) == ([True], [])


def test_the_thread_looks_and_ends_what_it_has_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease_renewer, "LOOK_SECONDS", 0.001)
    seen = threading.Event()
    renewer, lease = LeaseRenewer(lambda: True), Held(LATE_SECONDS)
    renewer.renewed = seen.set
    renewer.keep(lease)
    renewer.start()
    assert seen.wait(60)
    renewer.close()
    assert lease.done[0] == "renewed"
    assert lease.done[-1] == "ended"
    lease.done.clear()
    LeaseRenewer(lambda: True).close()  # one that was never started
