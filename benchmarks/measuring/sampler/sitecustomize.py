"""Samples the CPU time of a Python process by file; Python imports a module of this name on start.

A CPU timer interrupts the process, and the time of the main thread since the last interrupt is added to the innermost
file of the package, Scrapy, Twisted or asyncio; imports are added to `import`. At exit the sums are written as JSON to
the folder `BUDGET_FOLDER`.
"""

import atexit
import json
import os
import signal
import sys
import time
from types import CodeType, FrameType

_INTERVAL = 0.001
_OWNERS = ("/ultracrawl/", "/scrapy/", "/twisted/", "/asyncio/")
_IMPORTS = "import"
_sums: dict[str, float] = {}
_places: dict[CodeType, str] = {}
_last = 0.0


def _place(code: CodeType) -> str:
    """Return the file that the time of a function is added to; empty if its caller decides."""
    name = code.co_filename
    if code.co_name == "<module>" or "importlib._bootstrap" in name:
        return _IMPORTS
    found = [(name.rfind(owner), owner) for owner in _OWNERS if owner in name]
    return name[max(found)[0] + 1 :] if found else ""


def _sample(_number: int, frame: FrameType | None) -> None:
    global _last  # noqa: PLW0603 - a handler has no other place
    now = time.thread_time()
    place = ""
    while frame is not None and not place:
        code = frame.f_code
        known = _places.get(code)
        place = _places[code] = _place(code) if known is None else known
        frame = frame.f_back
    _sums[place or "other"] = _sums.get(place or "other", 0.0) + now - _last
    _last = time.thread_time()


def _write() -> None:
    signal.setitimer(signal.ITIMER_PROF, 0)
    threads = time.process_time() - time.thread_time()
    seen = {"command": sys.orig_argv, "places": _sums, "threads": threads}
    with open(os.path.join(os.environ["BUDGET_FOLDER"], f"{os.getpid()}.json"), "w") as file:
        json.dump(seen, file)


if "BUDGET_FOLDER" in os.environ:
    _sums[_IMPORTS] = _last = time.thread_time()
    atexit.register(_write)
    signal.signal(signal.SIGPROF, _sample)
    signal.siginterrupt(signal.SIGPROF, False)
    signal.setitimer(signal.ITIMER_PROF, _INTERVAL, _INTERVAL)
