"""The memory of a running process and of those that it has started, as Linux reports it."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_OWN_MEMORY = re.compile(rb"^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB", re.MULTILINE)
_PROCESSES = Path("/proc")


class ProcessMemory(NamedTuple):
    """A process and its memory."""

    pid: int
    size: int
    """Bytes that it has written itself or shares, also those in the swap; files that it has mapped do not count."""
    command: bytes
    """Its command line, as the process shows it; words end with a zero byte."""


def memory_of_tree(pid: int) -> list[ProcessMemory]:
    """Return a process and its descendants; empty if it has ended, or where there is no `/proc`."""
    found, waiting = [], [pid]
    while waiting:
        process = waiting.pop()
        with suppress(OSError):  # it may end at any moment
            directory = _PROCESSES / str(process)
            size = sum(map(int, _OWN_MEMORY.findall((directory / "status").read_bytes()))) * 1024
            found.append(ProcessMemory(process, size, (directory / "cmdline").read_bytes()))
            for task in (directory / "task").iterdir():
                waiting += map(int, (task / "children").read_bytes().split())
    return found
