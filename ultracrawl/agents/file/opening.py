"""Opening what is below base folders, step by step, so that no link that somebody sets meanwhile leads out of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class BaseFolders:
    """The folders of a source, and what lies in them."""

    def __init__(self, paths: Iterable[Path], base: Path, *, symlinks: bool) -> None:
        self.paths = tuple(Path(os.path.abspath(base / path)) for path in paths)
        self._symlinks = symlinks

    @cached_property
    def _roots(self) -> dict[bytes, bytes]:
        """Where the folders are without links, the longest path first. Asked once: it costs a look at each step."""
        paths = sorted(map(os.fsencode, self.paths), key=len, reverse=True)
        return {path: os.path.realpath(path) for path in paths}

    def holder(self, path: bytes) -> bytes | None:
        """Return the base folder that a path is written below, or None."""
        return next((base for base in self._roots if _lies_in(path, base)), None)

    def root(self, base: bytes) -> bytes:
        """Return where a base folder is without links."""
        return self._roots[base]

    def holds(self, path: bytes) -> bool:
        """Whether a path leads into one of the folders. Raises `OSError` where that cannot be told."""
        found = os.path.realpath(path, strict=True)
        return any(_lies_in(found, root) for root in self._roots.values())

    def open_path(self, path: bytes, flags: int) -> int:
        """Open what lies below a base folder, or the folder itself, for reading. Raises `OSError`."""
        base = self.holder(path)
        if base is None or b".." in path.split(b"/"):
            raise PermissionError(1, "it is outside of the folders of the source")
        root, below = self._roots[base], path[len(base) :]
        if self._symlinks:
            found = os.path.realpath(root + below)
            home = next((one for one in self._roots.values() if _lies_in(found, one)), None)
            if home is None:
                raise PermissionError(1, "it leads out of the folders of the source")
            root, below = home, found[len(home) :]
        opened = os.open(root, FOLDER)
        steps = [step for step in below.split(b"/") if step]
        for number, step in enumerate(steps, 1):
            try:
                inner = os.open(step, flags if number == len(steps) else FOLDER, dir_fd=opened)
            finally:
                os.close(opened)
            opened = inner
        return opened


def path_in(folder: bytes, below: bytes) -> bytes:
    """Return the path of what lies in a folder."""
    return folder.rstrip(b"/") + b"/" + below


def _lies_in(path: bytes, folder: bytes) -> bool:
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")
