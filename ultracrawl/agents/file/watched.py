"""Which changes of files mean that a source is to be crawled."""

from __future__ import annotations

import os
from pathlib import Path

from ultracrawl.agents.file.opening import BaseFolders
from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.file.walking import FolderWalk
from ultracrawl.sources.kinds import WatchedFolders


def watched_files(options: FileSection, base: Path) -> WatchedFolders:
    """Return the folders of a source, and what tells of a path below them whether the crawl would look at it."""

    def folders() -> BaseFolders:
        return BaseFolders(options.paths, base, symlinks=options.symlinks)

    bases = folders()
    walk = FolderWalk(options, bases)

    def affects_source(changed: str) -> bool:
        path = os.fsencode(changed)
        holder = bases.holder(path)
        if holder is None or not walk.looks_at(path, os.fsencode(holder)):
            return False
        while not os.path.lexists(path):
            path = os.path.dirname(path)
        try:
            return folders().holds(
                path
            )  # where links lead to now; what they lead out to is no file of the source
        except OSError:
            return False

    return WatchedFolders(bases.paths, affects_source)
