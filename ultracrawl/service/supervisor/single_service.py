"""The lock by which a project has one service, and one process a node, on a machine."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ultracrawl.errors import WorkError
from ultracrawl.sources import Project
from ultracrawl.stores.project_stores import schedules_folder
from ultracrawl.system.files import convert_write_errors
from ultracrawl.system.temporary_folder import own_temporary_folder, remove_left_folder


@contextmanager
def single_service(project: Project, node: str) -> Iterator[None]:
    """Hold the service lock of the project, or that of a node. Raises `WorkError` if another service does."""
    folder = schedules_folder(project)
    if folder is None:
        yield
        return
    name = f"node-{node}" if node else "service"
    path = folder / f"{name}.lock"
    with convert_write_errors(path):
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with convert_write_errors(path):
            os.ftruncate(file, 0)
            os.pwrite(file, str(os.getpid()).encode(), 0)
    except BlockingIOError:
        other = os.pread(file, 20, 0).decode(errors="replace")
        os.close(file)
        kind = f"the node {node!r}" if node else "a service"
        raise WorkError(
            f"{kind} is running for this project already (process {other}); "
            f"end it with `kill {other}`, or Ctrl-C in its terminal"
        ) from None
    try:
        _replace_temporary_folder(folder / f"{name}.tmp")
        yield
    finally:
        os.close(file)


def _replace_temporary_folder(note: Path) -> None:
    """Delete the temporary folder of a service that was killed, and note that of this one in the file `note`.

    The note may be a copy, as the whole folder of the project: then the service that it speaks of lives.
    """
    with suppress(OSError, ValueError):
        remove_left_folder(Path(note.read_text()))
    with convert_write_errors(note):
        note.write_text(str(own_temporary_folder()))
