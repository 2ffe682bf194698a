"""Opens paths below the base folders component by component, so that a concurrently set link cannot lead outside."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""Flags of `os.open` for a folder."""
OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
"""Flags of `os.open` for a file; `O_NONBLOCK` because it may be a pipe."""


class BaseFolders:
    """The base folders of a source, and safe access to paths below them."""

    def __init__(self, paths: Iterable[Path], base: Path, *, symlinks: bool) -> None:
        self.paths = tuple(Path(os.path.abspath(base / path)) for path in paths)
        self._symlinks = symlinks

    @cached_property
    def _roots(self) -> dict[bytes, bytes]:
        """The real paths of the base folders, the longest base first. Cached: resolving stats every path component."""
        paths = sorted(map(os.fsencode, self.paths), key=len, reverse=True)
        return {path: os.path.realpath(path) for path in paths}

    def base_folder_of(self, path: bytes) -> bytes | None:
        """Return the innermost base folder that contains a path, without resolving links; None if there is none."""
        return next((base for base in self._roots if _is_inside(path, base)), None)

    def real_path(self, base: bytes) -> bytes:
        """Return the path of a base folder with links resolved."""
        return self._roots[base]

    def contains(self, path: bytes) -> bool:
        """Whether a path, with links resolved, is inside a base folder. Raises `OSError` if it cannot be resolved."""
        target = os.path.realpath(path, strict=True)
        return any(_is_inside(target, root) for root in self._roots.values())

    def open_path(self, path: bytes, flags: int) -> int:
        """Open a base folder or file, or a path below one, for reading; returns the descriptor. Raises `OSError`."""
        base = self.base_folder_of(path)
        if base is None or b".." in path.split(b"/"):
            raise PermissionError(1, "it is outside of the folders of the source")
        root, below = self._roots[base], path[len(base) :]
        if self._symlinks:
            target = os.path.realpath(root + below)
            target_root = next((other for other in self._roots.values() if _is_inside(target, other)), None)
            if target_root is None:
                raise PermissionError(1, "it points outside the folders of the source")
            root, below = target_root, target[len(target_root) :]
        components = [component for component in below.split(b"/") if component]
        opened = os.open(root, OPEN_FOLDER if components else flags)
        for number, component in enumerate(components, 1):
            try:
                inner = os.open(component, flags if number == len(components) else OPEN_FOLDER, dir_fd=opened)
            finally:
                os.close(opened)
            opened = inner
        return opened


def path_in(folder: bytes, below: bytes) -> bytes:
    """Join a folder and a relative path."""
    return folder.rstrip(b"/") + b"/" + below


def _is_inside(path: bytes, folder: bytes) -> bool:
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")
