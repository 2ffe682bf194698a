"""A server in a process of its own, for libraries that want one: it prints its port, and serves until it is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def child_server(file: str, *words: object, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run a Python file that serves; gives the address. `environment` is added to that of the tests."""
    process = subprocess.Popen(
        [sys.executable, file, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(_import_path()), **(environment or {})},
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _import_path() -> list[str]:
    """Return where the file finds what it imports from here."""
    return [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
