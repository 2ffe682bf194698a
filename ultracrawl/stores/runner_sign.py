"""The files by which it is seen which process keeps which schedules; each is locked as long as its process lives."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ultracrawl.stores.control_channel import state_errors
from ultracrawl.system.files import exclusive_lock

_SIGN = "*.runner"
_LOCK = "runners.lock"


@dataclass(frozen=True, slots=True)
class RunnerSign:
    """A process that keeps schedules, and sources at their own interval."""

    pid: int
    schedules: frozenset[str]
    sources: frozenset[str]
    waiting: frozenset[str] = frozenset()
    """Sources whose crawls wait for a free place."""


class RunnerBadge:
    """Shows what this process keeps, until it is closed or the process ends."""

    def __init__(self, folder: Path) -> None:
        """`folder` is that of the schedules of the project. Raises `StateError`."""
        self._path = folder / f"{os.getpid()}-{secrets.token_hex(4)}.runner"
        self._shown: dict[str, Any] = {"pid": os.getpid()}
        with state_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            # It is locked before it can be found, or it would be taken for one left over.
            draft = self._path.with_suffix(".draft")
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.open(draft, flags, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX)
            draft.rename(self._path)

    def show_kept(self, schedules: Collection[str], sources: Collection[str]) -> RunnerSign | None:
        """Show that these are kept here; returns who keeps one of them already, and then shows nothing new."""
        with state_errors(self._path), exclusive_lock(self._path.with_name(_LOCK)):
            for other in _signs(self._path.parent, but=self._path):
                if not other.schedules.isdisjoint(schedules) or not other.sources.isdisjoint(sources):
                    return other
            self._show(schedules=sorted(schedules), sources=sorted(sources))
        return None

    def show_waiting(self, sources: Collection[str]) -> None:
        """Show whose crawls wait for a free place."""
        with suppress(OSError):  # it is only something to look at
            self._show(waiting=sorted(sources))

    def _show(self, **changed: list[str]) -> None:
        if changed.items() <= self._shown.items():
            return
        self._shown |= changed
        # At once and never shorter, so that nobody reads parts of two.
        os.pwrite(self._file, json.dumps(self._shown).encode().ljust(os.fstat(self._file).st_size), 0)

    def close(self) -> None:
        """Keep nothing any more."""
        with suppress(OSError):
            self._path.unlink()
        os.close(self._file)


def runner_signs(folder: Path) -> list[RunnerSign]:
    """Return who keeps schedules and sources now; the files of processes that died are removed."""
    if not folder.is_dir():
        return []
    return list(_signs(folder))


def _signs(folder: Path, but: Path | None = None) -> Iterator[RunnerSign]:
    for path in folder.glob(_SIGN):
        if path != but and (sign := _sign(path)) is not None:
            yield sign


def _sign(path: Path) -> RunnerSign | None:
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _parsed(os.pread(file, 1 << 20, 0))
    else:
        with suppress(OSError):
            path.unlink()
        return None
    finally:
        os.close(file)


def _parsed(text: bytes) -> RunnerSign | None:
    try:
        found: dict[str, Any] = json.loads(text)
        kept = (frozenset(found.get(name, ())) for name in ("schedules", "sources", "waiting"))
        return RunnerSign(int(found["pid"]), *kept)
    except (ValueError, KeyError, TypeError):
        return None  # it has just begun, and keeps nothing yet
