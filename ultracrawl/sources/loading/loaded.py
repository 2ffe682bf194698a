"""`Loaded`: the result of loading definitions, and the functions that take the project from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ultracrawl.dataclass import dataclass
from ultracrawl.model import DefinitionError, Finding
from ultracrawl.model.finding import fatal_of
from ultracrawl.sources.project import Project
from ultracrawl.sources.reading.tree import OptionPath, PathFinding, Place


@dataclass(frozen=True, slots=True)
class Loaded:
    """A project, None if a finding is fatal, and all findings in file order."""

    project: Project | None
    findings: tuple[Finding, ...] = ()
    partial_project: Project | None = None
    """The project with invalid sources separated, if findings are fatal; None if even the storage paths are unknown."""

    place: Callable[[str, OptionPath], Place] | None = None
    """Returns the place of an option of a source; None if the format does not know it."""

    def finding(self, source: str, found: PathFinding) -> Finding:
        """Return a finding about a source of the project with its place: the file and line, or only the folder."""
        if self.place is not None:
            place = self.place(source, found.path)
        else:
            folder = str(usable_project(self).base)
            place = Place(folder, 0, ".".join(map(str, ("sources", source, *found.path))))
        return Finding(*place, found.problem, found.instead, found.fatal, found.code)

    @property
    def fatal(self) -> tuple[Finding, ...]:
        """The fatal findings."""
        return fatal_of(self.findings)


def require(loaded: Loaded) -> Project:
    """Return the project. Raises `DefinitionError` if any finding is fatal."""
    if loaded.project is None or loaded.fatal:
        raise DefinitionError(loaded.fatal)
    return loaded.project


def usable_project(loaded: Loaded) -> Project:
    """Return the project with invalid sources separated. Raises `DefinitionError` if there is not even that."""
    project = loaded.project or loaded.partial_project
    if project is None:
        raise DefinitionError(loaded.fatal)
    return project


def render_findings(findings: Iterable[Finding]) -> str:
    """Return one finding per line, marked `(advice)` unless it is fatal."""
    return "\n".join(f"{finding}{'' if finding.fatal else ' (advice)'}" for finding in findings)
