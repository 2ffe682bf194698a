"""Free disk space, available memory, and the memory of processes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


def free_bytes(path: Path) -> float:
    """Return the free space on the disk of a path, which need not exist yet."""
    for folder in (path, *path.parents):
        with suppress(OSError):
            return float(shutil.disk_usage(folder).free)
    return 0.0


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process; 0 if it does not exist, or on systems without `/proc`."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * _PAGE_BYTES
    return 0


def private_bytes(pid: int) -> int:
    """Return the resident memory of a process without that of mapped files; 0 as for `resident_bytes`."""
    with suppress(OSError, ValueError, IndexError):
        fields = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
        return (int(fields[1]) - int(fields[2])) * _PAGE_BYTES
    return 0


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has used so far; 0 as for `resident_bytes`."""
    with suppress(OSError, ValueError, IndexError):
        # The name of the program, in brackets, may have spaces.
        fields = (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        )
        return (int(fields[11]) + int(fields[12])) / _TICKS
    return 0.0


def available_bytes(root: Path = Path("/")) -> int | None:
    """Return the memory that this process and its children may still take; None on systems without `/proc`.

    That is the available memory of the machine, or what the limit of the control group (version 1 or 2) leaves, if that
    is less. Cached files that can be dropped count as available. `root` has the folders `proc` and `sys`.
    """
    machine = _fields(root / "proc/meminfo").get("MemAvailable")
    if machine is None:
        return None
    return min([machine * 1024, *_left_in_groups(root)])


_LIMITS = {"": ("memory.max", "memory.current", "inactive_file")}
"""Files of a control group by its controllers: limit, use, and the field of `memory.stat` that can be dropped."""
_LIMITS["memory"] = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def _left_in_groups(root: Path) -> Iterator[int]:
    """Yield what the limit of each control group around this process leaves."""
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, name = line.split(":", 2)
        if controllers in _LIMITS:
            top = root / "sys/fs/cgroup" / controllers
            group = top / name.lstrip("/")
            # In a container the name may be that of the host, and the folder of the group is the top.
            for folder in (folder for folder in (group, *group.parents) if folder.is_relative_to(top)):
                yield from _left_in(folder, *_LIMITS[controllers])


def _left_in(folder: Path, limit: str, use: str, droppable: str) -> Iterator[int]:
    with suppress(OSError, ValueError):  # not a number: `max`, no limit
        most = int((folder / limit).read_text(encoding="ascii"))
        used = int((folder / use).read_text(encoding="ascii"))
        yield max(most - used + _fields(folder / "memory.stat").get(droppable, 0), 0)


def _fields(path: Path) -> dict[str, int]:
    """Return the numbers of a file with lines like `name: 123 kB` or `name 123`."""
    pairs = (line.split() for line in _lines(path))
    return {pair[0].rstrip(":"): int(pair[1]) for pair in pairs if len(pair) > 1 and pair[1].isdigit()}


def _lines(path: Path) -> list[str]:
    with suppress(OSError, UnicodeError):
        return path.read_text(encoding="ascii").splitlines()
    return []
