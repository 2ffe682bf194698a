"""Opens the stores of a project: state, sites, schedules, stored documents, lists of values, boosts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ultracrawl.errors import UserError
from ultracrawl.rules.attributes.schema import ValueList
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.project import InvalidSource
from ultracrawl.sources.secrets import read_secrets
from ultracrawl.sources.sections.documents.lists import value_lists as listed_values
from ultracrawl.stores import SiteStore, Store
from ultracrawl.stores.boost_store import BoostStore
from ultracrawl.stores.delivery import await_delivery, is_delivered
from ultracrawl.stores.documents.clustered import open_clusters
from ultracrawl.stores.documents.response_bodies import DocumentStore, FileStore
from ultracrawl.stores.list_store import ListStore
from ultracrawl.stores.port.engine import NamedStoreEngine, NodeEngine, SavingEngine, StoreEngine
from ultracrawl.stores.port.node_store import NodeStore
from ultracrawl.stores.port.notes import Notes, NotesOf
from ultracrawl.stores.port.schedule_store import ScheduleStore
from ultracrawl.stores.source_notes.definition import is_defined_elsewhere
from ultracrawl.stores.sqlite.answers.response_blocks import BlockStore
from ultracrawl.stores.unfinished_copy import require_whole
from ultracrawl.system.plugins import STORES

if TYPE_CHECKING:
    from ultracrawl.stores.lease_renewer import LeaseRenewer


def store_engine(name: str, options: Mapping[str, str] | None = None) -> StoreEngine:
    """Return a storage engine by its name, made with `options` if there are any.

    Raises `UserError` if it cannot be used.
    """
    plugin = STORES.load(name)
    engine: object = (plugin(options) if options else plugin()) if callable(plugin) else None
    # `isinstance` looks at each method of the protocol, each time.
    if not issubclass(type(engine), StoreEngine):
        raise STORES.find(name).wrong_type_error(
            "a class that is an ultracrawl.stores.port.engine.StoreEngine"
        )
    return cast("StoreEngine", engine)


def _engine(project: Project) -> StoreEngine:
    return store_engine(project.state.engine, state_options(project))


def saving_engine(project: Project) -> SavingEngine | None:
    """Return the storage engine if its stores are in no folder that can be saved, else None.

    Raises `UserError`, and `StateError` if the state is an unfinished copy.
    """
    engine = _whole_engine(project)
    return engine if isinstance(engine, SavingEngine) else None


def _whole_engine(project: Project) -> StoreEngine:
    """Return the storage engine, whose stores are no unfinished copy. Raises `UserError`, `StateError`."""
    engine = _engine(project)
    require_whole(engine.open_notes(project.state.path, "", NotesOf.SERVICE), project.state.engine)
    return engine


def state_options(project: Project) -> dict[str, str]:
    """Return the options of the storage engine, its secrets as this process finds them. Raises `UserError`."""
    state = project.state
    if not state.url:
        return {}
    options = {"url": state.url, "schema": state.schema_name}
    secrets = {} if state.password is None else {"password": state.password}
    return options | read_secrets(secrets, "state", project.key_file)


def source_notes(project: Project, source: str) -> Notes | None:
    """Return the notes of a source: the control of its crawl, orders, failures; None if its state is in memory."""
    return _engine(project).open_notes(project.state.path, source)


def robot_notes(project: Project, source: str) -> Notes | None:
    """Return the notes of the robot of a source; None if its state is in memory."""
    return _engine(project).open_notes(project.state.path, source, NotesOf.ROBOT)


def service_notes(project: Project) -> Notes | None:
    """Return the notes of the processes that run schedules; None if the state is in memory. Raises `StateError`."""
    return _whole_engine(project).open_notes(project.state.path, "", NotesOf.SERVICE)


def state_version(project: Project, source: str) -> object | None:
    """Return a value that changes with every write to the state of a source; None if the engine has no such value."""
    return _engine(project).state_version(project.state.path, source)


def state_exists(project: Project, source: str) -> bool:
    """Return whether a source was ever crawled. Raises `StateError`, as for an unfinished copy."""
    return _whole_engine(project).has_store(project.state.path, source)


def named_stores(project: Project) -> NamedStoreEngine | None:
    """Return the storage engine if it can list and rename stores, else None. Raises `UserError`, `StateError`."""
    engine = _whole_engine(project)
    return engine if isinstance(engine, NamedStoreEngine) else None


def stored_sources(project: Project) -> list[str]:
    """Return the sources that were ever crawled, defined or not; none if the storage engine cannot list them."""
    engine = named_stores(project)
    return [] if engine is None else engine.stored_sources(project.state.path)


def with_stored_sources(project: Project) -> Project:
    """Return the project with the sources of its state that mistakes in its definitions hide, as invalid ones.

    Nothing is known of them but their names and these mistakes, which is all that orders need.
    """
    invalid = project.invalid_sources
    mistakes = project.mistakes or tuple(
        finding for source in invalid.values() if not project.sources for finding in source.findings
    )
    if not mistakes:
        return project
    known = project.known_sources
    hidden = (name for name in stored_sources(project) if name not in known)
    found = {name: InvalidSource(DataSource(name=name), mistakes) for name in hidden}
    return project.model_copy(update={"invalid_sources": {**found, **invalid}})


def is_left_over(
    engine: str, folder: Path, source: str, definitions: str, options: Mapping[str, str] | None = None
) -> bool:
    """Return whether a source that these definitions do not name has a store, and no other file defines it.

    `options` are those of the engine (`state_options`).
    """
    stores = store_engine(engine, options)
    return stores.has_store(folder, source) and not is_defined_elsewhere(
        stores.open_notes(folder, source), folder, definitions
    )


def remove_state(project: Project, source: str) -> None:
    """Delete the state of a source; the caller has it open for writing."""
    _engine(project).remove_store(project.state.path, source)


def open_state(
    project: Project, source: str, *, read_only: bool = False, renew: bool = False, waits: bool = True
) -> Store:
    """Open the store of one source. Raises `UserError`, and `StateError`, as for an unfinished copy.

    With `renew`, a damaged store is set aside and a new one created. A node that delivers documents of the source gives
    it up first; without `waits` that is refused as a crawl is.
    """
    engine = _whole_engine(project)
    try:
        return engine.open_store(project.state.path, source, read_only=read_only, renew=renew)
    except UserError:
        notes = source_notes(project, source) if waits and not read_only else None
        if notes is None or not is_delivered(notes):
            raise
        await_delivery(notes, source)
    return engine.open_store(project.state.path, source, renew=renew)


@contextmanager
def state_to_read(project: Project, source: str) -> Iterator[Store | None]:
    """Yield the store of one source opened for reading, None if it was never crawled. Raises `StateError`."""
    engine, folder = _whole_engine(project), project.state.path
    if not engine.has_store(folder, source):
        yield None
        return
    with closing(engine.open_store(folder, source, read_only=True)) as state:
        yield state


def open_leases(store: Store, function_timeout: float) -> LeaseRenewer:
    """Return what renews the lease of a source, and others, while the running event loop does not come to it.

    A function of the user may hold the loop up for ten times `function_timeout`, a minute at least.
    """
    from ultracrawl.stores.lease_renewer import LeaseRenewer, LoopPulse, longest_silence  # noqa: PLC0415 - for crawls

    pulse = LoopPulse(asyncio.get_running_loop().call_soon_threadsafe, longest_silence(function_timeout))
    leases = LeaseRenewer(pulse.lives)
    if (lease := store.kept_lease()) is not None:
        leases.keep(lease)
    return leases


def open_sites(project: Project, *, read_only: bool = False, renew: bool = False) -> SiteStore:
    """Open the shared store of sites, in memory if the state is. Raises `StateError`.

    With `renew`, a damaged store is set aside and a new one created. With `read_only` a missing store is empty.
    """
    return _whole_engine(project).open_sites(project.state.path, read_only=read_only, renew=renew)


def open_schedules(project: Project, *, read_only: bool = False, renew: bool = False) -> ScheduleStore:
    """Open the store of schedules, in memory if the state is. Raises `StateError`.

    With `renew`, a damaged store is set aside and a new one created. With `read_only` a missing store is empty.
    """
    return _whole_engine(project).open_schedules(project.state.path, read_only=read_only, renew=renew)


def open_nodes(project: Project, token: str = "", *, read_only: bool = False) -> NodeStore:
    """Open the store of nodes, for the node of this token. Raises `UserError` without a database, `StateError`."""
    engine = _whole_engine(project)
    if not isinstance(engine, NodeEngine):
        raise UserError(
            f"nodes need a state that several machines can use, and `state.engine` is `{project.state.engine}`; "
            "write `state: {engine: postgresql, url: ...}`"
        )
    return engine.open_nodes(project.state.path, token, read_only=read_only)


def has_nodes(project: Project) -> bool:
    """Return whether several machines can use the state of a project. Raises `UserError`."""
    return isinstance(_engine(project), NodeEngine)


def has_lasting_state(project: Project) -> bool:
    """Return whether the state of a project outlives its processes; it does not in memory."""
    return source_notes(project, "") is not None


def schedules_folder(project: Project) -> Path | None:
    """Return the folder of the service on this machine; None if the state is in memory."""
    return project.state.path / "schedules" if has_lasting_state(project) else None


def listed_folder(project: Project, source: str) -> Path | None:
    """Return the folder for files of the kind of a listed source; None if the state is in memory."""
    return project.state.path / "listed" / source if has_lasting_state(project) else None


def documents_folder(project: Project, source: str) -> Path:
    """Return the folder of the stored responses of a source; it need not exist."""
    return project.documents.path / source


def open_documents(project: Project, source: DataSource, *, renew: bool = False) -> DocumentStore:
    """Open the stored responses of one source; with `renew` a damaged store is set aside. Raises `StateError`."""
    options = source.storage

    def open_part(folder: Path) -> DocumentStore:
        return (
            FileStore(folder)
            if options.form == "files"
            else BlockStore(folder, options.compact_below, renew=renew)
        )

    return open_clusters(documents_folder(project, source.name), options.clusters, open_part)


def stored_documents_exist(project: Project, source: DataSource) -> bool:
    """Return whether a source stores documents, and its store exists."""
    return source.storage.keep and documents_folder(project, source.name).exists()


def open_lists(project: Project) -> ListStore:
    """Open the lists of values loaded in bulk."""
    return ListStore(project.state.path)


def open_boosts(project: Project) -> BoostStore:
    """Open the boosts loaded in bulk."""
    return BoostStore(project.state.path)


def value_lists(project: Project) -> dict[str, ValueList]:
    """Return all lists of values by search attribute.

    If an attribute has values in the definition and loaded ones, those of the definition come first, and override
    equal loaded ones.
    """
    defined, loaded = listed_values(project.lists), open_lists(project).read()
    merged = {
        name: values.with_values(loaded[name].values) if name in loaded else values
        for name, values in defined.items()
    }
    return {**loaded, **merged}
