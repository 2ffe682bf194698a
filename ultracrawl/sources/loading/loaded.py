"""The result of loading definitions: a project, or what is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ultracrawl.model import DefinitionError, Finding
from ultracrawl.model.finding import fatal_of
from ultracrawl.sources.project import Project


@dataclass(frozen=True, slots=True)
class Loaded:
    """What came out of loading: `project` is None if a finding is fatal; findings are in file order."""

    project: Project | None
    findings: tuple[Finding, ...] = ()
    partial_project: Project | None = None
    """What can be worked with although findings are fatal; None if it is not even known where the data are."""

    @property
    def fatal(self) -> tuple[Finding, ...]:
        """The findings that keep the definitions from being used."""
        return fatal_of(self.findings)


def require(loaded: Loaded) -> Project:
    """Return the project. Raises `DefinitionError` with all fatal findings if there is none."""
    if loaded.project is None or loaded.fatal:
        raise DefinitionError(loaded.fatal)
    return loaded.project


def usable_project(loaded: Loaded) -> Project:
    """Return the project, mistaken sources set apart. Raises `DefinitionError` if nothing can be worked with."""
    project = loaded.project or loaded.partial_project
    if project is None:
        raise DefinitionError(loaded.fatal)
    return project


def render_findings(findings: Iterable[Finding]) -> str:
    """Return findings one a line, with `(advice)` behind those that stop nothing; empty without any."""
    return "\n".join(f"{finding}{'' if finding.fatal else ' (advice)'}" for finding in findings)
