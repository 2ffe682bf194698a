"""Writing files: umask, atomic replacement, lock files, and setting damaged files aside."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ultracrawl.errors import UserError, WorkError

UMASK_VARIABLE = "ULTRACRAWL_UMASK"
"""Environment variable with the umask, in octal."""

ELSEWHERE = "set ULTRACRAWL_DATA to another folder"
"""What to do if data cannot be kept where they belong."""
_READ_ONLY = f"its file system is read-only; mount it for writing, or {ELSEWHERE}"
_NO_RIGHTS = "permission denied; correct its rights, or work as the user whom it belongs to"
_FULL = "the disk is full (No space left on device); make room"
_CAUSES = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EROFS: _READ_ONLY,
    errno.EACCES: _NO_RIGHTS,
    errno.EPERM: _NO_RIGHTS,
}
"""What has happened, and what to do, by the numbers of the errors that people can mend."""
_GROUP_AND_OTHERS = 0o077


def cause_and_remedy(error: OSError) -> str:
    """Return why a file cannot be read or written, and what to do if the machine's owner can do something."""
    return _CAUSES.get(error.errno or 0) or error.strerror or str(error) or "the system gives no reason"


def restrict_umask() -> None:
    """Make new files and folders of this process and its children accessible to their owner only.

    The environment variable `ULTRACRAWL_UMASK` sets another umask. Raises `UserError` if it is malformed.
    """
    configured = os.environ.get(UMASK_VARIABLE, "")
    if configured and not re.fullmatch("0?[0-7]{3}", configured):
        raise UserError(f"{UMASK_VARIABLE} is {configured!r}; write three octal digits, as 027")
    before = os.umask(_GROUP_AND_OTHERS)
    os.umask(int(configured, 8) if configured else before | _GROUP_AND_OTHERS)


@contextmanager
def convert_write_errors(path: object) -> Iterator[None]:
    """Convert an `OSError` into a one-line `WorkError`."""
    try:
        yield
    except FileExistsError as error:  # a folder cannot be made
        raise WorkError(
            in_place_of_folder(Path(str(path)), "work in another folder") or f"{path} exists already"
        ) from error
    except OSError as error:
        raise WorkError(f"{path} cannot be written: {cause_and_remedy(error)}") from error


def full_disk(path: Path) -> str:
    """Return what to do about the full disk of a file of a crawl: one line for all files on it."""
    folder = next(one for one in path.absolute().parents if one.exists())
    disk = next(one for one in (folder, *folder.parents) if one.is_mount())
    return f"{disk}: {_FULL}, and crawl again: it continues where it was"


def in_place_of_folder(folder: Path, instead: str = ELSEWHERE) -> str:
    """Return what to do about a file that stands where a folder, or one above it, belongs; empty if none does.

    `instead` is what can be done if the file has to stay; by default it is what helps with data of a definition.
    """
    file = next((one for one in (folder, *folder.parents) if one.is_file()), None)
    return f"{file} is a file, not a folder; move it away, or {instead}" if file else ""


def why_not_writable(folder: Path) -> str:
    """Return why no file can be made in a folder that may be missing yet, and what to do; empty if one can."""
    there = next((one for one in (folder, *folder.parents) if one.exists()), folder)
    if there.is_file() or os.access(there, os.W_OK):
        return in_place_of_folder(folder)
    if os.statvfs(there).f_flag & os.ST_RDONLY:
        return f"{there} cannot be written: {_READ_ONLY}"
    return f"{there} cannot be written; correct its rights, or {ELSEWHERE}"


def replace_file(path: Path, data: bytes, *, keep_owner: bool = False) -> None:
    """Write a file atomically: readers see the old or the new content. Symbolic links and permissions are kept.

    A new file is readable by its owner only. With `keep_owner` an existing file keeps owner and group, too, which may
    need rights. Raises `OSError`.
    """
    target = path.resolve()
    with tempfile.NamedTemporaryFile(
        "wb", dir=target.parent, prefix=f"{target.name}.", delete=False
    ) as stream:
        draft = Path(stream.name)
        try:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            if target.exists():
                before = target.stat()
                if keep_owner and (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                    os.chown(draft, before.st_uid, before.st_gid)
                draft.chmod(before.st_mode)
            draft.replace(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


@contextmanager
def exclusive_lock(lock: Path) -> Iterator[None]:
    """Hold a lock file exclusively, among threads and processes; waits for it. Raises `OSError`."""
    with _held(os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)):
        yield


@contextmanager
def exclusive_folder(folder: Path) -> Iterator[None]:
    """Hold a folder as `exclusive_lock` holds a lock file, where none may be left behind. Raises `OSError`."""
    with _held(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)):
        yield


@contextmanager
def _held(file: int) -> Iterator[None]:
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


DAMAGED_VERSIONS_KEPT = 3
"""Number of damaged versions of a file that are kept."""

_BLOCK_SIZE = 1 << 16
_DAMAGED_NAME = re.compile(r".*\.damaged-(\d{8}T\d{6})")


def set_aside(path: Path, companions: Iterable[str] = (), *, kept: int = DAMAGED_VERSIONS_KEPT) -> Path:
    """Rename a file or folder to `NAME.damaged-DATE` and return the new path.

    `companions` are suffixes of files renamed with it. Only the `kept` newest versions stay, including this one.
    Raises `OSError`.
    """
    aside = path.with_name(f"{path.name}.damaged-{_stamp()}")
    path.replace(aside)
    for suffix in companions:
        companion = path.with_name(path.name + suffix)
        if companion.exists():
            companion.replace(aside.with_name(aside.name + suffix))
    _delete_old_versions(path, kept)
    return aside


def set_contents_aside(folder: Path, excluded_names: Collection[str]) -> None:
    """Move the contents of a folder, except some names, into its subfolder `damaged-DATE`; only the latest is kept.

    The folder itself stays: it may be a mount point, and it contains locks. Raises `OSError`.
    """
    for earlier in folder.glob("damaged-*"):
        shutil.rmtree(earlier)
    aside = folder / f"damaged-{_stamp()}"
    paths = [path for path in folder.iterdir() if path.name not in excluded_names]
    aside.mkdir()
    for path in paths:
        path.replace(aside / path.name)


def write_all(file: BinaryIO, data: bytes) -> None:
    """Write all bytes: a write to an unbuffered file on a full disk may be short, and only the next one raises."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def sync_to_disk(path: Path) -> None:
    """Have the system write a file, or the entries of a folder, to the disk itself."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def end_of_last_line(file: BinaryIO, size: int) -> int:
    """Return the offset after the last newline in the first `size` bytes; 0 if there is none."""
    end = size
    while end > 0:
        start = max(0, end - _BLOCK_SIZE)
        file.seek(start)
        newline = file.read(end - start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


def _stamp() -> str:
    return time.strftime("%Y%m%dT%H%M%S", time.gmtime())


def _delete_old_versions(path: Path, kept: int) -> None:
    versions: dict[str, list[Path]] = {}
    for sibling in path.parent.iterdir():
        match = (
            _DAMAGED_NAME.match(sibling.name) if sibling.name.startswith(f"{path.name}.damaged-") else None
        )
        if match:
            versions.setdefault(match.group(1), []).append(sibling)
    for stamp in sorted(versions)[:-kept]:
        for version in versions[stamp]:
            shutil.rmtree(version) if version.is_dir() else version.unlink()
