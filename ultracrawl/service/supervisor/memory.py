"""How much memory a process takes."""

from __future__ import annotations

import os
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")


def resident_size(pid: int) -> int:
    """Return the bytes that a process has in memory; 0 if it is gone, or the system does not tell (it is not Linux)."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0
