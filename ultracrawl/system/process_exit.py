"""Fast process exit, without the teardown of the interpreter."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress
from typing import NoReturn


def exit_process(code: int) -> NoReturn:
    """Run the `atexit` handlers, flush the output streams and end the process.

    Skips the teardown of modules and objects, which takes 40 ms, a tenth of a small command.
    """
    if sys.getprofile() or sys.gettrace():
        sys.exit(code)  # profilers and coverage write their data during the regular exit
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # a full disk; a closed stream
            stream.flush()
    os._exit(code)
