"""Free disk space, and the memory of processes."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


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
