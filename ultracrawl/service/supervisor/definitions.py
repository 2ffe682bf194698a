"""The definitions of a service, reloaded when they change; a file with mistakes does not replace the old version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from ultracrawl.errors import StateError, UserError
from ultracrawl.model import DefinitionError, Finding
from ultracrawl.run.control.limits import limits_over
from ultracrawl.run.removal.scope import change_since, without_documents_outside
from ultracrawl.settings.projects import find_project, locate_project, project_of_urls
from ultracrawl.sources import Project, compile_source
from ultracrawl.sources.reading.locations import file_version, tracked_files
from ultracrawl.stores.project_stores import state_to_read

if TYPE_CHECKING:
    from ultracrawl.settings.adhoc import AdhocScope


class Definitions:
    """Holds the project of a service, and reloads its definitions."""

    def __init__(
        self, config: str | None = None, urls: tuple[str, ...] = (), scope: AdhocScope | None = None
    ) -> None:
        """Read the definitions, and add a source for `urls` with its `scope` as `crawl --url` does. Raises `UserError`.

        Mistakes in parts of the definitions are left to `Project.mistakes`.
        """
        self._config, self._urls, self._of_urls = config, urls, ""
        with tracked_files() as self._seen:
            self.project, hints = self._read(scope)
        self.hints = tuple(hints)
        """Findings that are not fatal."""

    def file_digests(self) -> dict[str, str]:
        """Return the digest of each file that was read, by its place in the project; of one that is gone none."""
        base, found = self.project.base, dict[str, str]()
        for path in list(self._seen):
            with suppress(OSError):
                if path.is_file():
                    name = path.relative_to(base) if path.is_relative_to(base) else path
                    found[name.as_posix()] = sha256(path.read_bytes()).hexdigest()[:32]
        return found

    def have_changed(self) -> bool:
        """Whether a definition file has changed since it was read, or since the last call."""
        changed = {path: now for path, was in self._seen.items() if (now := file_version(path)) != was}
        self._seen |= changed
        return bool(changed)

    def changed_by_urls(self) -> str:
        """Return the source of `urls` if its last run had another scope; empty if not, or if that cannot be read.

        Documents outside of the same scope that wait for a person are no change, nor are links that a limit keeps out.
        """
        if not (name := self._of_urls):
            return ""
        with suppress(StateError), state_to_read(self.project, name) as state:
            latest = next(iter(state.runs(1)), None) if state is not None else None
            if state is None or latest is None:
                return ""
            source = self.project.sources[name]
            closed = bool(limits_over(source.limits, state, self.project.state.path))
            latest = replace(latest, scope=without_documents_outside(latest.scope))
            if change_since(latest, compile_source(source, self.project), closed=closed).scope:
                return name
        return ""

    def reload(self) -> Sequence[Finding]:
        """Read the files again, and replace the project unless they have mistakes; returns all findings."""
        with tracked_files() as seen:
            try:
                project, hints = self._read()
            except DefinitionError as error:
                return error.findings
            except UserError as error:
                return [
                    self._mistake(
                        str(error), "correct it; the service keeps the definitions it loaded before"
                    )
                ]
            finally:
                self._seen = seen  # replaced as a whole: another thread may be iterating over it
        of_sources = (
            finding for mistaken in project.invalid_sources.values() for finding in mistaken.findings
        )
        mistakes = [*project.mistakes, *of_sources, *self._changed_paths(project)]
        if not mistakes:
            self.project = project
        return [*mistakes, *hints]

    def _read(self, scope: AdhocScope | None = None) -> tuple[Project, Iterable[Finding]]:
        if not self._urls:
            return find_project(self._config)
        project, source = project_of_urls(self._urls, scope)
        self._of_urls = source.name
        others = {name: one for name, one in project.adhoc_sources.items() if name != source.name}
        sources = {**project.sources, source.name: source}
        return project.model_copy(update={"sources": sources, "adhoc_sources": others}), ()

    def _changed_paths(self, project: Project) -> Iterator[Finding]:
        """Yield a mistake for each data folder whose path has changed."""
        for name in ("state", "cache", "index"):
            if getattr(project, name).path != getattr(self.project, name).path:
                yield self._mistake(f"`{name}.path` cannot change while the service runs", "restart it", name)

    def _mistake(self, problem: str, instead: str, key: str = "definitions") -> Finding:
        return Finding(locate_project(self._config)[0] or "ultracrawl.yaml", 0, key, problem, instead)
