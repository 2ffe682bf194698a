"""Caches a `SearchableProject` next to the state files: parsing definitions takes longer than most searches.

Only YAML definitions without findings are cached. An entry is valid as long as none of their files has changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ultracrawl import __version__
from ultracrawl.dataclass import dataclass
from ultracrawl.index.searchable_project import SearchableProject
from ultracrawl.model import Finding
from ultracrawl.settings.locations import ADHOC_FILE, scrapy_settings
from ultracrawl.settings.projects import find_project, locate_project
from ultracrawl.sources.dialects import is_yaml
from ultracrawl.sources.reading.locations import Version, file_version, tracked_files
from ultracrawl.system.files import replace_file
from ultracrawl.system.replacement import finish_replacement

FORMAT = 9
"""Version of the cache format; increase it when other values are stored, or when the default of a stored option
changes."""
FILE = Path("var", "state", "searched.json")
"""Path of the cache file relative to the data folder; the folder is never created for it."""


def find_searchable_project(config: str | None = None) -> tuple[SearchableProject, Iterable[Finding]]:
    """Return the `SearchableProject` of the project that `find_project` would load, and the findings in its files.

    Raises `UserError`.
    """
    cache_file = _CacheFile.of_definitions(config)
    if cache_file:
        finish_replacement(cache_file.file.parent)
    cached = cache_file.load() if cache_file else None
    if cached is not None:
        return cached, ()
    from ultracrawl.index.project_index import searchable_project  # noqa: PLC0415 - it loads the definition parsers

    with tracked_files() as files:
        project, found = find_project(config, plain=True)
        hints, searched = list(found), searchable_project(project)
    if cache_file and not (hints or project.invalid_sources or project.mistakes):
        cache_file.store(searched, files)
    return searched, hints


@dataclass(frozen=True, slots=True)
class _CacheFile:
    """The cache file for one location of definitions."""

    config: str | None
    location: Path
    data: str
    file: Path

    @classmethod
    def of_definitions(cls, config: str | None) -> _CacheFile | None:
        """Return the cache file for a definition file or folder, or for the remembered `crawl --url`.

        None for other locations, and if there is no state folder.
        """
        found, data = locate_project(config)
        if found is None and scrapy_settings() is None:
            found, data = str(ADHOC_FILE), str(Path.cwd())
        if found is None:
            return None
        location = Path(found).absolute()
        base = Path(data).expanduser() if data else location if location.is_dir() else location.parent
        file = base.absolute() / FILE
        is_cacheable = location.exists() and is_yaml(location)
        return cls(config, location, data, file) if is_cacheable and file.parent.is_dir() else None

    def load(self) -> SearchableProject | None:
        """Return the cached project; None if there is none or it is out of date."""
        try:
            values = json.loads(self.file.read_bytes())
            if values["head"] == self._head() and all(
                file_version(Path(path)) == tuple(version) for path, version in values["files"].items()
            ):
                return SearchableProject.from_json(
                    values["project"], lambda: find_project(self.config, plain=True)[0]
                )
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            pass  # no cache file, or one of another program
        return None

    def store(self, searched: SearchableProject, files: Mapping[Path, Version]) -> None:
        """Write the project, which was read from `files`, to the cache; errors are ignored."""
        values = {
            "head": self._head(),
            "files": {str(path.absolute()): version for path, version in files.items()},
            "project": searched.to_json(),
        }
        with suppress(OSError):
            replace_file(self.file, json.dumps(values).encode())

    def _head(self) -> list[Any]:
        return [FORMAT, __version__, str(self.location), self.data]
