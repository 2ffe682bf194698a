"""A whole release of the tree as it is, built once for all tests that look at it."""

from __future__ import annotations

import fcntl
import shutil
from pathlib import Path

from support.project import ROOT
from support.requirement import require

from .checkout import Checkout

VERSION = "9.8.7"
TOOLS = ROOT / "var" / "release" / "bin"
"""Where `make release-tools` puts the programs that build a release."""
_FOLDER = ROOT / "var" / "rehearsal"


def release_checkout(folder: Path) -> Checkout:
    """Return a copy of this tree in which release 9.8.7 is tagged."""
    require((TOOLS.parent / ".installed").exists(), "what builds a release", get="make release-tools")
    made = Checkout(folder)
    made.prepare(VERSION)
    made.commit(f"v{VERSION}")
    return made


def build(checkout: Checkout, *steps: str) -> str:
    """Build a release, or some steps of it; returns what was printed."""
    ended = checkout.release(*steps, python=TOOLS / "python")
    assert ended.code == 0, ended
    return ended.out


def rehearse(run: str) -> Path:
    """Return the folder `dist` of a release, with its output in `output`; the first process of a test run builds it."""
    _FOLDER.mkdir(parents=True, exist_ok=True)
    with (_FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder, stamp = _FOLDER / "clone", _FOLDER / "run"
        if not stamp.exists() or stamp.read_text() != run:
            stamp.unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            output = build(release_checkout(folder))
            (_FOLDER / "output").write_text(output)
            stamp.write_text(run)
    return folder / "dist"
