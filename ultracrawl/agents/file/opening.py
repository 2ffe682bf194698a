"""Opening files below base folders, step by step, so that no link that somebody sets meanwhile leads out of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ultracrawl.agents.file.file_urls import real_path

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class BaseFolders:
    """The folders of a source, and what lies in them."""

    def __init__(self, paths: Iterable[Path], base: Path, *, symlinks: bool) -> None:
        self.paths = tuple(Path(os.path.abspath(base / path)) for path in paths)
        self._symlinks = symlinks

    def holder(self, path: bytes) -> Path | None:
        """Return the base folder that a path is written below, or None."""
        return next((base for base in self.paths if _lies_in(path, os.fsencode(base))), None)

    def holds(self, path: bytes) -> bool:
        """Whether a path leads into one of the folders."""
        found = os.path.realpath(path)
        return any(_lies_in(found, real_path(base)) for base in self.paths)

    def open_file(self, path: bytes) -> int:
        """Open a file below a base folder for reading. Raises `OSError`."""
        base = self.holder(path)
        if base is None or b".." in path.split(b"/"):
            raise PermissionError(1, "it is outside of the folders of the source")
        root, below = real_path(base), path[len(os.fsencode(base)) :]
        if self._symlinks:
            found = os.path.realpath(root + below)
            homes = [home for one in self.paths if _lies_in(found, home := real_path(one))]
            if not homes:
                raise PermissionError(1, "it leads out of the folders of the source")
            root = homes[0]
            below = found[len(root) :]
        folder = os.open(root, FOLDER)
        try:
            *folders, name = [step for step in below.split(b"/") if step]
            for step in folders:
                inner = os.open(step, FOLDER, dir_fd=folder)
                os.close(folder)
                folder = inner
            return os.open(name, FILE, dir_fd=folder)
        finally:
            os.close(folder)


def _lies_in(path: bytes, folder: bytes) -> bool:
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")
