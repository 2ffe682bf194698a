"""Which sources are to be crawled."""

from __future__ import annotations

from collections.abc import Iterable

from ultracrawl.errors import UserError
from ultracrawl.model import DefinitionError, RunReport
from ultracrawl.sources import Catalog, DataSource, Project


def without_mistaken(project: Project, names: Iterable[str]) -> tuple[list[DataSource], list[RunReport]]:
    """Return the sources to crawl, and a report of each that has mistakes. Raises `UserError` if none is left."""
    chosen, mistaken = Catalog(project).apart(names)
    if not chosen and mistaken:
        raise DefinitionError([finding for error in mistaken.values() for finding in error.findings])
    if not chosen:
        raise UserError("the definition file has no sources; add one under `sources:`")
    return chosen, [RunReport.not_begun(name, error) for name, error in mistaken.items()]
