"""How often the garbage collector looks at the objects of this process."""

from __future__ import annotations

import gc
from itertools import count

_THRESHOLDS = (50_000, 20, 20)
"""New objects before the young are looked at, and how often that before the older ones are."""

_calls = count()


def collect_seldom() -> None:
    """Collect garbage less often than Python does by default, which takes 6 % of a crawl and finds next to nothing."""
    gc.set_threshold(*_THRESHOLDS)


def spare_what_is_there() -> None:
    """Freeze the present objects (`gc.freeze`), so that the collector skips them.

    Before it does so again in one process, it collects what has become garbage among those frozen before.
    """
    if next(_calls):
        gc.unfreeze()
        gc.collect()
    gc.freeze()
