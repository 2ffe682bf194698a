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
from ultracrawl.stores.control_channel import crawl_status, order_path, state_errors, status_path
from ultracrawl.stores.definition_note import definition_note_path
from ultracrawl.stores.failure_note import note_path
from ultracrawl.stores.project_stores import (
    documents_folder,
    listed_folder,
    open_schedules,
    open_sites,
    robot_file,
    schedules_folder,
    state_file,
)
from ultracrawl.stores.runner_registry import active_runners
from ultracrawl.stores.site_orders import orders_path


def require_idle(project: Project, source: str) -> None:
    """Raise `UserError` if a service, a robot or a crawl works with a source."""
    folder = schedules_folder(project)
    for runner in active_runners(folder) if folder is not None else ():
        if source in runner.sources:
            raise UserError(
                f"the process {runner.pid} (`serve` or `crawl --continuous`) crawls {source!r} when it is due; "
                "stop it, or take the source out of its definition, first"
            )
    for file in (robot_file(project, source), state_file(project, source)):
        status = crawl_status(file) if file is not None else None
        if status is not None:
            raise UserError(
                f"the source {source!r} is being crawled by the process {status.pid}; wait for it or stop it "
                f"(`ultracrawl stop {source}`)"
            )


def delete_places(project: Project, source: str) -> None:
    """Delete everything that is stored of a source but its store and its documents in indexes. Raises `StateError`."""
    for path, _ in _places(project, source, source):
        _delete(path)
    _delete_control_files(project, source)
    _rename_rows(project, source, "")


def rename_places(project: Project, source: str, new: str) -> None:
    """Give everything that is stored of a source but its store and its documents another name. Raises `StateError`."""
    for path, renamed in _places(project, source, new):
        with state_errors(path):
            if path.exists():
                _delete(renamed)
                renamed.parent.mkdir(parents=True, exist_ok=True)
                path.rename(renamed)
    _delete_control_files(project, source)
    _rename_rows(project, source, new)


def _places(project: Project, source: str, new: str) -> Iterator[tuple[Path, Path]]:
    """Yield the paths of files and folders, which need not exist, each with the path under another name."""
    yield cache_folder(project, source), cache_folder(project, new)
    yield documents_folder(project, source), documents_folder(project, new)
    old_file, new_file = state_file(project, source), state_file(project, new)
    if old_file is not None and new_file is not None:
        for note in (note_path, definition_note_path, orders_path):
            yield note(old_file), note(new_file)
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


def _delete_control_files(project: Project, source: str) -> None:
    for file in (robot_file(project, source), state_file(project, source)):
        for path in (order_path(file), status_path(file)) if file is not None else ():
            _delete(path)


def _rename_rows(project: Project, source: str, new: str) -> None:
    """End the leases of killed crawls of a source, and rename or delete what schedules keep of it."""
    if state_file(project, source) is None:
        return
    with closing(open_sites(project)) as sites:
        sites.close_crawl(sites.register_crawl(source, 0.0))
    folder = schedules_folder(project)
    if folder is not None and folder.is_dir():
        with closing(open_schedules(project)) as schedules:
            schedules.rename_source(source, new)
