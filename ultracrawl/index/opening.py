"""Opens the index that a project names, to be searched or worked on; `writing.opening` has what fills it."""

from __future__ import annotations

from ultracrawl.errors import UserError
from ultracrawl.index import IndexEngine
from ultracrawl.index.engines import IndexConfig
from ultracrawl.index.engines import open_index as open_engine
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.sections.documents.destinations import PROJECT_INDEX


def index_config(project: Project, name: str = PROJECT_INDEX) -> IndexConfig:
    """Return what is needed to open an index of a project, in this process or another. Raises `UserError`."""
    if name in project.destinations:
        kind = project.destinations[name].type
        raise UserError(f"{name!r} is a destination of the type {kind} and no index: it cannot be searched")
    further = project.indexes.get(name)
    if further is None and name != PROJECT_INDEX:
        known = ", ".join((PROJECT_INDEX, *project.indexes))
        raise UserError(f"there is no index {name!r}; the indexes are {known}")
    engine, path = (further.engine, further.path) if further else (project.index.engine, project.index.path)
    return IndexConfig(engine, path, tuple(project.schema_attributes.values()))


def readable_indexes(project: Project, source: DataSource) -> list[str]:
    """Return the names of what a source feeds and can be searched, the primary one first."""
    fed = [place.index for place in source.feeding.in_order] or [PROJECT_INDEX]
    return [name for name in fed if name not in project.destinations]


def open_index(project: Project, name: str = PROJECT_INDEX) -> IndexEngine:
    """Open an index of a project, for searching or for work on it. Raises `UserError`."""
    return open_engine(index_config(project, name))
