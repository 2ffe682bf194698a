"""The files by which other processes see a running crawl and give it orders; no port is opened."""

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

_SIGN_SIZE = 512
_LARGEST_ORDER = 4096
_LOCK_PATIENCE = 5.0
"""Seconds to wait for the lock, which a process that looks for a running crawl holds for microseconds."""


class Phase(StrEnum):
    """What a running crawl is doing (portal robot 13.1); without one its source is idle."""

    RUNNING = "running"
    PAUSING = "pausing"
    """It hands out no requests, and some are still in flight."""
    PAUSED = "paused"
    STOPPING = "stopping"
    FINISHING = "finishing"
    """Nothing is left to be fetched; the last documents are being indexed."""
    IDLE = "idle"
    """A robot whose run is over, and that waits for an order."""


class Command(StrEnum):
    """An order that a crawl can be given."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    RESTART = "restart"
    """Begin a new run; only a robot, which outlives its runs, takes this order."""


@dataclass(frozen=True, slots=True)
class CrawlSign:
    """The state that a running crawl publishes. `crawl` identifies it among all crawls of the source."""

    crawl: str
    pid: int
    phase: Phase = Phase.RUNNING
    in_flight: int = 0
    """Requests that are out, while it is pausing or stopping."""


def sign_path(state_file: Path) -> Path:
    """Return where the crawl over a state file shows its sign: it is locked as long as the crawl lives."""
    return state_file.with_name(state_file.name + ".crawl")


def order_path(state_file: Path) -> Path:
    """Return where commands for the crawl over a state file are left."""
    return state_file.with_name(state_file.name + ".order")


class ControlChannel:
    """The side of the crawl: shows its sign and takes orders. It needs the lock of the state, so there is only one.

    Both files can be read and written by their owner only. An order names the crawl that it is for, so that one which
    was left for a crawl that died is never taken by the next. Raises `StateError` if the files cannot be made.
    """

    def __init__(self, state_file: Path) -> None:
        self._sign_path, self._order_path = sign_path(state_file), order_path(state_file)
        self._sign = CrawlSign(secrets.token_hex(8), os.getpid())
        with state_errors(self._sign_path):
            self._file = os.open(
                self._sign_path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
            )
            os.fchmod(self._file, 0o600)
            self._lock()
            self._order_path.unlink(missing_ok=True)
            os.ftruncate(self._file, 0)
        self.publish_phase(Phase.RUNNING)

    def _lock(self) -> None:
        """Take the lock; somebody who looks whether a crawl runs holds it for some microseconds."""
        deadline = time.monotonic() + _LOCK_PATIENCE
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
        """The phase that was published last."""
        return self._sign.phase

    def publish_phase(self, phase: Phase, in_flight: int = 0) -> None:
        """Publish what the crawl is doing. If the disk is full, the old sign stays and the crawl goes on."""
        self._sign = CrawlSign(self._sign.crawl, self._sign.pid, phase, in_flight)
        sign = {
            "crawl": self._sign.crawl,
            "pid": self._sign.pid,
            "phase": phase.value,
            "in_flight": in_flight,
        }
        with suppress(OSError):
            os.pwrite(self._file, json.dumps(sign).encode().ljust(_SIGN_SIZE), 0)

    def pop_order(self) -> Command | None:
        """Return the order that was left for this crawl since the last call; costs one look at a file name."""
        try:
            file = os.open(self._order_path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            trusted = os.fstat(file).st_uid in (os.geteuid(), 0)
            text = os.read(file, _LARGEST_ORDER) if trusted else b""
        finally:
            os.close(file)
        with suppress(OSError):
            self._order_path.unlink()
        return self._command(text)

    def _command(self, text: bytes) -> Command | None:
        try:
            match json.loads(text):
                case {"crawl": self._sign.crawl, "command": str(command)}:
                    return Command(command)
        except ValueError:
            pass
        return None

    def close(self) -> None:
        """Remove the sign: the source is not being crawled any more."""
        for path in (self._order_path, self._sign_path):
            with suppress(OSError):
                path.unlink()
        os.close(self._file)


def sign_of_crawl(state_file: Path) -> CrawlSign | None:
    """Return the sign of the crawl that runs over a state file, None if none runs; that of a dead one is ignored."""
    try:
        file = os.open(sign_path(state_file), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StateError(f"cannot read {sign_path(state_file)}: {error.strerror}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except BlockingIOError:
        return _read_sign(file)
    finally:
        os.close(file)


def _read_sign(file: int) -> CrawlSign:
    for _ in range(20):
        try:
            sign = json.loads(os.pread(file, _SIGN_SIZE, 0))
            return CrawlSign(
                str(sign["crawl"]), int(sign["pid"]), Phase(sign["phase"]), int(sign["in_flight"])
            )
        except (ValueError, KeyError, TypeError):
            time.sleep(0.01)  # it is being written just now
    return CrawlSign("", 0)


def leave_order(state_file: Path, sign: CrawlSign, command: Command) -> None:
    """Leave an order for the crawl with this sign; it replaces one that was not taken. Raises `StateError`."""
    path = order_path(state_file)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with state_errors(path):
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.write(file, json.dumps({"crawl": sign.crawl, "command": command.value}).encode())
        finally:
            os.close(file)
        draft.rename(path)


@contextmanager
def state_errors(path: Path) -> Iterator[None]:
    """Raise `StateError`, which names the path, for what the system says of a file beside the states."""
    try:
        yield
    except OSError as error:
        raise StateError(f"cannot write {path}: {error.strerror or error}") from error
