"""Commands of ultracrawl that run until they are told to end, as processes of their own: nodes, and `serve`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from support.until import PATIENCE, until


def start(log: Path, *words: str, **env: str) -> subprocess.Popen[str]:
    """Start a command in the folder of a file, to which all that it prints is added."""
    with log.open("a") as printed:
        return subprocess.Popen(
            [sys.executable, "-m", "ultracrawl", *words],
            cwd=log.parent,
            env={**os.environ, **env},
            stdout=printed,
            stderr=printed,
            text=True,
            start_new_session=True,
        )


def address(log: Path, process: subprocess.Popen[str]) -> str:
    """Return the URL of a service, when its API answers."""
    until(lambda: "the API answers" in log.read_text(), process)
    found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())
    assert found is not None
    return found[0]


def end(process: subprocess.Popen[str], log: Path, patience: float = PATIENCE) -> None:
    """End a process as a service manager does; fail unless it ends cleanly."""
    process.send_signal(signal.SIGTERM)
    assert process.wait(patience) == 0, log.read_text()[-3000:]
    assert "Traceback" not in log.read_text()


def kill(process: subprocess.Popen[str]) -> None:
    """Kill a process that has not ended."""
    if process.poll() is None:
        process.kill()
        process.wait()
