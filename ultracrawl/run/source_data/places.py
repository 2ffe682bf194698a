"""The places of what is stored of a source beside its store: folders, logs, notes, and rows in shared stores."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from ultracrawl.errors import UserError
from ultracrawl.index.writing.project_outputs import cache_folder
from ultracrawl.sources import Project
from ultracrawl.stores.control_channel import crawl_lease_left, crawl_status, remove_control
from ultracrawl.stores.file_notes import state_errors
from ultracrawl.stores.port.notes import Notes
from ultracrawl.stores.project_stores import (
    documents_folder,
    has_lasting_state,
    listed_folder,
    open_schedules,
    open_sites,
    robot_notes,
    schedules_folder,
    service_notes,
    source_notes,
)
from ultracrawl.stores.runner_registry import active_runners
from ultracrawl.stores.site_orders import SITE_ORDERS
from ultracrawl.stores.source_notes.comparison import COMPARED
from ultracrawl.stores.source_notes.definition import DEFINITION
from ultracrawl.stores.source_notes.failure import FAILURE
from ultracrawl.stores.source_notes.let_in import LET_IN
from ultracrawl.stores.source_notes.lost_versions import LOST_VERSIONS
from ultracrawl.stores.source_notes.traps import TRAPS


def require_idle(project: Project, source: str) -> None:
    """Raise `UserError` if a service, a robot or a crawl works with a source."""
    notes = service_notes(project)
    for runner in active_runners(notes):
        if source in runner.sources:
            raise UserError(
                f"the {runner.process} (`serve` or `crawl --continuous`) crawls {source!r} when it is due; "
                f"stop it, or take the source out of its definition, first{_lease(notes, runner.note)}"
            )
    for notes in (robot_notes(project, source), source_notes(project, source)):
        status, left = crawl_status(notes), crawl_lease_left(notes)
        if status is not None:
            raise UserError(
                f"the source {source!r} is being crawled by the {status.process}; wait for it or stop it "
                f"(`ultracrawl stop {source}`){_more(left)}"
            )


def _lease(notes: Notes | None, name: str) -> str:
    return _more(notes.lease_left(name) if notes is not None else None)


def _more(left: float | None) -> str:
    return "" if left is None else f"; if that machine has died, wait for {left:.0f} s"


def delete_places(project: Project, source: str) -> None:
    """Delete everything that is stored of a source but its store and its documents in indexes. Raises `StateError`."""
    for path, _ in _places(project, source, source):
        _delete(path)
    _move_notes(project, source, "")
    _rename_rows(project, source, "")


def rename_places(project: Project, source: str, new: str) -> None:
    """Give everything that is stored of a source but its store and its documents another name. Raises `StateError`."""
    for path, renamed in _places(project, source, new):
        with state_errors(path):
            if path.exists():
                _delete(renamed)
                renamed.parent.mkdir(parents=True, exist_ok=True)
                path.rename(renamed)
    _move_notes(project, source, new)
    _rename_rows(project, source, new)


def _places(project: Project, source: str, new: str) -> Iterator[tuple[Path, Path]]:
    """Yield the paths of files and folders, which need not exist, each with the path under another name."""
    yield cache_folder(project, source), cache_folder(project, new)
    yield documents_folder(project, source), documents_folder(project, new)
    old_folder, new_folder = listed_folder(project, source), listed_folder(project, new)
    if old_folder is not None and new_folder is not None:
        yield old_folder, new_folder
    folder, name = project.logs.path, re.escape(source)
    log = re.compile(rf"{name}(\.[^.]+(?:\.\d{{4}}-\d\d-\d\d)?\.(?:log|jsonl)(?:\.1)?)")
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if found := log.fullmatch(path.name):
            yield path, folder / f"{new}{found[1]}"


def _delete(path: Path) -> None:
    with state_errors(path):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _move_notes(project: Project, source: str, new: str) -> None:
    """Give the notes of a source another name; without one they are deleted, as is what killed crawls left."""
    notes, renamed, robot = (
        source_notes(project, source),
        source_notes(project, new),
        robot_notes(project, source),
    )
    if notes is None or renamed is None or robot is None:
        return
    for name in (FAILURE, DEFINITION, SITE_ORDERS, COMPARED, LET_IN, LOST_VERSIONS, TRAPS):
        if new and (text := notes.read(name)) is not None:
            renamed.write(name, text)
        notes.delete(name)
    remove_control(notes)
    remove_control(robot)


def _rename_rows(project: Project, source: str, new: str) -> None:
    """End the leases of killed crawls of a source, and rename or delete what schedules keep of it."""
    if not has_lasting_state(project):
        return
    with closing(open_sites(project)) as sites:
        sites.close_crawl(sites.register_crawl(source, 0.0))
    folder = schedules_folder(project)
    if folder is not None and folder.is_dir():
        with closing(open_schedules(project)) as schedules:
            schedules.rename_source(source, new)
