"""Files that the program writes: who else on the machine may read them, and what is set aside when they are damaged."""

from __future__ import annotations

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

VARIABLE = "ULTRACRAWL_UMASK"
"""The environment variable with the permissions that are taken away, as the command `umask` has them."""

_OTHERS = 0o077


def write_for_owner() -> None:
    """Have all files and folders that this process and its children make from now on be for its account alone.

    Another umask is taken from the environment. Raises `UserError` if that is none.
    """
    wish = os.environ.get(VARIABLE, "")
    if wish and not re.fullmatch("0?[0-7]{3}", wish):
        raise UserError(f"{VARIABLE} is {wish!r}; write three octal digits, as 027")
    before = os.umask(_OTHERS)
    os.umask(int(wish, 8) if wish else before | _OTHERS)


@contextmanager
def writing(path: object) -> Iterator[None]:
    """Turn what keeps a file from being written into a `WorkError` of one line."""
    try:
        yield
    except OSError as error:
        raise WorkError(f"{path} cannot be written: {error.strerror or error}") from error


def replace_file(path: Path, data: bytes) -> None:
    """Write a file, or another content in its place, so that nobody reads half. A link stays one; permissions stay.

    A new file is readable by its owner only. Raises `OSError`.
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
                draft.chmod(target.stat().st_mode)
            draft.replace(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Wait until nobody else holds a lock file, a process or a thread, and hold it. Raises `OSError`."""
    file = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


KEPT = 3
"""Damaged versions of a file that are kept."""

_TAIL = 1 << 16
_NAME = re.compile(r".*\.damaged-(\d{8}T\d{6})")


def set_aside(path: Path, companions: Iterable[str] = (), *, kept: int = KEPT) -> Path:
    """Rename a file or folder to `NAME.damaged-DATE`, and with it those whose names go on so; returns the new path.

    Of earlier ones the newest stay, `kept` with this one. Raises `OSError`.
    """
    aside = path.with_name(f"{path.name}.damaged-{_stamp()}")
    path.replace(aside)
    for end in companions:
        companion = path.with_name(path.name + end)
        if companion.exists():
            companion.replace(aside.with_name(aside.name + end))
    _forget_old(path, kept)
    return aside


def set_contents_aside(folder: Path, but: Collection[str]) -> None:
    """Move what is in a folder, some names apart, into the folder `damaged-DATE` in it; only the latest is kept.

    The folder itself stays: it may be a mount point, and locks lie in it. Raises `OSError`.
    """
    for earlier in folder.glob("damaged-*"):
        shutil.rmtree(earlier)
    aside = folder / f"damaged-{_stamp()}"
    found = [one for one in folder.iterdir() if one.name not in but]
    aside.mkdir()
    for one in found:
        one.replace(aside / one.name)


def write_all(file: BinaryIO, data: bytes) -> None:
    """Write all of it: an unbuffered file takes what still fits and complains only the next time."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def end_of_last_line(file: BinaryIO, size: int) -> int:
    """Return where the last whole line ends, reading backwards from the end."""
    end = size
    while end > 0:
        start = max(0, end - _TAIL)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _stamp() -> str:
    return time.strftime("%Y%m%dT%H%M%S", time.gmtime())


def _forget_old(path: Path, kept: int) -> None:
    versions: dict[str, list[Path]] = {}
    for one in path.parent.iterdir():
        found = _NAME.match(one.name) if one.name.startswith(f"{path.name}.damaged-") else None
        if found:
            versions.setdefault(found.group(1), []).append(one)
    for stamp in sorted(versions)[:-kept]:
        for one in versions[stamp]:
            shutil.rmtree(one) if one.is_dir() else one.unlink()
