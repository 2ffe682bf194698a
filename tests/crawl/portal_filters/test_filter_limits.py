"""Functions of somebody else's are bounded in time."""

from __future__ import annotations

import time

import pytest

from ultracrawl.crawl.portal_filters.bounds import bounded


def _endless() -> None:
    while True:
        pass


def test_an_endless_loop_is_broken_off() -> None:
    started = time.monotonic()
    with pytest.raises(TimeoutError, match="took longer"), bounded(0.1):
        _endless()
    assert time.monotonic() - started < 5


def test_what_is_quick_is_left_alone() -> None:
    with bounded(0.05):
        pass
    time.sleep(0.1)


def test_a_loop_that_catches_every_error_is_broken_off() -> None:
    def stubborn() -> None:
        while True:
            try:
                _endless()
            except Exception:
                continue

    with pytest.raises(TimeoutError, match="took longer"), bounded(0.1):
        stubborn()


def test_memory_is_bounded_and_given_back() -> None:
    with pytest.raises(MemoryError), bounded(10.0, 64 << 20):
        bytearray(512 << 20)
    assert len(bytearray(128 << 20)) == 128 << 20


def test_a_little_memory_is_let_through() -> None:
    with bounded(10.0, 64 << 20):
        assert len(bytearray(8 << 20)) == 8 << 20
