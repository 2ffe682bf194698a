"""Programs of somebody else's, which filters and the end of a run call: no shell, bounded in time, own search path."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

GATHERER = "lib/gatherer"
KEPT_OUTPUT = 4_000
"""Characters of what a program prints that are kept."""
_GRACE = 2.0
"""Seconds between asking a program to end and ending it."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended: its exit code (negative: the signal), and the end of what it printed."""

    code: int
    printed: str = ""
    timed_out: bool = False

    def __str__(self) -> str:
        """Return it in words."""
        if self.timed_out:
            return "took too long and was ended"
        return f"exit status {self.code}" if self.code >= 0 else f"ended by signal {-self.code}"


class Programs:
    """Finds and runs programs; `folder`, if there is one, goes ahead of `PATH`."""

    def __init__(self, folder: Path | None = None) -> None:
        self.path = os.pathsep.join(filter(None, (str(folder or ""), os.environ.get("PATH", ""))))

    @property
    def environment(self) -> dict[str, str]:
        """The environment of this process, with the search path for programs."""
        return {**os.environ, "PATH": self.path}

    @property
    def has_summarizers(self) -> bool:
        """Whether the folder of the Harvest programs is in the search path."""
        home = os.environ.get("HARVEST_HOME")
        folders = map(os.path.normpath, self.path.split(os.pathsep))
        return home is not None and os.path.normpath(Path(home) / GATHERER) in folders

    def summarize(self, program: str, body: bytes, seconds: float) -> str:
        """Run a summarizer on a body and return what it prints; it is ended as `run` does it. Raises `OSError`."""
        process = subprocess.Popen(
            [self._found(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self.environment,
            start_new_session=True,
        )
        try:
            printed, _ = process.communicate(body, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise OSError(str(Finished(_end(process), timed_out=True))) from None
        if process.returncode:
            raise OSError(str(Finished(process.returncode)))
        return printed.decode("utf-8", "replace")

    def run(self, command: Sequence[str], seconds: float, more: Mapping[str, str]) -> Finished:
        """Run a command to its end, at most so long; it and all that it started are ended then. Raises `OSError`."""
        process = subprocess.Popen(
            [self._found(command[0]), *command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**self.environment, **more},
            start_new_session=True,
        )
        try:
            printed, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return Finished(_end(process), timed_out=True)
        return Finished(process.returncode, printed.decode("utf-8", "replace")[-KEPT_OUTPUT:].strip())

    def _found(self, program: str) -> str:
        found = shutil.which(program, path=self.path)
        if found is None:
            raise FileNotFoundError(f"there is no program {program}, or it may not be run")
        return found


def _end(process: subprocess.Popen[bytes]) -> int:
    """End a program with its whole group, and return its exit code."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_GRACE)
            break
    return process.wait()
