"""The folders of a project that a backup holds, and what in them is of no use elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ultracrawl.index.locking import LOCKS
from ultracrawl.sources import Project
from ultracrawl.stores.sqlite.copying import COMPANIONS

STATE, CACHE, DOCUMENTS, INDEX = "state", "cache", "documents", "index"
_FLEETING = (*COMPANIONS, ".lock", ".crawl", ".order", ".runner")
"""How the names of files end that steer processes, or that SQLite makes itself."""
_ASIDE = ".damaged-"


def places_of(project: Project) -> dict[str, Path]:
    """Return the folders by their names in an archive, in the order in which they are saved.

    What is submitted stands in the state before it leaves the cache, and is in the index before that: saved in this
    order, whatever the state knows of is in one of the folders behind it.
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
        **{f"indexes/{name}": one.path for name, one in project.indexes.items()},
    }


def files_of(folder: Path) -> Iterator[Path]:
    """Yield all files of a folder that belong into a backup, in their order."""
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        inner = path.relative_to(folder)
        if path.is_symlink() or not path.is_file() or path.name in LOCKS or path.name.endswith(_FLEETING):
            continue
        if not any(_ASIDE in part or part.startswith("damaged-") for part in inner.parts):
            yield path
