"""Functions of somebody else's are bounded in time."""

from __future__ import annotations

import time

import pytest

from ultracrawl.extensions.filtering import time_limit


def _endless() -> None:
    while True:
        pass


def test_an_endless_loop_is_broken_off() -> None:
    started = time.monotonic()
    with pytest.raises(TimeoutError, match="took longer"), time_limit(0.1):
        _endless()
    assert time.monotonic() - started < 5


def test_what_is_quick_is_left_alone() -> None:
    with time_limit(0.05):
        pass
    time.sleep(0.1)
