"""The definitions of a service: read once, and anew when they have changed; a bad file changes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ultracrawl.errors import UserError
from ultracrawl.model import DefinitionError, Finding
from ultracrawl.settings.projects import find_project, found_definitions
from ultracrawl.sources import Project

_Seen = tuple[tuple[str, int, int], ...]


class Definitions:
    """The project of a service as its definitions say."""

    def __init__(self, config: str | None = None) -> None:
        """Raise `UserError` for definitions of which nothing can be used."""
        self._config = config
        self._seen = self._look()
        self.project, hints = find_project(config)
        self.hints = tuple(hints)
        """What was found in them besides, and keeps nothing from working."""

    def have_changed(self) -> bool:
        """Whether a file was changed since the last call, or since they were read."""
        seen = self._look()
        changed = seen != self._seen
        self._seen = seen
        return changed

    def read_again(self) -> Sequence[Finding]:
        """Take over what the files say now, unless there is a mistake in them; returns what was found."""
        self._seen = self._look()
        try:
            project, hints = find_project(self._config)
        except DefinitionError as error:
            return error.findings
        except UserError as error:
            return [self._mistake(str(error), "correct it; the service goes on with what was read before")]
        apart = (finding for one in project.mistaken.values() for finding in one.findings)
        found = [*project.mistakes, *apart, *self._moved(project)]
        if not found:
            self.project = project
        return [*found, *hints]

    def _moved(self, project: Project) -> Iterator[Finding]:
        """Yield a mistake for each place for data that is another one now."""
        for name in ("state", "cache", "index"):
            if getattr(project, name).path != getattr(self.project, name).path:
                yield self._mistake(f"`{name}.path` cannot change while the service runs", "restart it", name)

    def _mistake(self, problem: str, instead: str, key: str = "definitions") -> Finding:
        return Finding(found_definitions(self._config)[0] or "ultracrawl.yaml", 0, key, problem, instead)

    def _look(self) -> _Seen:
        """Return what tells a version of the definition file, or of the files of a folder, from another one."""
        place = Path(found_definitions(self._config)[0] or "")
        paths = sorted(place.iterdir()) if place.is_dir() else [place]
        return tuple(_version(path) for path in paths if path.is_file())


def _version(path: Path) -> tuple[str, int, int]:
    try:
        now = os.stat(path)
    except OSError:
        return str(path), 0, 0
    return str(path), now.st_mtime_ns, now.st_size
