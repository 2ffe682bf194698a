"""Limits of user functions: whenever the time ends, the function is over and nothing of the limit is left."""

from __future__ import annotations

import gc
import signal
import sys
import time
from collections.abc import Callable, Iterator
from types import FrameType

import pytest

from ultracrawl.run.filters import bounds
from ultracrawl.run.filters.bounds import call_bounded


@pytest.fixture
def _alarm() -> Iterator[None]:
    """The alarm of this process is free: pytest-timeout uses it as well."""
    handler, timer = signal.signal(signal.SIGALRM, signal.SIG_DFL), signal.setitimer(signal.ITIMER_REAL, 0)
    yield
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, *timer)


@pytest.mark.usefixtures("_alarm")
def test_time_may_end_at_any_instruction() -> None:
    ended, returned = 0, 0
    for number in range(1, 1000):
        interrupt = _InterruptAt(number)
        try:
            answer = interrupt.run(lambda: call_bounded(lambda: 7, 60))
        except TimeoutError:
            ended += 1
        else:
            returned += 1
            assert answer == 7
        assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
        if not interrupt.sent:
            break
    assert not interrupt.sent, "every instruction had its turn"
    assert ended > 10
    assert returned == 1, "only the call that was not interrupted"


class _InterruptAt:
    """Sends SIGALRM at one instruction of the module under test, counted from the first with the handler."""

    def __init__(self, number: int) -> None:
        self._left = number
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
        if event == "opcode" and not self.sent and callable(signal.getsignal(signal.SIGALRM)):
            self._left -= 1
            if not self._left:
                self.sent = True
                signal.raise_signal(signal.SIGALRM)
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
    started = time.monotonic()
    with pytest.raises(TimeoutError, match="took longer"):
        call_bounded(_endless, 0.1)
    assert time.monotonic() - started < 5


@pytest.mark.usefixtures("_alarm")
def test_a_quick_function_leaves_no_timer_and_the_handler_of_before() -> None:
    before = signal.getsignal(signal.SIGALRM)
    left, _ = call_bounded(lambda: signal.getitimer(signal.ITIMER_REAL), 60)
    assert 0 < left <= 60
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
