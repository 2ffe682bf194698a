"""Debian packages, downloaded and unpacked without being installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path


def unpack(package: str, packages: Path, *further: str) -> Path | None:
    """Unpack a package, and others that it needs, into a folder of its name; None if they are not available."""
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        return None
    target = packages / package
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        get = ["apt-get", "download", "-q", package, *further]
        if subprocess.run(get, cwd=scratch, capture_output=True, check=False).returncode:
            return None
        for file in Path(scratch).glob("*.deb"):
            subprocess.run(["dpkg", "-x", str(file), str(target)], capture_output=True, check=True)
    return target
