"""The definitions of a service: read once, and anew when they have changed; a bad file changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ultracrawl.errors import UserError
from ultracrawl.model import DefinitionError, Finding
from ultracrawl.settings.projects import find_project, locate_project
from ultracrawl.sources import Project
from ultracrawl.sources.reading.locations import file_version, tracked_files


class Definitions:
    """The project of a service as its definitions say."""

    def __init__(self, config: str | None = None) -> None:
        """Raise `UserError` for definitions of which nothing can be used."""
        self._config = config
        with tracked_files() as self._seen:
            self.project, hints = find_project(config)
        self.hints = tuple(hints)
        """What was found in them besides, and keeps nothing from working."""

    def have_changed(self) -> bool:
        """Whether a file that they were read from was changed since the last call, or since that."""
        changed = {path: now for path, was in self._seen.items() if (now := file_version(path)) != was}
        self._seen |= changed
        return bool(changed)

    def read_again(self) -> Sequence[Finding]:
        """Take over what the files say now, unless there is a mistake in them; returns what was found."""
        with tracked_files() as seen:
            try:
                project, hints = find_project(self._config)
            except DefinitionError as error:
                return error.findings
            except UserError as error:
                return [
                    self._mistake(str(error), "correct it; the service goes on with what was read before")
                ]
            finally:
                self._seen = seen  # not before: another thread may be going through them
        apart = (finding for one in project.invalid_sources.values() for finding in one.findings)
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
        return Finding(locate_project(self._config)[0] or "ultracrawl.yaml", 0, key, problem, instead)
