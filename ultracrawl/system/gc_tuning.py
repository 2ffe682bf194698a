"""How often the garbage collector looks at the objects of this process."""

from __future__ import annotations

import gc
from itertools import count

_LOADING = (250_000, 20, 20)
"""New objects before the young are looked at, and how often that before the older ones are, while a command loads what
it needs: that stays. Every look at it took 18 ms, and a crawl had three."""
_WORKING = (50_000, 20, 20)
"""The same from then on."""

_calls = count()


def collect_seldom() -> None:
    """Collect garbage less often than Python does by default, which takes 6 % of a crawl and finds next to nothing."""
    gc.set_threshold(*_LOADING)


def spare_what_is_there() -> None:
    """Freeze the present objects (`gc.freeze`), so that the collector skips them, and looks at new ones more often.

    Before it does so again in one process, it collects what has become garbage among those frozen before.
    """
    if next(_calls):
        gc.unfreeze()
        gc.collect()
    gc.freeze()
    gc.set_threshold(*_WORKING)
