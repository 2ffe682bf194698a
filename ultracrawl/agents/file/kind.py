"""The kind `file`: the object that its entry point names."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

from ultracrawl.agents import file
from ultracrawl.agents.file.remote.locations import SCHEMES
from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.port import WEB_OPTIONS, Fetcher, KindSetup, ListedKind, Lister
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.kinds import WatchedFolders


class FileKind(ListedKind[FileSection]):
    """Files of local, mounted and remote folders."""

    section = FileSection
    schemes = frozenset({"file"}) | SCHEMES
    hit_code = 901
    finds_duplicates = True
    unfit = MappingProxyType({
        **{name: advice for name, advice in WEB_OPTIONS.items() if name != "filters"},
        "acl_paths": "write `permissions: true`, or a source with `acl` for each folder",
    })  # fmt: skip

    def check_definition(self, setup: KindSetup[FileSection]) -> None:
        """Check that the libraries for remote paths are installed. Raises `MissingExtraError`."""
        if setup.options.remote:
            file.check_libraries(setup.options)

    def make_lister(self, setup: KindSetup[FileSection]) -> Lister:
        """Return the lister of a source."""
        return file.FileLister(setup)

    def make_fetcher(self, setup: KindSetup[FileSection]) -> Fetcher:
        """Return the fetcher of a source."""
        return file.FileFetcher(setup)

    def watched(self, source: DataSource, base: Path) -> WatchedFolders | None:
        """Return the local folders to watch; None if there are none, or the source has no `watch: true`."""
        if not isinstance(source, FileSection) or not source.watch or not source.folders:
            return None
        return file.watched_files(source, base)


KIND = FileKind()
