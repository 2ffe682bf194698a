"""Writes an archive of a project while it is crawled and searched."""

from __future__ import annotations

import fcntl
import io
import os
import shutil
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, cast

from ultracrawl.errors import UserError
from ultracrawl.index.locking import LOCK_SECONDS, LOCKS, write_lock
from ultracrawl.model.dates import as_text
from ultracrawl.service.backup.manifest import NAME, FileDigest, Manifest, definition_hash
from ultracrawl.service.backup.places import DATABASE, files_of, index_places, places_of
from ultracrawl.sources import Project
from ultracrawl.stores.project_stores import saving_engine
from ultracrawl.stores.sqlite.copying import SUFFIX, copy_database
from ultracrawl.system.files import convert_write_errors

_PIECE = 1 << 20
_TEMPORARY_PREFIX = ".ultracrawl-backup-"
"""Prefix of the temporary folders in which archives are built."""


def save_backup(project: Project, archive: Path, *, force: bool = False) -> Manifest:
    """Write an archive; an existing file is replaced only with `force`, and only by a complete archive.

    Indexes are write-locked while the files are copied, so commits wait. Raises `UserError` if the file exists,
    `WorkError`.
    """
    engine = saving_engine(project)
    if archive.exists() and not force:
        raise UserError(f"{archive} exists already; name another file, or use --force")
    if not archive.parent.is_dir():
        raise UserError(f"there is no folder {archive.parent}")
    for place in places_of(project).values():
        if archive.resolve().is_relative_to(place.resolve()):
            raise UserError(f"{archive} would be part of the next backup; name a file outside of {place}")
    manifest = Manifest(as_text(time.time()), definition_hash(project), sorted(project.known_sources))
    with convert_write_errors(archive), _temporary_folder(archive) as folder_beside:
        copies, draft = folder_beside / "copies", folder_beside / archive.name
        with _locked_indexes(project):
            if engine is not None:
                engine.save_stores(project.state.path, copies / DATABASE)
            for name, folder in places_of(project).items():
                _copy_place(folder, copies / name, linked=name in index_places(project))
        with _opened(draft, compressed=archive.suffix != ".tar") as tar:
            for path in files_of(copies):
                _add(tar, path, path.relative_to(copies).as_posix(), manifest)
            _add_bytes(tar, NAME, manifest.as_bytes())
        draft.replace(archive)
    return manifest


@contextmanager
def _temporary_folder(archive: Path) -> Iterator[Path]:
    """Create a temporary folder beside an archive; first deletes those of killed backups."""
    for left in archive.parent.glob(f"{_TEMPORARY_PREFIX}*"):
        with suppress(OSError), _locked_folder(left):
            shutil.rmtree(left)
    with (
        tempfile.TemporaryDirectory(prefix=_TEMPORARY_PREFIX, dir=archive.parent) as folder,
        _locked_folder(Path(folder)),
    ):
        yield Path(folder)


@contextmanager
def _locked_folder(folder: Path) -> Iterator[None]:
    """Lock a folder. Raises `OSError` if another process has locked it."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(opened)


@contextmanager
def _locked_indexes(project: Project) -> Iterator[None]:
    """Hold the write locks of all indexes of a project."""
    with ExitStack() as locks:
        for folder in index_places(project).values():
            for name in LOCKS:
                if (folder / name).exists():
                    locks.enter_context(write_lock(folder, LOCK_SECONDS, name))
        yield


def _copy_place(folder: Path, target: Path, *, linked: bool) -> None:
    """Copy the files of a folder; files of an index never change after they are written, so they are hard-linked."""
    for path in files_of(folder):
        copy = target / path.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # a cache segment that was written to the index meanwhile
            if path.suffix == SUFFIX:
                copy_database(path, copy)
            elif not (linked and _link(path, copy)):
                shutil.copyfile(path, copy)


def _link(path: Path, copy: Path) -> bool:
    """Create a hard link; returns False if the file system does not allow it."""
    try:
        os.link(path, copy)
    except OSError:
        return False
    return True


@contextmanager
def _opened(path: Path, *, compressed: bool) -> Iterator[tarfile.TarFile]:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(file, "wb") as stream:
        if compressed:
            with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=1) as tar:
                yield tar
        else:
            with tarfile.open(fileobj=stream, mode="w") as tar:
                yield tar
        stream.flush()
        os.fsync(stream.fileno())


class _Hashed:
    """Hashes a file while it is read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = sha256()

    def read(self, size: int = _PIECE) -> bytes:
        """Read and hash up to `size` bytes."""
        piece = self._file.read(size)
        self.digest.update(piece)
        return piece


def _add(tar: tarfile.TarFile, path: Path, name: str, manifest: Manifest) -> None:
    with path.open("rb") as file:
        member = tarfile.TarInfo(name)
        member.size, member.mode = os.fstat(file.fileno()).st_size, 0o600
        hashed = _Hashed(file)
        tar.addfile(member, cast(BinaryIO, hashed))
    manifest.files[name] = FileDigest(member.size, hashed.digest.hexdigest())


def _add_bytes(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), 0o600
    tar.addfile(member, io.BytesIO(data))
