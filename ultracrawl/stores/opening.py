"""Opens what a project names: the store of a source, its stored documents, the lists of values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ultracrawl.rules.attributes.schema import ValueList
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.sections.documents.lists import value_lists as listed_values
from ultracrawl.stores import SiteStore, Store
from ultracrawl.stores.boost_store import BoostStore
from ultracrawl.stores.documents.clustered import open_clusters
from ultracrawl.stores.documents.response_bodies import DocumentStore, FileStore
from ultracrawl.stores.list_store import ListStore
from ultracrawl.stores.port.engine import ScheduleEngine, StoreEngine
from ultracrawl.stores.port.schedule_store import ScheduleStore
from ultracrawl.stores.sqlite.answers.response_blocks import BlockStore
from ultracrawl.stores.sqlite.engine import SqliteEngine
from ultracrawl.system.plugins import STORES


def _engine(project: Project) -> StoreEngine:
    """Return what keeps the state of a project. Raises `UserError` if it cannot be used."""
    made = STORES.load(project.state.engine)
    engine = made() if callable(made) else None
    if not isinstance(engine, StoreEngine):
        raise STORES.find(project.state.engine).wrong_type_error(
            "a class that is an ultracrawl.stores.port.engine.StoreEngine"
        )
    return engine


def state_file(project: Project, source: str) -> Path | None:
    """Return the path beside which the files lie that steer a crawl of a source; None if its state is in memory."""
    return _engine(project).control_file(project.state.path, source)


def state_mark(project: Project, source: str) -> object | None:
    """Return what is another one whenever the state of a source has changed; None where only reading it tells."""
    engine = _engine(project)
    return engine.state_mark(project.state.path, source) if isinstance(engine, SqliteEngine) else None


def robot_file(project: Project, source: str) -> Path | None:
    """Return the name beside which the robot of a source shows its sign; None if the state is kept in memory."""
    file = state_file(project, source)
    return file.with_suffix(".robot") if file is not None else None


def state_exists(project: Project, source: str) -> bool:
    """Whether a source was ever crawled."""
    return _engine(project).has_store(project.state.path, source)


def remove_state(project: Project, source: str) -> None:
    """Delete what is known of a source; whoever calls this has it open for writing."""
    _engine(project).remove_store(project.state.path, source)


def open_state(project: Project, source: str, *, read_only: bool = False, renew: bool = False) -> Store:
    """Open the document table and queue of one source. Raises `UserError`, `StateError`.

    With `renew`, a damaged store is set aside and a new one begun.
    """
    return _engine(project).open_store(project.state.path, source, read_only=read_only, renew=renew)


@contextmanager
def state_to_read(project: Project, source: str) -> Iterator[Store | None]:
    """Give the document table and queue of one source to look at, None if it was never crawled. Raises `StateError`."""
    if not state_exists(project, source):
        yield None
        return
    with closing(open_state(project, source, read_only=True)) as state:
        yield state


def open_sites(project: Project, *, read_only: bool = False, renew: bool = False) -> SiteStore:
    """Open what all sources of a project know of sites; in memory if the state is. Raises `StateError`.

    With `renew`, a damaged store is set aside and a new one begun. With `read_only` one that is not there is empty.
    """
    return _engine(project).open_sites(project.state.path, read_only=read_only, renew=renew)


def open_schedules(project: Project, *, read_only: bool = False, renew: bool = False) -> ScheduleStore:
    """Open what a project knows of its schedules; in memory if the state is. Raises `StateError`.

    With `renew`, a damaged store is set aside and a new one begun. With `read_only` one that is not there is empty.
    """
    engine = _engine(project)
    keeps = engine if isinstance(engine, ScheduleEngine) else SqliteEngine()
    return keeps.open_schedules(project.state.path, read_only=read_only, renew=renew)


def schedules_folder(project: Project) -> Path | None:
    """Return the folder in which runners of schedules show what they keep; None if the state is in memory."""
    seen = _engine(project).control_file(project.state.path, "schedules")
    return seen.parent / "schedules" if seen is not None else None


def hand_over_sites(store: Store, sites: SiteStore, shown: str) -> None:
    """Give to the project what the store of a source has from a version in which each source knew sites for itself."""
    clocks, robots = store.sites.former()
    if clocks or robots:
        sites.take_over(clocks, robots, shown)
        store.sites.forget_former()


def _documents_path(project: Project, source: DataSource) -> Path:
    return project.documents.path / source.name


def open_documents(project: Project, source: DataSource, *, renew: bool = False) -> DocumentStore:
    """Open the stored answers of one source; with `renew` what is damaged is set aside. Raises `StateError`."""
    options = source.storage

    def open_part(folder: Path) -> DocumentStore:
        return (
            FileStore(folder)
            if options.form == "files"
            else BlockStore(folder, options.compact_below, renew=renew)
        )

    return open_clusters(_documents_path(project, source), options.clusters, open_part)


def stored_documents_exist(project: Project, source: DataSource) -> bool:
    """Whether a source keeps documents, and was crawled since it does."""
    return source.storage.keep and _documents_path(project, source).exists()


def open_lists(project: Project) -> ListStore:
    """Open the lists of values that were loaded in bulk."""
    return ListStore(project.state.path)


def open_boosts(project: Project) -> BoostStore:
    """Open the boosts that were loaded in bulk."""
    return BoostStore(project.state.path)


def value_lists(project: Project) -> dict[str, ValueList]:
    """Return all lists of values by search attribute.

    Where the definition and a loaded file list the same attribute, the values of the definition come first, and
    win over equal ones that were loaded.
    """
    own, loaded = listed_values(project.lists), open_lists(project).read()
    both = {
        name: one.with_values(loaded[name].values) if name in loaded else one for name, one in own.items()
    }
    return {**loaded, **both}
