"""The control files of a running crawl: other processes read its status and send it commands, without a port."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ultracrawl.errors import StateError

_STATUS_SIZE = 512
_MAX_ORDER_SIZE = 4096
_LOCK_TIMEOUT = 5.0
"""Seconds to wait for the lock, which other processes hold for microseconds to see whether a crawl runs."""


class Phase(StrEnum):
    """Phase of a running crawl (portal robot 13.1); a source without a crawl is idle."""

    RUNNING = "running"
    PAUSING = "pausing"
    """No requests are sent, and some are still in flight."""
    PAUSED = "paused"
    STOPPING = "stopping"
    FINISHING = "finishing"
    """Nothing is left to fetch; the last documents are being indexed."""
    IDLE = "idle"
    """A robot whose run is over, and that waits for a command."""


class Command(StrEnum):
    """A command for a running crawl."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    RESTART = "restart"
    """Start a new run; only for robots, whose processes outlive their runs."""
    RELOAD = "reload"
    """Read the definition again, and go on with it; only for robots."""


@dataclass(frozen=True, slots=True)
class CrawlStatus:
    """The published status of a running crawl. `crawl` is its unique id among all crawls of the source."""

    crawl: str
    pid: int
    phase: Phase = Phase.RUNNING
    in_flight: int = 0
    """Requests in flight, while it is pausing or stopping."""


def status_path(state_file: Path) -> Path:
    """Return the path of the status file of the crawl over a state file; it is locked as long as the crawl lives."""
    return state_file.with_name(state_file.name + ".crawl")


def order_path(state_file: Path) -> Path:
    """Return the path of the order file, which holds a command for the crawl over a state file."""
    return state_file.with_name(state_file.name + ".order")


class ControlChannel:
    """The crawl's side: publishes the status and takes orders. The caller holds the state lock, so there is only one.

    Both files are readable and writable by their owner only. An order names its crawl, so that an order for a crawl
    that died is not taken by the next one. Raises `StateError` if the files cannot be created.
    """

    def __init__(self, state_file: Path) -> None:
        self._status_path, self._order_path = status_path(state_file), order_path(state_file)
        self._status = CrawlStatus(secrets.token_hex(8), os.getpid())
        with state_errors(self._status_path):
            self._file = os.open(
                self._status_path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
            )
            os.fchmod(self._file, 0o600)
            self._lock()
            self._order_path.unlink(missing_ok=True)
            os.ftruncate(self._file, 0)
        self.publish_phase(Phase.RUNNING)

    def _lock(self) -> None:
        """Take the lock; a process that checks whether a crawl runs holds it for some microseconds."""
        deadline = time.monotonic() + _LOCK_TIMEOUT
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    @property
    def phase(self) -> Phase:
        """The last published phase."""
        return self._status.phase

    def publish_phase(self, phase: Phase, in_flight: int = 0) -> None:
        """Publish the phase of the crawl. If the disk is full, the old status stays and the crawl goes on."""
        self._status = CrawlStatus(self._status.crawl, self._status.pid, phase, in_flight)
        status = {
            "crawl": self._status.crawl,
            "pid": self._status.pid,
            "phase": phase.value,
            "in_flight": in_flight,
        }
        with suppress(OSError):
            os.pwrite(self._file, json.dumps(status).encode().ljust(_STATUS_SIZE), 0)

    def pop_order(self) -> Command | None:
        """Remove and return the order for this crawl, if any; without one it costs a single `open` call."""
        try:
            file = os.open(self._order_path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            trusted = os.fstat(file).st_uid in (os.geteuid(), 0)
            text = os.read(file, _MAX_ORDER_SIZE) if trusted else b""
        finally:
            os.close(file)
        with suppress(OSError):
            self._order_path.unlink()
        return self._command(text)

    def _command(self, text: bytes) -> Command | None:
        try:
            match json.loads(text):
                case {"crawl": self._status.crawl, "command": str(command)}:
                    return Command(command)
        except ValueError:
            pass
        return None

    def close(self) -> None:
        """Remove the control files: the source is no longer being crawled."""
        for path in (self._order_path, self._status_path):
            with suppress(OSError):
                path.unlink()
        os.close(self._file)


def crawl_status(state_file: Path) -> CrawlStatus | None:
    """Return the status of the crawl that runs over a state file, None if none runs."""
    try:
        file = os.open(status_path(state_file), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StateError(f"cannot read {status_path(state_file)}: {error.strerror}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except BlockingIOError:
        return _read_status(file)
    finally:
        os.close(file)


def _read_status(file: int) -> CrawlStatus:
    for _ in range(20):
        try:
            status = json.loads(os.pread(file, _STATUS_SIZE, 0))
            return CrawlStatus(
                str(status["crawl"]), int(status["pid"]), Phase(status["phase"]), int(status["in_flight"])
            )
        except (ValueError, KeyError, TypeError):
            time.sleep(0.01)  # it is being written
    return CrawlStatus("", 0)


def leave_order(state_file: Path, status: CrawlStatus, command: Command) -> None:
    """Write an order for the crawl with this status; replaces an order not yet taken. Raises `StateError`."""
    path = order_path(state_file)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with state_errors(path):
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.write(file, json.dumps({"crawl": status.crawl, "command": command.value}).encode())
        finally:
            os.close(file)
        draft.rename(path)


@contextmanager
def state_errors(path: Path) -> Iterator[None]:
    """Turn `OSError` in a block into a `StateError` that names the path."""
    try:
        yield
    except OSError as error:
        raise StateError(f"cannot write {path}: {error.strerror or error}") from error
