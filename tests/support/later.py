"""Commands that believe it is later than it is: nobody has to wait until something is over."""

from __future__ import annotations

from pathlib import Path

from support.clock import AHEAD
from support.project import ROOT

_SHIFT = "import time\n_now = time.time\ntime.time = lambda: _now() + {seconds}\n"


def later(directory: Path, seconds: float) -> dict[str, str]:
    """Return the environment of commands whose clock is so many seconds ahead; the monotonic one is not.

    A hosted command asks the clock of its host, which looks at `AHEAD`; the other processes are really started.
    """
    folder = directory / ".later"
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(_SHIFT.format(seconds=seconds))
    return {"PYTHONPATH": f"{folder}:{ROOT}", AHEAD: str(seconds)}
