"""Limits of user functions: whenever the time ends, the function is over and nothing of the limit is left."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import chain, repeat
from types import FrameType

import pytest
from support.clock import leap

from ultracrawl.run.filters import bounds
from ultracrawl.run.filters.bounds import call_bounded
from ultracrawl.system.wall_guard import HungError


@pytest.fixture
def _alarm() -> Iterator[None]:
    """The alarm of this process is free: pytest-timeout uses it as well."""
    handler, timer = signal.signal(signal.SIGALRM, signal.SIG_DFL), signal.setitimer(signal.ITIMER_REAL, 0)
    yield
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, *timer)


def _used_up() -> Callable[[], float]:
    """Return a clock by which all time is used up after its first look."""
    times = chain([0.0], repeat(3600.0))
    return lambda: next(times)


@pytest.mark.usefixtures("_alarm")
@pytest.mark.parametrize(
    ("sent", "error"),
    [(signal.SIGPROF, TimeoutError), (signal.SIGALRM, HungError)],
    ids=["processor", "wall"],
)
def test_time_may_end_at_any_instruction(sent: signal.Signals, error: type[Exception]) -> None:
    ended, returned = 0, 0
    for number in range(1, 1000):
        interrupt = _InterruptAt(number, sent)
        try:
            answer = interrupt.run(lambda: call_bounded(lambda: 7, 60, clock=_used_up()))
        except error:
            ended += 1
        else:
            returned += 1
            assert answer == 7
        for known in (signal.SIGALRM, signal.SIGPROF):
            assert signal.getsignal(known) is signal.SIG_DFL
        for timer in (signal.ITIMER_REAL, signal.ITIMER_PROF):
            assert signal.getitimer(timer) == (0.0, 0.0)
        if not interrupt.sent:
            break
    assert not interrupt.sent, "every instruction had its turn"
    assert ended > 10
    assert returned == 1, "only the call that was not interrupted"


class _InterruptAt:
    """Sends a signal at one instruction of the module under test, counted from the first with its handler."""

    def __init__(self, number: int, sent: signal.Signals) -> None:
        self._left = number
        self._signal = sent
        self.sent = False

    def run(self, call: Callable[[], int]) -> int:
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            return call()
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, _event: str, _value: object) -> Callable[..., object] | None:
        if frame.f_code.co_filename != bounds.__file__:
            return None
        frame.f_trace_opcodes = True
        return self._step

    def _step(self, _frame: FrameType, event: str, _value: object) -> Callable[..., object]:
        if event == "opcode" and not self.sent and callable(signal.getsignal(self._signal)):
            self._left -= 1
            if not self._left:
                self.sent = True
                signal.raise_signal(self._signal)
        return self._step


@pytest.mark.parametrize("enabled", [True, False])
def test_objects_of_the_crawl_are_not_finalised_within_a_function(enabled: bool) -> None:
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        assert call_bounded(gc.isenabled, 60) is False
        with pytest.raises(ZeroDivisionError):
            call_bounded(lambda: 1 // 0, 60)
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


def _endless() -> None:
    while True:
        pass


def test_an_endless_loop_is_interrupted() -> None:
    with pytest.raises(TimeoutError, match="took longer"):
        call_bounded(_endless, 0.1)


def test_what_others_do_meanwhile_does_not_count() -> None:
    def interrupted() -> int:
        signal.raise_signal(signal.SIGPROF)  # other threads of this process have used its time
        return 7

    assert call_bounded(interrupted, 60, clock=lambda: 0.0) == 7
    with pytest.raises(TimeoutError):
        call_bounded(interrupted, 60, clock=_used_up())


def test_hours_on_the_wall_do_not_count() -> None:
    def waiting() -> int:
        leap(36_000)
        signal.raise_signal(signal.SIGPROF)
        return 7

    assert call_bounded(waiting, 60) == 7


@pytest.mark.usefixtures("_alarm")
def test_a_function_that_does_nothing_and_does_not_return_may_be_innocent() -> None:
    with pytest.raises(HungError):
        call_bounded(lambda: signal.raise_signal(signal.SIGALRM), 60)


@pytest.mark.usefixtures("_alarm")
def test_a_quick_function_leaves_no_timer_and_the_handler_of_before() -> None:
    before = signal.getsignal(signal.SIGALRM)
    left, _ = call_bounded(lambda: signal.getitimer(signal.ITIMER_REAL), 60)
    assert 60 < left <= 600, "ten times as long as it may work"
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) == before


def test_a_loop_that_catches_every_error_is_interrupted() -> None:
    def stubborn() -> None:
        while True:
            try:
                _endless()
            except Exception:
                continue

    with pytest.raises(TimeoutError, match="took longer"):
        call_bounded(stubborn, 0.1)


def test_memory_is_bounded_and_given_back() -> None:
    with pytest.raises(MemoryError):
        call_bounded(lambda: bytearray(512 << 20), 10.0, 64 << 20)
    assert len(bytearray(128 << 20)) == 128 << 20


def test_memory_below_the_limit_is_granted() -> None:
    assert len(call_bounded(lambda: bytearray(8 << 20), 10.0, 64 << 20)) == 8 << 20
