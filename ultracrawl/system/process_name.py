"""How a process is named to people: by its number, and by its machine if that is another one."""

from __future__ import annotations

import platform


def machine_name() -> str:
    """Return the name of this machine, as its operating system has it."""
    return platform.node()


def is_here(machine: str) -> bool:
    """Return whether a process that noted this machine runs on this one; it does if it noted none."""
    return machine in ("", machine_name())


def process_name(pid: int, machine: str) -> str:
    """Return for example `process 12`, or `process 12 on crawler-2` for one of another machine."""
    return f"process {pid}" if is_here(machine) else f"process {pid} on {machine}"
