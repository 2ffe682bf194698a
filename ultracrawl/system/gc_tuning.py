"""When Python's garbage collector runs."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

_STARTUP_THRESHOLDS = (250_000, 20, 20)
"""`gc.set_threshold` arguments while a command imports its modules: those objects stay. One collection of them took
18 ms, and a crawl had three."""
_RUNNING_THRESHOLDS = (50_000, 20, 20)
"""The arguments after start-up."""
_SERVICE_THRESHOLDS = (1_000, 10, 10)
"""The arguments of a process that lives for months."""

_calls = count()


def raise_gc_thresholds() -> None:
    """Collect less often than by default: the default costs 6 % of a crawl and finds next to no garbage."""
    gc.set_threshold(*_STARTUP_THRESHOLDS)


def freeze_loaded_objects() -> None:
    """Exempt all present objects from collection (`gc.freeze`), and lower the thresholds for new ones.

    A repeated call first collects garbage among the objects frozen before.
    """
    if next(_calls):
        gc.unfreeze()
        gc.collect()
    gc.freeze()
    gc.set_threshold(*_RUNNING_THRESHOLDS)


def collect_as_a_service() -> None:
    """Exempt all present objects from collection, and collect often: for a process that lives long and computes little.

    A few small objects that refer to each other can keep much memory of a library, which the collector does not count.
    """
    freeze_loaded_objects()
    gc.set_threshold(*_SERVICE_THRESHOLDS)


@contextmanager
def suspended_gc() -> Iterator[None]:
    """Suspend the garbage collector."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
