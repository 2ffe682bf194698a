"""Decides which file changes cause a crawl of a source with `watch: true`."""

from __future__ import annotations

import os
from pathlib import Path

from ultracrawl.agents.file.base_folders import BaseFolders
from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.file.walking import FolderWalk
from ultracrawl.sources.kinds import WatchedFolders


def watched_files(options: FileSection, base: Path) -> WatchedFolders:
    """Return the folders of a source, and a function that decides whether a changed path affects the source."""

    def folders() -> BaseFolders:
        return BaseFolders(options.folders, base, symlinks=options.symlinks)

    bases = folders()
    walk = FolderWalk(options, bases)

    def affects_source(changed: str) -> bool:
        path = os.fsencode(changed)
        base_folder = bases.base_folder_of(path)
        if base_folder is None or not walk.covers(path, os.fsencode(base_folder)):
            return False
        while not os.path.lexists(path):
            path = os.path.dirname(path)
        try:
            return folders().contains(path)  # new folders each time: links may have changed
        except OSError:
            return False

    return WatchedFolders(bases.paths, affects_source)
