"""The kind `file`, as its entry point names it."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.port import WEB_OPTIONS, KindSetup, ListedKind

if TYPE_CHECKING:
    from ultracrawl.agents.port import Fetcher, Lister
    from ultracrawl.sources.definition import DataSource
    from ultracrawl.sources.kinds import WatchedFolders


class FileKind(ListedKind[FileSection]):
    """Files of local and mounted folders."""

    section = FileSection
    schemes = frozenset({"file"})
    hit_code = 901
    unfit = MappingProxyType({name: told for name, told in WEB_OPTIONS.items() if name != "filters"})

    def make_lister(self, setup: KindSetup[FileSection]) -> Lister:
        """Return what walks the folders."""
        from ultracrawl.agents.file.lister import FileLister  # noqa: PLC0415 - definitions are read without it

        return FileLister(setup)

    def make_fetcher(self, setup: KindSetup[FileSection]) -> Fetcher:
        """Return what reads the files."""
        from ultracrawl.agents.file.fetcher import FileFetcher  # noqa: PLC0415 - the same

        return FileFetcher(setup)

    def watched(self, source: DataSource, base: Path) -> WatchedFolders | None:
        """Return the folders, if they are to be watched."""
        if not isinstance(source, FileSection) or not source.watch:
            return None
        from ultracrawl.agents.file.watched import watched_files  # noqa: PLC0415 - for the service alone

        return watched_files(source, base)


KIND = FileKind()
