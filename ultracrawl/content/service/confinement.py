"""What a conversion process may not do: write files, open connections, start processes."""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import sys

_REFUSED = (
    "socket.",
    "subprocess.",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "os.remove",
    "os.rename",
    "os.mkdir",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.chmod",
    "os.chown",
    "os.truncate",
    "shutil.",
    "urllib.Request",
    "ftplib.",
    "smtplib.",
)
_PR_SET_PDEATHSIG = 1
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def confine() -> None:
    """Confine this process for the rest of its life.

    The system keeps it from writing to any file (RLIMIT_FSIZE); a hook of the interpreter refuses what Python code
    would do, so that a library which tries is told at once. Machine code in a library is not held by the hook.
    """
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.addaudithook(_refuse)


def die_with_parent() -> None:
    """Have the system kill this process when the thread that started it is gone (Linux only)."""
    if sys.platform.startswith("linux"):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def die_with_crawler() -> None:
    """End with the thread of the crawler that drives this process; where the system cannot do that, the alarm does."""
    die_with_parent()
    if _nobody_listens():
        sys.exit(0)  # the crawler was gone before the system knew what to do then


def _nobody_listens() -> bool:
    """Return whether the crawler has closed its end of the pipe for answers."""
    poll = select.poll()
    poll.register(1, 0)
    return bool(poll.poll(0))


def _refuse(event: str, args: tuple[object, ...]) -> None:
    if event == "open":
        flags = args[2] if len(args) > 2 else 0
        if isinstance(flags, int) and flags & _WRITING:
            raise PermissionError(f"a conversion process writes no files: {args[0]!r}")
    elif event.startswith(_REFUSED):
        raise PermissionError(f"a conversion process may not do this: {event}")
