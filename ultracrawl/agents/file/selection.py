"""Decides by names which files and folders below a base folder belong to a source."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from fnmatch import translate

from ultracrawl.agents.file.section import FileSection


class FileSelection:
    """The options `include`, `exclude`, `hidden`, `levels` and `mailboxes` of a source.

    Its methods take the name of a file or folder, and its path relative to the base folder.
    """

    def __init__(self, options: FileSection) -> None:
        self._levels = options.levels
        self._hidden = options.hidden
        self._includes_all = not options.include
        self._included = _matcher(options.include)
        self._excluded = _matcher(options.exclude)
        self.is_mailbox = _matcher(options.mailboxes)
        """Whether the option `mailboxes` matches a file."""

    def excludes(self, name: bytes, below: bytes) -> bool:
        """Whether a file or folder is left out, whatever `include` says."""
        return (name.startswith(b".") and not self._hidden) or self._excluded(name, below)

    def includes(self, name: bytes, below: bytes) -> bool:
        """Whether `include` matches a file, or is empty."""
        return self._includes_all or self._included(name, below)

    def enters_subfolders(self, level: int) -> bool:
        """Whether the subfolders of a folder are entered; `level` is 0 for the base folder."""
        return self._levels is None or level < self._levels

    def covers(self, below: bytes, is_file: Callable[[], bool]) -> bool:
        """Whether a walk would visit a path; `is_file` tells files from folders, deleted paths count as folders."""
        steps = [(step[0], below[: step.end()]) for step in re.finditer(rb"[^/]+", below)]
        if steps and not self.enters_subfolders(len(steps) - 2):
            return False
        if any(self.excludes(*step) for step in steps):
            return False
        return not steps or self.includes(*steps[-1]) or not is_file()


def _matcher(patterns: tuple[str, ...]) -> Callable[[bytes, bytes], bool]:
    """Return a function that matches a name, or a path below the base folder, against glob patterns."""
    names = [_compiled(pattern) for pattern in patterns if "/" not in pattern]
    paths = [_compiled(path) for pattern in patterns if "/" in pattern for path in _path_patterns(pattern)]

    def matches(name: bytes, below: bytes) -> bool:
        return any(match(below) for match in paths) or any(match(name) for match in names)

    return matches


def _compiled(pattern: str) -> Callable[[bytes], object]:
    return re.compile(os.fsencode(translate(pattern))).match


def _path_patterns(pattern: str) -> list[str]:
    """Return the patterns of whole paths for one with a slash, as in a .gitignore file.

    A slash at the end names a folder with all that is in it, at any depth unless another slash stands before.
    """
    path = pattern.strip("/")
    found = [path, f"{path}/*"] if pattern.endswith("/") else [path]
    if pattern == f"{path}/" and "/" not in path:
        found += [f"*/{one}" for one in found]
    return found
