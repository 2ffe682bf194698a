"""Writes an archive of a project, while it is crawled and searched."""

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
from ultracrawl.index.locking import LOCKS, write_lock
from ultracrawl.model.dates import as_text
from ultracrawl.service.backup.manifest import NAME, FileMark, Manifest, definition_mark
from ultracrawl.service.backup.places import files_of, index_places, places_of
from ultracrawl.sources import Project
from ultracrawl.stores.sqlite.copying import SUFFIX, copy_database
from ultracrawl.system.files import convert_write_errors

LOCK_SECONDS = 600.0
"""How long a backup waits for who writes to an index; a commit of a large segment takes minutes."""
_PIECE = 1 << 20
_ROOM = ".ultracrawl-backup-"
"""How the names of folders begin in which archives are made."""


def save_backup(project: Project, archive: Path, *, force: bool = False) -> Manifest:
    """Write an archive; one of this name is replaced with `force` alone, and only by a whole one.

    No index changes while it is saved: commits wait for as long as states and cache are copied. Raises `UserError` for
    a file that is there already, `WorkError`.
    """
    if archive.exists() and not force:
        raise UserError(f"{archive} is there already; name another file, or give --force")
    if not archive.parent.is_dir():
        raise UserError(f"there is no folder {archive.parent}")
    manifest = Manifest(as_text(time.time()), definition_mark(project), sorted(project.known_sources))
    with convert_write_errors(archive), _room_beside(archive) as room:
        copies, draft = room / "copies", room / archive.name
        with _indexes_at_rest(project):
            for name, folder in places_of(project).items():
                _copy_place(folder, copies / name, linked=name in index_places(project))
        with _opened(draft, compressed=archive.suffix != ".tar") as tar:
            for path in files_of(copies):
                _add(tar, path, path.relative_to(copies).as_posix(), manifest)
            _add_bytes(tar, NAME, manifest.as_bytes())
        draft.replace(archive)
    return manifest


@contextmanager
def _room_beside(archive: Path) -> Iterator[Path]:
    """Give an empty folder beside an archive; those of backups that were killed are deleted before."""
    for left in archive.parent.glob(f"{_ROOM}*"):
        with suppress(OSError), _held(left):
            shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=_ROOM, dir=archive.parent) as room, _held(Path(room)):
        yield Path(room)


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold a folder for this process. Raises `OSError` if another one does."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(opened)


@contextmanager
def _indexes_at_rest(project: Project) -> Iterator[None]:
    """Have nobody write to an index of a project; who wants to, waits."""
    with ExitStack() as locks:
        for folder in index_places(project).values():
            for name in LOCKS:
                if (folder / name).exists():
                    locks.enter_context(write_lock(folder, LOCK_SECONDS, name))
        yield


def _copy_place(folder: Path, target: Path, *, linked: bool) -> None:
    """Copy the files of a folder; those of an index are written once, so that a link is enough."""
    for path in files_of(folder):
        copy = target / path.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # a segment of the cache that is in the index by now
            if path.suffix == SUFFIX:
                copy_database(path, copy)
            elif not (linked and _link(path, copy)):
                shutil.copyfile(path, copy)


def _link(path: Path, copy: Path) -> bool:
    """Give a file a second name; False where that cannot be: on another disk, or by the kind of the disk."""
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
    """A file that is read once, and its hash."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = sha256()

    def read(self, size: int = _PIECE) -> bytes:
        """Read a piece."""
        piece = self._file.read(size)
        self.digest.update(piece)
        return piece


def _add(tar: tarfile.TarFile, path: Path, name: str, manifest: Manifest) -> None:
    with path.open("rb") as file:
        member = tarfile.TarInfo(name)
        member.size, member.mode = os.fstat(file.fileno()).st_size, 0o600
        hashed = _Hashed(file)
        tar.addfile(member, cast(BinaryIO, hashed))
    manifest.files[name] = FileMark(member.size, hashed.digest.hexdigest())


def _add_bytes(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), 0o600
    tar.addfile(member, io.BytesIO(data))
