"""Commands of an installation of the wheel, with nothing of this tree in their way."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from support.project import Ended, Workspace
from support.requirement import require

from .environments import LOWEST, environments

MAKE = "make plain"


class Installed(Workspace):
    """A workspace whose commands are those of an installation."""

    def __init__(self, directory: Path, environment: Path) -> None:
        super().__init__(directory)
        self._environment = environment

    def start(self, *words: str, hosted: bool | None = None, **env: str) -> subprocess.Popen[str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
        }
        return subprocess.Popen(
            [self._environment / "bin" / "ultracrawl", *words],
            cwd=self.directory,
            env={**kept, "NO_COLOR": "1", **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def done(self, *words: str, **env: str) -> Ended:
        """Run a command that has to go well, and has nothing to say on standard error."""
        ended = self.command(*words, timeout=90, **env)
        assert (ended.code, ended.err) == (0, "")
        return ended


def installed(number: int | None) -> Path:
    """Return the environment of the oldest Python (0), of the newest (-1), or with the oldest packages (None)."""
    made = environments()
    require(made, "an installation of the wheel", get=MAKE)
    if number is None:
        return LOWEST
    require(number == 0 or len(made) > 1, "a second Python (3.12 or newer) with an installation", get=MAKE)
    return made[number]
