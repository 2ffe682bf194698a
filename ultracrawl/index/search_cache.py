"""Keeps what a search needs of definitions beside the states: to read them takes longer than most searches.

It is kept of YAML without a finding alone, and counts as long as each of their files is what it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ultracrawl import __version__
from ultracrawl.index.searchable_project import SearchableProject
from ultracrawl.model import Finding
from ultracrawl.settings.locations import ADHOC_FILE, scrapy_settings
from ultracrawl.settings.projects import find_project, locate_project
from ultracrawl.sources.dialects import is_yaml
from ultracrawl.sources.reading.locations import Version, file_version, tracked_files
from ultracrawl.system.files import replace_file

FORMAT = 3
"""Goes up when other things are kept, or when an option of which something is kept gets another default."""
FILE = Path("var", "state", "searched.json")
"""Where it is kept, seen from the folder of the data; no folder is made for it."""


def find_searchable_project(config: str | None = None) -> tuple[SearchableProject, Iterable[Finding]]:
    """Return what a search needs of the project that `find_project` would read, and what else was found in its files.

    Raises `UserError`.
    """
    kept_file = _KeptFile.of_definitions(config)
    known = kept_file.kept() if kept_file else None
    if known is not None:
        return known, ()
    from ultracrawl.index.opening import searchable_project  # noqa: PLC0415 - it loads what reads definitions

    with tracked_files() as files:
        project, found = find_project(config, plain=True)
        hints, searched = list(found), searchable_project(project)
    if kept_file and not (hints or project.invalid_sources or project.mistakes):
        kept_file.keep(searched, files)
    return searched, hints


@dataclass(frozen=True, slots=True)
class _KeptFile:
    """The file in which it is kept for one place of definitions."""

    config: str | None
    location: Path
    data: str
    file: Path

    @classmethod
    def of_definitions(cls, config: str | None) -> _KeptFile | None:
        """Return that for a file or folder, or for what `crawl --url` remembers; None for other places.

        Also where there are no states.
        """
        found, data = locate_project(config)
        if found is None and scrapy_settings() is None:
            found, data = str(ADHOC_FILE), str(Path.cwd())
        if found is None:
            return None
        location = Path(found).absolute()
        base = Path(data).expanduser() if data else location if location.is_dir() else location.parent
        file = base.absolute() / FILE
        usual = location.exists() and is_yaml(location)
        return cls(config, location, data, file) if usual and file.parent.is_dir() else None

    def kept(self) -> SearchableProject | None:
        """Return what is kept; None without anything that still counts."""
        try:
            values = json.loads(self.file.read_bytes())
            if values["head"] == self._head() and all(
                file_version(Path(path)) == tuple(version) for path, version in values["files"].items()
            ):
                return SearchableProject.from_json(
                    values["project"], lambda: find_project(self.config, plain=True)[0]
                )
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            pass  # there is none, or somebody else wrote it
        return None

    def keep(self, searched: SearchableProject, files: Mapping[Path, Version]) -> None:
        """Keep this, which the files said, in place of what is kept; nothing, where that cannot be written."""
        values = {
            "head": self._head(),
            "files": {str(path.absolute()): version for path, version in files.items()},
            "project": searched.to_json(),
        }
        with suppress(OSError):
            replace_file(self.file, json.dumps(values).encode())

    def _head(self) -> list[Any]:
        return [FORMAT, __version__, str(self.location), self.data]
