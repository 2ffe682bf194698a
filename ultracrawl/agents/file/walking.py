"""Walks a folder: each file with what the system says of it, and what cannot be looked at."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from fnmatch import translate
from typing import NamedTuple

from ultracrawl.agents.file.opening import FOLDER, BaseFolders
from ultracrawl.agents.file.section import FileSection

_MAILDIR = frozenset({b"cur", b"new", b"tmp"})


class FoundFile(NamedTuple):
    """A regular file."""

    path: bytes
    about: os.stat_result
    in_maildir: bool = False
    """It lies in a folder that holds messages, one a file."""


class Unread(NamedTuple):
    """A folder that cannot be looked at, so that nothing is known of what lies in it."""

    path: bytes
    reason: str


class FolderWalk:
    """Walks the folders of a source, without their order: what is in memory is a folder's subfolders alone."""

    def __init__(self, options: FileSection, bases: BaseFolders) -> None:
        self._options = options
        self._bases = bases
        self._included = _matcher(options.include)
        self._excluded = _matcher(options.exclude)

    def files(self, base: bytes, root: bytes) -> Iterator[FoundFile | Unread]:
        """Yield what lies in a base folder; `root` is where that is without links."""
        try:
            folder = os.open(root, FOLDER)
        except OSError as error:
            yield Unread(base, error.strerror or str(error))
            return
        try:
            with os.scandir(folder) as found:
                empty = next(found, None) is None
            if empty:
                yield Unread(base, "it is empty; is it mounted?")
                return
            yield from self._inside(folder, base, b"", 0, (_identity(os.fstat(folder)),))
        finally:
            os.close(folder)

    def _inside(
        self, folder: int, base: bytes, below: bytes, level: int, above: tuple[tuple[int, int], ...]
    ) -> Iterator[FoundFile | Unread]:
        """Yield what lies in an open folder; `below` is its path in the base, with a `/` at its end."""
        inner: list[bytes] = []
        in_maildir = below.rstrip(b"/").rpartition(b"/")[2] in _MAILDIR and _is_maildir(folder)
        try:
            with os.scandir(folder) as found:
                for one in found:
                    path = below + os.fsencode(one.name)
                    if self._is_left_out(path):
                        continue
                    about = self._look(folder, base, path)
                    if about is None:
                        continue
                    if stat.S_ISDIR(about.st_mode):
                        inner.append(path)
                    elif stat.S_ISREG(about.st_mode) and self._is_included(path):
                        yield FoundFile(base + b"/" + path, about, in_maildir)
        except OSError as error:
            yield Unread(base + b"/" + below, error.strerror or str(error))
            return
        if self._options.levels is not None and level >= self._options.levels:
            return
        for path in inner:
            yield from self._enter(folder, base, path, level, above)

    def _enter(
        self, folder: int, base: bytes, path: bytes, level: int, above: tuple[tuple[int, int], ...]
    ) -> Iterator[FoundFile | Unread]:
        name = path.rpartition(b"/")[2]
        flags = FOLDER & ~os.O_NOFOLLOW if self._options.symlinks else FOLDER
        try:
            inside = os.open(name, flags, dir_fd=folder)
        except FileNotFoundError:
            return
        except OSError as error:
            yield Unread(base + b"/" + path, error.strerror or str(error))
            return
        try:
            own = _identity(os.fstat(inside))
            if own not in above and self._bases.holds(os.fsencode(f"/proc/self/fd/{inside}")):
                yield from self._inside(inside, base, path + b"/", level + 1, (*above, own))
        finally:
            os.close(inside)

    def _look(self, folder: int, base: bytes, path: bytes) -> os.stat_result | None:
        """Return what the system says of a name in a folder; None for what does not count."""
        name = path.rpartition(b"/")[2]
        try:
            about = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISLNK(about.st_mode):
                if not self._options.symlinks or not self._bases.holds(base + b"/" + path):
                    return None
                about = os.stat(name, dir_fd=folder)
        except OSError:
            return None  # it went meanwhile, or leads nowhere
        return about

    def _is_left_out(self, path: bytes) -> bool:
        hidden = path.rpartition(b"/")[2].startswith(b".")
        return (hidden and not self._options.hidden) or self._excluded(path)

    def _is_included(self, path: bytes) -> bool:
        return not self._options.include or self._included(path)


def _identity(about: os.stat_result) -> tuple[int, int]:
    return about.st_dev, about.st_ino


def _is_maildir(folder: int) -> bool:
    try:
        return all(stat.S_ISDIR(os.stat(b"../" + name, dir_fd=folder).st_mode) for name in _MAILDIR)
    except OSError:
        return False


def _matcher(patterns: tuple[str, ...]) -> Callable[[bytes], bool]:
    """Return what tells whether one of some patterns fits a path."""
    paths = [re.compile(os.fsencode(translate(one))) for one in patterns if "/" in one]
    names = [re.compile(os.fsencode(translate(one))) for one in patterns if "/" not in one]

    def fits(path: bytes) -> bool:
        name = path.rpartition(b"/")[2]
        return any(one.match(path) for one in paths) or any(one.match(name) for one in names)

    return fits
