"""Sandbox of a conversion process: it cannot write files, open connections or start processes."""

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
    """Confine this process until it ends.

    The system refuses writes to files (RLIMIT_FSIZE). An audit hook of the interpreter refuses forbidden calls of
    Python code with an exception; it does not restrict native code of libraries.
    """
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.addaudithook(_refuse)


def die_with_parent() -> None:
    """Have the kernel kill this process when the thread that started it ends (Linux only)."""
    if sys.platform.startswith("linux"):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def die_with_crawler() -> None:
    """End with the crawler's thread for this process; on other systems than Linux, the alarm ends the process."""
    die_with_parent()
    if _is_output_closed():
        sys.exit(0)  # the crawler ended before the kernel was told


def _is_output_closed() -> bool:
    """Return whether the crawler has closed its end of the result pipe."""
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
