"""How often the garbage collector looks at the objects of this process, and its end, at which nobody does."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from contextlib import suppress
from itertools import count
from typing import NoReturn

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


def leave_process(code: int) -> NoReturn:
    """End the process at once, when all is done that was registered for its end.

    Python would take apart everything that it has loaded, object by object: 40 ms, a tenth of a small command.
    """
    if sys.getprofile() or sys.gettrace():
        sys.exit(code)  # who looks on (a profiler, coverage) has something to say at the end
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # a full disk; a stream that is closed
            stream.flush()
    os._exit(code)
