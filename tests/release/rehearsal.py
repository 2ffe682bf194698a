"""A whole release of the tree as it is, built once for all tests that look at it."""

from __future__ import annotations

import fcntl
import shutil
from pathlib import Path

from support.project import ROOT
from support.requirement import require

from .checkout import Checkout, run_release

VERSION = "9.8.7"
TOOLS = ROOT / "var" / "release" / "bin"
"""Where `make release-tools` puts the programs that build a release."""
_FOLDER = ROOT / "var" / "rehearsal"


def build(folder: Path, *steps: str) -> str:
    """Build the release that is checked out in a folder, or some steps of it; returns what was printed."""
    ended = run_release(folder, *steps, python=TOOLS / "python")
    assert ended.code == 0, ended
    return ended.out


def rehearse(run: str) -> Path:
    """Return the folder `dist` of a release of this tree; the first process of a test run builds it."""
    require((TOOLS.parent / ".installed").exists(), "what builds a release", get="make release-tools")
    _FOLDER.mkdir(parents=True, exist_ok=True)
    with (_FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder, stamp = _FOLDER / "clone", _FOLDER / "run"
        if not stamp.exists() or stamp.read_text() != run:
            stamp.unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            checkout = Checkout(folder)
            checkout.prepare(VERSION)
            checkout.commit(f"v{VERSION}")
            build(folder)
            stamp.write_text(run)
    return folder / "dist"
