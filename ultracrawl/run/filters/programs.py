"""Runs external programs for filters and for the end of a run: no shell, a time limit, a search path of their own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ultracrawl.dataclass import dataclass

GATHERER = "lib/gatherer"
MAX_KEPT_OUTPUT = 4_000
"""Characters of a program's output that are kept, from its end."""
_GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended: exit code (negative: the signal), and the end of its output."""

    code: int
    printed: str = ""
    timed_out: bool = False

    def __str__(self) -> str:
        """Describe how the program ended."""
        if self.timed_out:
            return "took too long and was ended"
        return f"exit status {self.code}" if self.code >= 0 else f"ended by signal {-self.code}"


class Programs:
    """Finds and runs programs; `folder`, if given, precedes `PATH`."""

    def __init__(self, folder: Path | None = None) -> None:
        self.path = os.pathsep.join(filter(None, (str(folder or ""), os.environ.get("PATH", ""))))

    @property
    def environment(self) -> dict[str, str]:
        """The environment of this process with the search path for programs."""
        return {**os.environ, "PATH": self.path}

    @property
    def has_summarizers(self) -> bool:
        """Whether the folder of the Harvest programs is in the search path."""
        home = os.environ.get("HARVEST_HOME")
        folders = map(os.path.normpath, self.path.split(os.pathsep))
        return home is not None and os.path.normpath(Path(home) / GATHERER) in folders

    def summarize(self, program: str, body: bytes, seconds: float) -> str:
        """Run a summarizer on a body and return its output; time limit as in `run`. Raises `OSError`."""
        process = subprocess.Popen(
            [self._path_of(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self.environment,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(body, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise OSError(str(Finished(_terminate(process), timed_out=True))) from None
        if process.returncode:
            raise OSError(str(Finished(process.returncode)))
        return output.decode("utf-8", "replace")

    def run(self, command: Sequence[str], seconds: float, variables: Mapping[str, str]) -> Finished:
        """Run a command; after `seconds`, it and all processes that it started are terminated. Raises `OSError`."""
        process = subprocess.Popen(
            [self._path_of(command[0]), *command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**self.environment, **variables},
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return Finished(_terminate(process), timed_out=True)
        return Finished(process.returncode, output.decode("utf-8", "replace")[-MAX_KEPT_OUTPUT:].strip())

    def _path_of(self, program: str) -> str:
        path = shutil.which(program, path=self.path)
        if path is None:
            raise FileNotFoundError(f"there is no program {program}, or it may not be run")
        return path


def _terminate(process: subprocess.Popen[bytes]) -> int:
    """Terminate a program with its process group, and return its exit code."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_GRACE)
            break
    return process.wait()
