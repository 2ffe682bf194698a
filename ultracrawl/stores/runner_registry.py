"""The registry of processes that run schedules: one file per process, locked as long as the process lives."""

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

_PATTERN = "*.runner"
_LOCK = "runners.lock"


@dataclass(frozen=True, slots=True)
class RunnerStatus:
    """A process that runs schedules, and crawls sources at their own interval."""

    pid: int
    schedules: frozenset[str]
    sources: frozenset[str]
    waiting: frozenset[str] = frozenset()
    """Sources whose crawls wait for a free job slot."""


class RunnerRegistration:
    """The entry of this process, which ends with `close` or with the process."""

    def __init__(self, folder: Path) -> None:
        """`folder` is the schedules folder of the project. Raises `StateError`."""
        self._path = folder / f"{os.getpid()}-{secrets.token_hex(4)}.runner"
        self._published: dict[str, Any] = {"pid": os.getpid()}
        with state_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            # Locked before it gets its final name: an unlocked entry counts as one of a dead process.
            draft = self._path.with_suffix(".draft")
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.open(draft, flags, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX)
            draft.rename(self._path)

    def claim(self, schedules: Collection[str], sources: Collection[str]) -> RunnerStatus | None:
        """Claim schedules and sources for this process; returns the process that has one of them already, if any."""
        with state_errors(self._path), exclusive_lock(self._path.with_name(_LOCK)):
            for other in _entries(self._path.parent, but=self._path):
                if not other.schedules.isdisjoint(schedules) or not other.sources.isdisjoint(sources):
                    return other
            self._publish(schedules=sorted(schedules), sources=sorted(sources))
        return None

    def publish_waiting(self, sources: Collection[str]) -> None:
        """Publish the sources whose crawls wait for a free job slot."""
        with suppress(OSError):  # for display only
            self._publish(waiting=sorted(sources))

    def _publish(self, **changed: list[str]) -> None:
        if changed.items() <= self._published.items():
            return
        self._published |= changed
        # One write, padded to the former size, so that readers never see a mixture of old and new.
        os.pwrite(self._file, json.dumps(self._published).encode().ljust(os.fstat(self._file).st_size), 0)

    def close(self) -> None:
        """Remove the entry."""
        with suppress(OSError):
            self._path.unlink()
        os.close(self._file)


def active_runners(folder: Path) -> list[RunnerStatus]:
    """Return the live processes that run schedules; the files of dead ones are removed."""
    if not folder.is_dir():
        return []
    return list(_entries(folder))


def _entries(folder: Path, but: Path | None = None) -> Iterator[RunnerStatus]:
    for path in folder.glob(_PATTERN):
        if path != but and (entry := _entry(path)) is not None:
            yield entry


def _entry(path: Path) -> RunnerStatus | None:
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


def _parsed(text: bytes) -> RunnerStatus | None:
    try:
        entry: dict[str, Any] = json.loads(text)
        names = (frozenset(entry.get(key, ())) for key in ("schedules", "sources", "waiting"))
        return RunnerStatus(int(entry["pid"]), *names)
    except (ValueError, KeyError, TypeError):
        return None  # the process has just started, and has claimed nothing yet
