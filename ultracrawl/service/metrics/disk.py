"""How much room disks have."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path


def free_bytes(path: Path) -> float:
    """Return the free space on the disk of a path, which need not exist yet."""
    for folder in (path, *path.parents):
        with suppress(OSError):
            return float(shutil.disk_usage(folder).free)
    return 0.0
