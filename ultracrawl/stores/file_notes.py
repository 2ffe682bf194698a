"""Notes in files beside the stores: readable by their owner only, and locked by the process that is present."""

from __future__ import annotations

import errno
import fcntl
import glob
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ultracrawl.errors import StateError
from ultracrawl.stores.port.notes import NotesOf, always
from ultracrawl.system.files import cause_and_remedy, exclusive_lock, full_disk, in_place_of_folder

_PADDED_SIZE = 512
"""Bytes of the text of a present process, so that a reader sees no mixture of an old and a new one."""
_MAX_TAKEN_SIZE = 4096
_LOCK_TIMEOUT = 5.0
"""Seconds to wait for a lock, which other processes hold for microseconds to see whether a process is present."""
_LOOKS = 20
"""How often a reader looks at a file that is just being created, every hundredth of a second."""
_LOCK_FILE = "runners.lock"
_NO_LINK = os.O_NOFOLLOW | os.O_CLOEXEC


class FilePresence:
    """A locked file; see `Presence`."""

    def __init__(self, path: Path, file: int, notes: FileNotes) -> None:
        self._path, self._file, self._notes = path, file, notes

    def publish(self, text: bytes) -> None:
        """Replace its text by one write."""
        with state_errors(self._path):
            size = max(_PADDED_SIZE, os.fstat(self._file).st_size)
            os.pwrite(self._file, text.ljust(size), 0)

    def take_note(self, name: str) -> bytes | None:
        """Delete a file and return its text; without a file it costs a single call. The file of a stranger is empty."""
        path = self._notes.path(name)
        try:
            file = os.open(path, os.O_RDONLY | _NO_LINK)
        except FileNotFoundError:
            return None
        except OSError:
            text = b""
        else:
            try:
                trusted = os.fstat(file).st_uid in (os.geteuid(), 0)
                text = os.read(file, _MAX_TAKEN_SIZE) if trusted else b""
            finally:
                os.close(file)
        with suppress(OSError):
            path.unlink()
        return text

    def close(self) -> None:
        """Delete the file and its lock."""
        with suppress(OSError):
            self._path.unlink()
        os.close(self._file)


class FileNotes:
    """Files whose names begin with a prefix; see `Notes`."""

    def __init__(self, folder: Path, prefix: str = "") -> None:
        """`folder` is created by the first note."""
        self._folder, self._prefix = folder, prefix

    def path(self, name: str) -> Path:
        """Return the path of a note."""
        return self._folder / (self._prefix + name)

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; links are not followed."""
        with _opened(self.path(name)) as file:
            if file is None:
                return None
            fcntl.flock(file, fcntl.LOCK_SH)  # `change` writes in place
            return _content(file)

    def write(self, name: str, text: bytes) -> None:
        """Replace a file by a new one, which the umask makes readable."""
        self._replace(self.path(name), text, 0o666)

    def leave(self, name: str, text: bytes) -> None:
        """Replace a file by a new one, which is readable by its owner only."""
        self._replace(self.path(name), text, 0o600)

    def _replace(self, path: Path, text: bytes, mode: int) -> None:
        draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        with state_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, mode)
                with os.fdopen(file, "wb") as stream:
                    stream.write(text)
                    stream.flush()
                    os.fsync(file)
                draft.rename(path)
            except OSError:
                draft.unlink(missing_ok=True)
                raise

    def change(self, name: str, edit: Callable[[bytes], bytes]) -> None:
        """Change a file under its lock."""
        path = self.path(name)
        with state_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
                before = _content(file)
                if (text := edit(before)) != before:
                    os.pwrite(file, text, 0)  # before anything is cut off: a full disk loses nothing
                    os.ftruncate(file, len(text))
            finally:
                os.close(file)

    def delete(self, name: str) -> None:
        """Delete a file."""
        path = self.path(name)
        with state_errors(path):
            path.unlink(missing_ok=True)

    def appear(self, name: str, text: bytes, lives: Callable[[], bool] = always) -> FilePresence:
        """Create and lock a file; what a dead process left of it is overwritten. The lock needs no renewal."""
        path = self.path(name)
        with state_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            file = _locked_file(path)
            os.fchmod(file, 0o600)
            os.ftruncate(file, 0)
            presence = FilePresence(path, file, self)
            try:
                presence.publish(text)
            except StateError:
                presence.close()
                raise
        return presence

    def present(self, name: str) -> bytes | None:
        """Return the content of a locked file."""
        return _content_of_present(self.path(name))

    def all_present(self, ending: str) -> list[bytes]:
        """Return the contents of locked files; those of dead processes are deleted."""
        found = list[bytes]()
        for path in self._folder.glob(f"{glob.escape(self._prefix)}*{ending}"):
            with suppress(StateError):
                text = _content_of_present(path, clean=True)
                if text is not None:
                    found.append(text)
        return found

    def lease_left(self, name: str) -> float | None:
        """Return None: the lock of a file ends with its process."""
        return None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock file of the folder."""
        path = self.path(_LOCK_FILE)
        with state_errors(path), exclusive_lock(path):
            yield


def notes_beside(file: Path, of: NotesOf = NotesOf.SOURCE) -> FileNotes:
    """Return the notes beside the file of a source, which need not exist; those of the service are in a folder."""
    match of:
        case NotesOf.SERVICE:
            return FileNotes(file.parent / "schedules")
        case NotesOf.ROBOT:
            file = file.with_suffix(".robot")
    return FileNotes(file.parent, f"{file.name}.")


def sources_of_files(folder: Path, pattern: str) -> list[str]:
    """Return what stands in the place of the star in the names of files, sorted."""
    before, after = map(len, pattern.split("*", 1))
    return sorted(path.name[before : len(path.name) - after] for path in folder.glob(pattern))


@contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    """Open a file for reading; None if there is none."""
    try:
        file = os.open(path, os.O_RDONLY | _NO_LINK)
    except FileNotFoundError:
        yield None
        return
    except OSError as error:
        raise StateError(
            in_place_of_folder(path.parent) or f"cannot read {path}: {cause_and_remedy(error)}"
        ) from error
    try:
        yield file
    finally:
        os.close(file)


def _content(file: int) -> bytes:
    return os.pread(file, os.fstat(file).st_size, 0)


def _locked_file(path: Path) -> int:
    """Return a file that this process has locked; it is the one of this path, which others may delete before that."""
    deadline = time.monotonic() + _LOCK_TIMEOUT
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.stat().st_ino == os.fstat(file).st_ino:
                return file
        except FileNotFoundError:
            pass
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(file)
                raise
            time.sleep(0.01)
        os.close(file)


def _content_of_present(path: Path, *, clean: bool = False) -> bytes | None:
    """Return the content of a file if a process has it locked; with `clean` that of a dead one is deleted."""
    with _opened(path) as file:
        if file is None:
            return None
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            if clean:
                with suppress(OSError):
                    path.unlink()
            return None
        for _ in range(_LOOKS):
            if text := _content(file).rstrip():
                return text
            time.sleep(0.01)
        return b""


@contextmanager
def state_errors(path: Path) -> Iterator[None]:
    """Turn `OSError` in a block into a `StateError` that names the path."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise StateError(full_disk(path)) from error
        raise StateError(f"cannot write {path}: {cause_and_remedy(error)}") from error
