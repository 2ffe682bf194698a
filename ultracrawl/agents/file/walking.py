"""Walks a folder: each file with what the system says of it, and what cannot be looked at."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from fnmatch import translate
from typing import NamedTuple

from ultracrawl.agents.file.opening import FOLDER, BaseFolders, path_in
from ultracrawl.agents.file.section import FileSection

MOST_LEVELS = 200
"""Folders that are entered, one in the other: a tree that is deeper was made to be endless."""
_MAILDIR = frozenset({b"cur", b"new", b"tmp"})
_LEADS_NOWHERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


class FoundFile(NamedTuple):
    """A regular file."""

    path: bytes
    about: os.stat_result
    in_maildir: bool = False
    """It lies in a folder that holds messages, one a file."""
    is_mailbox: bool = False
    """Its name is that of a file that holds messages."""


class Unread(NamedTuple):
    """What cannot be looked at, so that nothing is known of it and of what lies in it."""

    path: bytes
    reason: str


class _Folder(NamedTuple):
    below: bytes
    """Its path in the base folder, with a `/` at its end; empty for that folder itself."""
    level: int
    above: tuple[tuple[int, int], ...]
    """The folders that it lies in, where a link may lead back to one of them."""


class FolderWalk:
    """Walks the folders of a source, without their order: in memory are subfolders of those it is in, and no files."""

    def __init__(self, options: FileSection, bases: BaseFolders) -> None:
        self._options = options
        self._bases = bases
        self._included = _matcher(options.include)
        self._excluded = _matcher(options.exclude)
        self._mailboxes = _matcher(options.mailboxes)

    def files(self, base: bytes) -> Iterator[FoundFile | Unread]:
        """Yield what lies in a base folder, and below it."""
        waiting = [_Folder(b"", 0, ())]
        while waiting:
            folder = waiting.pop()
            path = path_in(base, folder.below) if folder.below else base
            try:
                opened = self._bases.open_path(path, FOLDER)
            except OSError as error:
                if folder.level == 0 or error.errno != errno.ENOENT:
                    yield _unread(path, error)
                continue
            try:
                yield from self._inside(opened, path, folder, waiting)
            except OSError as error:
                yield _unread(path, error)
            finally:
                os.close(opened)

    def looks_at(self, path: bytes, base: bytes) -> bool:
        """Whether a walk of a base folder would look at a path in it; what is gone may have been a folder."""
        below = path[len(base) :].strip(b"/")
        steps = [(step[0], below[: step.end()]) for step in re.finditer(rb"[^/]+", below)]
        too_deep = self._options.levels is not None and len(steps) > self._options.levels + 1
        if too_deep or any(self._is_left_out(*step) for step in steps):
            return False
        return not steps or self._is_included(*steps[-1]) or not os.path.isfile(path)

    def _inside(
        self, opened: int, home: bytes, folder: _Folder, waiting: list[_Folder]
    ) -> Iterator[FoundFile | Unread]:
        """Yield what lies in an open folder, and have the folders in it wait. Raises `OSError`."""
        above = folder.above
        if self._options.symlinks:
            own = _identity(os.fstat(opened))
            if own in above:
                return
            above = (*above, own)
        in_maildir = folder.below.rstrip(b"/").rpartition(b"/")[2] in _MAILDIR and _is_maildir(opened)
        level, is_empty = folder.level + 1, True
        entered = self._options.levels is None or folder.level < self._options.levels
        with os.scandir(opened) as found:
            for one in found:
                is_empty, name = False, os.fsencode(one.name)
                below = folder.below + name
                if self._is_left_out(name, below):
                    continue
                path = path_in(home, name)
                about = self._look(opened, name, path)
                if about is None:
                    continue
                if isinstance(about, Unread):
                    yield about
                elif stat.S_ISDIR(about.st_mode):
                    if entered and level > MOST_LEVELS:
                        yield Unread(path, f"it is more than {MOST_LEVELS} folders deep")
                    elif entered:
                        waiting.append(_Folder(below + b"/", level, above))
                elif stat.S_ISREG(about.st_mode) and self._is_included(name, below):
                    yield FoundFile(path, about, in_maildir, self._mailboxes(name, below))
        if is_empty and folder.level == 0:
            yield Unread(home, "it is empty; is it mounted?")

    def _look(self, folder: int, name: bytes, path: bytes) -> os.stat_result | Unread | None:
        """Return what the system says of a name in a folder; None for what does not count."""
        try:
            about = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            return None if error.errno == errno.ENOENT else _unread(path, error)  # none: it went meanwhile
        if not stat.S_ISLNK(about.st_mode):
            return about
        if not self._options.symlinks:
            return None
        try:
            return os.stat(name, dir_fd=folder) if self._bases.holds(path) else None
        except OSError as error:
            return None if error.errno in _LEADS_NOWHERE else _unread(path, error)

    def _is_left_out(self, name: bytes, below: bytes) -> bool:
        return (name.startswith(b".") and not self._options.hidden) or self._excluded(name, below)

    def _is_included(self, name: bytes, below: bytes) -> bool:
        return not self._options.include or self._included(name, below)


def _unread(path: bytes, error: OSError) -> Unread:
    return Unread(path, error.strerror or str(error))


def _identity(about: os.stat_result) -> tuple[int, int]:
    return about.st_dev, about.st_ino


def _is_maildir(folder: int) -> bool:
    try:
        return all(stat.S_ISDIR(os.stat(b"../" + name, dir_fd=folder).st_mode) for name in _MAILDIR)
    except OSError:
        return False


def _matcher(patterns: tuple[str, ...]) -> Callable[[bytes, bytes], bool]:
    """Return what tells whether one of some patterns fits a name, or the path below the folder."""
    paths = [re.compile(os.fsencode(translate(one))).match for one in patterns if "/" in one]
    names = [re.compile(os.fsencode(translate(one))).match for one in patterns if "/" not in one]

    def fits(name: bytes, below: bytes) -> bool:
        return any(match(below) for match in paths) or any(match(name) for match in names)

    return fits
