"""Walks folders and yields files with their stat results, and unreadable paths."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from ultracrawl.agents.file.base_folders import OPEN_FILE, OPEN_FOLDER, BaseFolders, path_in
from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.file.selection import FileSelection

MAX_DEPTH = 200
"""Depth of subfolders that are entered; a deeper tree is taken for an attack."""
_MAILDIR = frozenset({b"cur", b"new", b"tmp"})
_DENIED = frozenset({errno.EACCES, errno.EPERM})
_BROKEN_LINK = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
_ABSENT = "there is no such folder or file; correct `paths`, or mount it"


class FoundFile(NamedTuple):
    """A regular file."""

    path: bytes
    file_stat: os.stat_result
    in_maildir: bool = False
    """Whether its folder is part of a Maildir, so the file is a message."""
    is_mailbox: bool = False
    """Whether its name matches the option `mailboxes`."""


class UnreadablePath(NamedTuple):
    """A file or folder that cannot be read, so the listing is incomplete."""

    path: bytes
    reason: str
    mistake: bool = False
    """Whether it is a path of the definition that the crawling account may not read."""


class _Folder(NamedTuple):
    below: bytes
    """Its path relative to the base folder, with a trailing `/`; empty for the base folder itself."""
    level: int
    ancestors: tuple[tuple[int, int], ...]
    """Device and inode of the folders above it; only kept with `symlinks`, to detect cycles."""


class FolderWalk:
    """Walks the folders of a source in no particular order; keeps pending subfolders in memory, but no files."""

    def __init__(self, options: FileSection, bases: BaseFolders) -> None:
        self._symlinks = options.symlinks
        self._selection = FileSelection(options)
        self._bases = bases

    def files(self, base: bytes) -> Iterator[FoundFile | UnreadablePath]:
        """Yield the included files in and below a base folder, or a base file, and unreadable paths."""
        pending = [_Folder(b"", 0, ())]
        while pending:
            folder = pending.pop()
            path = path_in(base, folder.below) if folder.below else base
            try:
                opened = self._bases.open_path(path, OPEN_FOLDER)
            except OSError as error:
                if folder.level == 0 and error.errno == errno.ENOTDIR:
                    yield self._base_file(base)
                elif folder.level == 0 and error.errno in _DENIED:
                    reason = f"{error.strerror}; permit the crawling account to read it"
                    yield UnreadablePath(path, reason, mistake=True)
                elif folder.level == 0 and error.errno == errno.ENOENT:
                    yield UnreadablePath(path, _ABSENT)
                elif folder.level == 0 or error.errno != errno.ENOENT:
                    yield _unreadable(path, error)
                continue
            try:
                yield from self._files_in(opened, path, folder, pending)
            except OSError as error:
                yield _unreadable(path, error)
            finally:
                os.close(opened)

    def _base_file(self, path: bytes) -> FoundFile | UnreadablePath:
        """Return a file that the definition names instead of a folder; `include` and `exclude` do not apply to it."""
        try:
            opened = self._bases.open_path(path, OPEN_FILE)
        except OSError as error:
            return _unreadable(path, error)
        try:
            file_stat = os.fstat(opened)
        finally:
            os.close(opened)
        if not stat.S_ISREG(file_stat.st_mode):
            return UnreadablePath(path, "it is neither a folder nor a file")
        name = os.path.basename(path)
        return FoundFile(path, file_stat, is_mailbox=self._selection.is_mailbox(name, name))

    def covers(self, path: bytes, base: bytes) -> bool:
        """Whether a walk of a base folder would visit a path in it; deleted paths count as possible folders."""
        return self._selection.covers(path[len(base) :].strip(b"/"), lambda: os.path.isfile(path))

    def _files_in(
        self, opened: int, folder_path: bytes, folder: _Folder, pending: list[_Folder]
    ) -> Iterator[FoundFile | UnreadablePath]:
        """Yield the files in an open folder, and append its subfolders to `pending`. Raises `OSError`."""
        ancestors = folder.ancestors
        if self._symlinks:
            identity = _identity(os.fstat(opened))
            if identity in ancestors:
                return
            ancestors = (*ancestors, identity)
        in_maildir = folder.below.rstrip(b"/").rpartition(b"/")[2] in _MAILDIR and _is_maildir(opened)
        level, is_empty = folder.level + 1, True
        enters_subfolders = self._selection.enters_subfolders(folder.level)
        with os.scandir(opened) as members:
            for member in members:
                is_empty, name = False, os.fsencode(member.name)
                below = folder.below + name
                if self._selection.excludes(name, below):
                    continue
                path = path_in(folder_path, name)
                file_stat = self._stat(opened, name, path)
                if file_stat is None:
                    continue
                if isinstance(file_stat, UnreadablePath):
                    yield file_stat
                elif stat.S_ISDIR(file_stat.st_mode):
                    if enters_subfolders and level > MAX_DEPTH:
                        yield UnreadablePath(path, f"it is more than {MAX_DEPTH} folders deep")
                    elif enters_subfolders:
                        pending.append(_Folder(below + b"/", level, ancestors))
                elif stat.S_ISREG(file_stat.st_mode) and self._selection.includes(name, below):
                    yield FoundFile(path, file_stat, in_maildir, self._selection.is_mailbox(name, below))
        if is_empty and folder.level == 0:
            yield UnreadablePath(folder_path, "it is empty; is it mounted?")

    def _stat(self, folder: int, name: bytes, path: bytes) -> os.stat_result | UnreadablePath | None:
        """Return the stat result of a name in a folder; None for deleted files and ignored links."""
        try:
            file_stat = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            return None if error.errno == errno.ENOENT else _unreadable(path, error)
        if not stat.S_ISLNK(file_stat.st_mode):
            return file_stat
        if not self._symlinks:
            return None
        try:
            return os.stat(name, dir_fd=folder) if self._bases.contains(path) else None
        except OSError as error:
            return None if error.errno in _BROKEN_LINK else _unreadable(path, error)


def _unreadable(path: bytes, error: OSError) -> UnreadablePath:
    return UnreadablePath(path, error.strerror or str(error))


def _identity(file_stat: os.stat_result) -> tuple[int, int]:
    return file_stat.st_dev, file_stat.st_ino


def _is_maildir(folder: int) -> bool:
    try:
        return all(stat.S_ISDIR(os.stat(b"../" + name, dir_fd=folder).st_mode) for name in _MAILDIR)
    except OSError:
        return False
