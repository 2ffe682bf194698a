"""Clocks that tests set: that of hosted commands may be ahead, that of commands in this process leaps over waits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

AHEAD = "TESTS_CLOCK_AHEAD"
"""The variable that tells a command by how many seconds its clock is ahead."""

true_monotonic = time.monotonic


class Clock:
    """A clock of Python that may be ahead; like the functions of `time` it is no method where a class holds it."""

    def __init__(self, true: Callable[[], float]) -> None:
        self._true = true
        self.ahead = 0.0
        self.leapt = 0.0

    def __call__(self) -> float:
        return self._true() + self.ahead + self.leapt


_wall, _monotonic = Clock(time.time), Clock(time.monotonic)


def install() -> None:
    """Replace `time.time` for whatever is imported from now on."""
    time.time = _wall


def install_both() -> None:
    """Replace `time.time` and `time.monotonic` for whatever is imported from now on."""
    install()
    time.monotonic = _monotonic


def wall_time() -> float:
    """Return the moment by the clock on the wall that programs under test read: for what a test says is old, or due."""
    return _wall()


def monotonic_time() -> float:
    """Return the moment by the clock by which sites note requests: virtual where a crawl runs in this process."""
    return _monotonic()


def set_ahead(seconds: float) -> None:
    """Have it be so much later by the clock on the wall, for this process and those that it forks."""
    _wall.ahead = seconds


_noticing: list[Callable[[float], object]] = []


def leap(seconds: float) -> None:
    """Have so much time go by at once, by both clocks."""
    _wall.leapt += seconds
    _monotonic.leapt += seconds
    for tell in _noticing:
        tell(_wall.leapt)


@contextmanager
def noticed(tell: Callable[[float], object]) -> Iterator[None]:
    """Tell a clock of its own, such as that of a server, by how many seconds the clocks have leapt in all."""
    _noticing.append(tell)
    try:
        yield
    finally:
        _noticing.remove(tell)


def take_back_leaps() -> None:
    """Have it be as late as it is."""
    _wall.leapt = _monotonic.leapt = 0.0
