"""The processes that a process has started, and whether they are still there."""

from __future__ import annotations

import psutil

from support.until import until


def descendants(pid: int) -> list[psutil.Process]:
    """Return the children of a process, and theirs."""
    found: list[psutil.Process] = psutil.Process(pid).children(recursive=True)
    return found


def all_end(processes: list[psutil.Process]) -> None:
    """Wait until none of them is there any more; fail after a while."""
    until(lambda: not any(map(_lives, processes)))


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
