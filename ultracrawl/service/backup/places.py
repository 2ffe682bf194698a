"""The folders and files of a project that belong into a backup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ultracrawl.index.locking import LOCKS
from ultracrawl.service.access.sessions import FILE as SESSIONS
from ultracrawl.service.backup.unfinished_restore import SUFFIX as UNFINISHED
from ultracrawl.sources import Project
from ultracrawl.stores.sqlite.copying import COMPANIONS
from ultracrawl.system.replacement import OWN_NAMES

STATE, CACHE, DOCUMENTS, INDEX, INDEXES = "state", "cache", "documents", "index", "indexes"
DATABASE = "database"
"""The name of the stores in a database, which are saved first."""
_EXCLUDED_SUFFIXES = (*COMPANIONS, ".lock", ".crawl", ".order", ".runner", UNFINISHED)
"""Suffixes of files for communication between processes, and of temporary files of SQLite."""
_DAMAGED = ".damaged-"


def places_of(project: Project) -> dict[str, Path]:
    """Return the folders by their names in an archive, in the order in which they are saved.

    A document is written to the index, then recorded in the state, then deleted from the cache. Saved in this order,
    every document that the state knows is in one of the folders after it.
    """
    return {
        STATE: project.state.path,
        CACHE: project.cache.path,
        DOCUMENTS: project.documents.path,
        **index_places(project),
    }


def index_places(project: Project) -> Mapping[str, Path]:
    """Return the folders of all indexes."""
    return {
        INDEX: project.index.path,
        **{f"{INDEXES}/{name}": section.path for name, section in project.indexes.items()},
    }


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that belong into a backup, sorted."""
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        inner = path.relative_to(folder)
        if (
            path.is_symlink()
            or not path.is_file()
            or path.name in {*LOCKS, SESSIONS}
            or not OWN_NAMES.isdisjoint(inner.parts)
            or path.name.endswith(_EXCLUDED_SUFFIXES)
        ):
            continue
        if not any(_DAMAGED in part or part.startswith("damaged-") for part in inner.parts):
            yield path
