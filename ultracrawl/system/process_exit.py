"""The end of a process, without taking apart what it has loaded."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress
from typing import NoReturn


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
