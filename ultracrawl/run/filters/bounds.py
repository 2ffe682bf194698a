"""Time and memory limits for user code that runs in this process: functions of filters."""

from __future__ import annotations

import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TypeVar

from ultracrawl.system.gc_tuning import suspended_gc
from ultracrawl.system.wall_guard import Clock, HungError, wall_limit

T = TypeVar("T")

_REPEAT_INTERVAL = 1.0
"""Seconds until code is interrupted again if it caught the first interruption."""
_STATUS = Path("/proc/self/statm")


class _InterruptedError(BaseException):
    """Passes through `except Exception`, which looping code often has around its loop."""


class _OutOfTimeError(_InterruptedError):
    """The processor time is used up."""


class _NotBackError(_InterruptedError):
    """The limit by the clock on the wall is reached."""


def call_bounded(
    call: Callable[[], T], seconds: float, memory: int = 512 << 20, clock: Clock = time.thread_time
) -> T:
    """Call a function, and return its result; raise `TimeoutError` or `MemoryError` when it exceeds a limit.

    `seconds` are those of `clock`, the processor time of this thread. Raises `HungError` if the function takes its
    `wall_limit`.

    Python code is interrupted anywhere, also in regular expressions; a C call that does not return is not. Limits
    apply in the main thread only: elsewhere there are none.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    # Objects of the crawl must not be finalised within these limits: on an exhausted stack, or interrupted.
    with _memory(memory), suspended_gc():
        return _call_timed(call, seconds, clock)


def _call_timed(call: Callable[[], T], seconds: float, clock: Clock) -> T:
    end = clock() + seconds

    def worked(_number: int, _frame: FrameType | None) -> None:
        left = end - clock()
        if left <= 0:
            raise _OutOfTimeError
        # The timer counts what other threads of this process do as well.
        signal.setitimer(signal.ITIMER_PROF, left, _REPEAT_INTERVAL)

    def not_back(_number: int, _frame: FrameType | None) -> None:
        raise _NotBackError

    numbers = (signal.SIGPROF, signal.SIGALRM)
    before = [signal.getsignal(number) or signal.SIG_DFL for number in numbers]

    def disarm() -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(
                number, signal.SIG_IGN
            )  # drops one that is on its way: its default action ends the process
            signal.signal(number, handler)

    # The time may end at any instruction, also at those that disarm: the outer block makes up for that.
    try:
        try:
            signal.signal(signal.SIGPROF, worked)
            signal.signal(signal.SIGALRM, not_back)
            signal.setitimer(signal.ITIMER_PROF, seconds, _REPEAT_INTERVAL)
            signal.setitimer(signal.ITIMER_REAL, wall_limit(seconds), _REPEAT_INTERVAL)
            return call()
        finally:
            disarm()
    except _OutOfTimeError:
        disarm()
        raise TimeoutError(f"took longer than {seconds:g} s of processor time") from None
    except _NotBackError:
        disarm()
        raise HungError(f"did not return within {wall_limit(seconds):g} s") from None


@contextmanager
def _memory(most: int) -> Iterator[None]:
    """Limit the growth of the address space to `most` bytes; without a limit if the system does not report its size."""
    size = _size()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = size + most
    if not size or any(known != resource.RLIM_INFINITY and known < limit for known in (soft, hard)):
        yield
        return
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _size() -> int:
    """Return the address space of this process in bytes, 0 if it is not known."""
    try:
        return int(_STATUS.read_text().split()[0]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0
