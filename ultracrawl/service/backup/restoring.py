"""Restores an archive into the folders of a project, completely or not at all."""

from __future__ import annotations

import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from enum import StrEnum
from gzip import BadGzipFile
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from ultracrawl.dataclass import dataclass, replace
from ultracrawl.errors import IndexForeignError, IndexStoreError, MissingExtraError, UserError
from ultracrawl.index.engine import RefusesCode
from ultracrawl.index.engines import open_index
from ultracrawl.index.project_index import index_config
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.access.users import UserStore
from ultracrawl.service.backup.manifest import NAME, FileDigest, Manifest, parse_manifest
from ultracrawl.service.backup.places import DATABASE, INDEX, INDEXES, STATE, places_of
from ultracrawl.service.backup.unfinished_restore import mark_restore, unfinished_restore, unmark_restore
from ultracrawl.service.control import running_crawl_status
from ultracrawl.sources import Project
from ultracrawl.sources.sections.documents.destinations import PROJECT_INDEX
from ultracrawl.stores.project_stores import saving_engine, service_notes
from ultracrawl.stores.runner_registry import active_runners
from ultracrawl.system.files import convert_write_errors
from ultracrawl.system.replacement import replacing

_PIECE = 1 << 20
_LARGEST_MANIFEST = 1 << 28
_GZIP = b"\x1f\x8b"


def restore_backup(project: Project, archive: Path, *, force: bool = False) -> Restored:
    """Restore an archive after checking it completely; folders with files are replaced only with `force`.

    API tokens and users that the project has stay, so that none that was removed since the backup is
    valid again. Without `force` it also goes on with a restore of the same archive that was killed when the folders
    were in place, and the rows of the database were not. Raises `UserError` for an invalid or incomplete archive, for
    folders with files, and while a source is crawled.
    """
    engine = saving_engine(project)
    places = places_of(project)
    if not archive.exists():
        raise UserError(f"there is no file {archive}; name one that `ultracrawl backup` has made")
    _check_idle(project)
    begun = unfinished_restore(project.state.path) if engine is not None else None
    full = None if force else next((path for path in places.values() if _holds_something(path)), None)
    if full is not None and begun is None:
        raise _not_empty(full)
    with convert_write_errors(project.state.path), replacing(list(places.values())) as replacement:
        drafts = {name: replacement.draft_of(path) for name, path in places.items()}
        if engine is not None:
            drafts[DATABASE] = drafts[STATE] / DATABASE
        manifest = _unpack(archive, drafts)
        if begun is not None and not begun.is_of(manifest):
            begun = None
        if full is not None and begun is None:
            raise _not_empty(full)
        if engine is not None and not drafts[DATABASE].exists():
            raise UserError(
                f"{archive} has the state in files, and `state.engine` names a database; leave that out"
            )
        _refuse_code(project, archive, drafts)
        _check_idle(project)
        tokens = _keep_file(project, TokenStore.of_project(project).path, drafts[STATE])
        users = _keep_file(project, UserStore.of_project(project).path, drafts[STATE])
        with ExitStack() as stores:
            if engine is not None:
                saved = drafts[DATABASE]
                stores.enter_context(engine.restoring_stores(project.state.path, saved, force=force))
                shutil.rmtree(saved)
                if begun is not None:
                    tokens, users = Credentials(begun.tokens), Credentials(begun.users)
                mark_restore(drafts[STATE], manifest, tokens, users)
            replacement.commit()
        unmark_restore(project.state.path)
    return Restored(manifest, tokens, users)


def _not_empty(folder: Path) -> UserError:
    return UserError(f"{folder} contains data already; --force replaces it")


def _refuse_code(project: Project, archive: Path, drafts: Mapping[str, Path]) -> None:
    """Raise `UserError` if an index contains code; it is not run here, but other readers of the format would."""
    for name in (PROJECT_INDEX, *project.indexes):
        draft = drafts[INDEX if name == PROJECT_INDEX else f"{INDEXES}/{name}"]
        if not draft.exists():
            continue
        try:
            index = open_index(replace(index_config(project, name), path=draft))
        except MissingExtraError:  # its engine is not installed: nothing here can load its files
            continue
        try:
            if isinstance(index, RefusesCode):
                index.refuse_code()
        except IndexForeignError as error:
            raise UserError(
                f"{archive} is no backup made by ultracrawl, and may harm: {error.problem}"
            ) from None
        except IndexStoreError:
            pass  # it was damaged before it was saved
        finally:
            index.close()


class Credentials(StrEnum):
    """Which API tokens, or users, are valid after a restore."""

    KEPT = "kept"
    """Those that the project had, even if it had removed all of them."""
    RESTORED = "restored"
    """Those of the backup: the project had no file of them."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Restored:
    """What was restored."""

    manifest: Manifest
    tokens: Credentials
    users: Credentials


def _keep_file(project: Project, present: Path, state: Path) -> Credentials:
    """Let the present file, if there is one, replace that of the backup in the draft of the state."""
    saved = state / present.relative_to(project.state.path)
    if present.exists():
        saved.parent.mkdir(mode=0o700, exist_ok=True)
        shutil.copy2(present, saved)
        return Credentials.KEPT
    return Credentials.RESTORED if saved.exists() else Credentials.NONE


def _check_idle(project: Project) -> None:
    """Raise `UserError` while a source is crawled, or a service or command runs schedules."""
    crawled = [name for name in project.known_sources if running_crawl_status(project, name) is not None]
    if crawled:
        raise UserError(
            f"{', '.join(crawled)}: being crawled; stop the crawl, and the service, before you restore"
        )
    if keepers := active_runners(service_notes(project)):
        raise UserError(
            f"{keepers[0].process} runs the schedules of this project; stop it before you restore"
        )


def _holds_something(path: Path) -> bool:
    return path.is_dir() and any(one.is_file() for one in path.rglob("*"))


def _unpack(archive: Path, drafts: Mapping[str, Path]) -> Manifest:
    """Unpack into temporary folders, and verify the files against the manifest."""
    found: dict[str, FileDigest] = {}
    manifest = None
    try:
        with archive.open("rb") as file, _opened(file) as tar:
            for member in tar:
                if manifest is not None:
                    raise UserError(
                        f"{archive} is not a backup made by ultracrawl: there is data after its list of files"
                    )
                if member.name == NAME and member.isreg() and member.size <= _LARGEST_MANIFEST:
                    manifest = parse_manifest(b"".join(_pieces(tar, member)), archive)
                else:
                    target = _target_of(member, drafts, archive)
                    found[member.name] = _write(target, _pieces(tar, member))
    except (tarfile.TarError, EOFError, zlib.error, BadGzipFile):
        raise UserError(f"{archive} is damaged, or not a backup made by ultracrawl") from None
    if manifest is None:
        raise UserError(
            f"{archive} is incomplete, or not a backup made by ultracrawl: its list of files is missing"
        )
    if found != manifest.files:
        wrong = sorted(
            name for name in {*found, *manifest.files} if found.get(name) != manifest.files.get(name)
        )
        raise UserError(f"{archive} is damaged: {wrong[0]!r} differs from what was saved")
    return manifest


def _opened(file: BinaryIO) -> tarfile.TarFile:
    compressed = file.read(len(_GZIP)) == _GZIP
    file.seek(0)
    return tarfile.open(fileobj=file, mode="r:gz" if compressed else "r:")


def _pieces(tar: tarfile.TarFile, member: tarfile.TarInfo) -> Iterator[bytes]:
    stream = tar.extractfile(member)
    while stream is not None and (piece := stream.read(_PIECE)):
        yield piece


def _target_of(member: tarfile.TarInfo, drafts: Mapping[str, Path], archive: Path) -> Path:
    """Return the target path of a member. Raises `UserError` unless it is a regular file below a project folder."""
    for name, draft in drafts.items():
        inner = member.name.removeprefix(f"{name}/")
        if member.isreg() and inner != member.name:
            try:
                tarfile.data_filter(member.replace(name=inner, deep=False), str(draft))
            except tarfile.FilterError:
                break
            if not any(part in ("", ".", "..") for part in inner.split("/")):
                return draft / inner
    raise UserError(
        f"{archive} contains {member.name!r}, which is in no folder of this project; "
        "was it made by `ultracrawl backup` with this definition?"
    )


def _write(path: Path, pieces: Iterator[bytes]) -> FileDigest:
    path.parent.mkdir(parents=True, exist_ok=True)
    digest, size = sha256(), 0
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        for piece in pieces:
            digest.update(piece)
            size += len(piece)
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    return FileDigest(size, digest.hexdigest())
