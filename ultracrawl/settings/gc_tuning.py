"""How often the garbage collector looks at the objects of this process."""

from __future__ import annotations

import gc

_THRESHOLDS = (50_000, 20, 20)
"""New objects before the young are looked at, and how often that before the older ones are."""


def collect_seldom() -> None:
    """Look for garbage less often than Python does: it looks in vain at what is loaded and kept, for 6 % of a crawl."""
    gc.set_threshold(*_THRESHOLDS)


def spare_what_is_there() -> None:
    """Take the objects that there are out of the collector's sight; garbage of an earlier call goes first."""
    if gc.get_freeze_count():
        gc.unfreeze()
        gc.collect()
    gc.freeze()
