"""Time and memory limits for user code that runs in this process: functions of filters."""

from __future__ import annotations

import resource
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TypeVar

from ultracrawl.system.gc_tuning import suspended_gc

T = TypeVar("T")

_REPEAT_INTERVAL = 1.0
"""Seconds until code is interrupted again if it caught the first interruption."""
_STATUS = Path("/proc/self/statm")


class _OutOfTimeError(BaseException):
    """Passes through `except Exception`, which looping code often has around its loop."""


def call_bounded(call: Callable[[], T], seconds: float, memory: int = 512 << 20) -> T:
    """Call a function, and return its result; raise `TimeoutError` or `MemoryError` when it exceeds a limit.

    Python code is interrupted anywhere, also in regular expressions; a C call that does not return is not. Limits
    apply in the main thread only: elsewhere there are none.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    # Objects of the crawl must not be finalised within these limits: on an exhausted stack, or interrupted.
    with _memory(memory), suspended_gc():
        return _call_timed(call, seconds)


def _call_timed(call: Callable[[], T], seconds: float) -> T:
    def expired(_number: int, _frame: FrameType | None) -> None:
        raise _OutOfTimeError

    before = signal.getsignal(signal.SIGALRM) or signal.SIG_DFL

    def disarm() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

    # The time may end at any instruction, also at those that disarm: the outer block makes up for that.
    try:
        try:
            signal.signal(signal.SIGALRM, expired)
            signal.setitimer(signal.ITIMER_REAL, seconds, _REPEAT_INTERVAL)
            return call()
        finally:
            disarm()
    except _OutOfTimeError:
        disarm()
        raise TimeoutError(f"took longer than {seconds:g} s") from None


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
