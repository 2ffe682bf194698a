"""Gives a source another name: its store, its documents in indexes, and all else that is stored of it."""

from __future__ import annotations

import json
from contextlib import closing

from ultracrawl.dataclass import asdict, dataclass
from ultracrawl.errors import UserError
from ultracrawl.run import source_data
from ultracrawl.settings.adhoc import forget_adhoc_source
from ultracrawl.sources import Project
from ultracrawl.stores.port.engine import NamedStoreEngine
from ultracrawl.stores.port.notes import Notes
from ultracrawl.stores.project_stores import named_stores, open_state, source_notes, state_exists

_JOURNAL = "renamed"
"""Name of the note of a source that says which name it is being given."""


@dataclass(frozen=True, slots=True)
class RenamedSource:
    """What was renamed."""

    source: str
    name: str
    """The new name."""
    documents: int
    """Documents that have it in the indexes."""

    def as_json(self) -> dict[str, object]:
        """Return the JSON object of `ultracrawl rename --json`."""
        return asdict(self)


def rename_source(project: Project, source: str, new: str) -> RenamedSource:
    """Give a source another name, which no source with stored data has; nothing is fetched again.

    What is to be done is written down first: after a kill, the next rename, removal or crawl of one of the two names
    finishes it. Raises `UserError` while the source is being crawled or a service keeps it, if it was never crawled,
    and if the new name is taken; `WorkError` if an index does not take its documents.
    """
    finished = [finish_rename(project, name) for name in (source, new)]
    for done in finished:
        if done is not None and (done.source, done.name) == (source, new):
            return done
    source_data.require_idle(project, source)
    stores = _stores(project)
    if not state_exists(project, source):
        raise UserError(f"{source!r} was never crawled, so there is nothing to rename")
    with stores.lock_source(project.state.path, new):
        if state_exists(project, new):
            raise UserError(
                f"{new!r} has been crawled itself; remove one of the two: `ultracrawl remove {source}` or "
                f"`ultracrawl remove {new}`"
            )
        return _rename(project, stores, source, new)


def finish_rename(project: Project, name: str) -> RenamedSource | None:
    """Finish an interrupted rename from or to a name; None if there is none. Raises as `rename_source` does."""
    for source, new in unfinished_renames(project):
        if name in (source, new):
            stores = _stores(project)
            with stores.lock_source(project.state.path, new):
                return _rename(project, stores, source, new)
    return None


def unfinished_renames(project: Project) -> list[tuple[str, str]]:
    """Return the old and the new name of each rename that was interrupted. Raises `StateError`, `UserError`."""
    stores = named_stores(project)
    noting = () if stores is None else stores.noting_sources(project.state.path, _JOURNAL)
    return [_names(source, _notes(project, source)) for source in noting]


def _rename(project: Project, stores: NamedStoreEngine, source: str, new: str) -> RenamedSource:
    """Do what is left to be done; every step may be repeated. The lock of the new name is held."""
    folder, documents = project.state.path, 0
    notes = _notes(project, source)
    if state_exists(project, source):
        with closing(open_state(project, source)) as state:
            notes.write(_JOURNAL, json.dumps({"source": source, "new": new}).encode())
            documents = source_data.rename_documents(project, source, new, state)
        with stores.lock_source(folder, source):
            source_data.rename_places(project, source, new)
            stores.rename_store(folder, source, new)
    forget_adhoc_source(project, source, "" if new in project.known_sources else new)
    notes.delete(_JOURNAL)
    return RenamedSource(source, new, documents)


def _stores(project: Project) -> NamedStoreEngine:
    stores = named_stores(project)
    if stores is None:
        raise UserError(f"the store engine `{project.state.engine}` cannot rename sources")
    return stores


def _notes(project: Project, source: str) -> Notes:
    notes = source_notes(project, source)
    assert notes is not None
    return notes


def _names(source: str, notes: Notes) -> tuple[str, str]:
    """Return the two names of a journal; it is written in one step."""
    try:
        match json.loads(notes.read(_JOURNAL) or ""):
            case {"source": str(old), "new": str(new)}:
                return old, new
    except ValueError:
        pass
    raise UserError(f"the note `{_JOURNAL}` beside the state of {source!r} cannot be read; delete it")
