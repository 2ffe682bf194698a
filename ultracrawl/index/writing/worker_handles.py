"""The two ways to an index process: as its parent, or by joining the one of another crawl."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress

from ultracrawl.errors import IndexStoreError

OWNED_ELSEWHERE_EXIT_CODE = 75
"""The exit code of an index process that found its index owned by another one."""
_LAST_BYTES = 2000
_ALLOCATOR = {
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": "1048576",
    "MALLOC_TRIM_THRESHOLD_": "4194304",
}
"""What the C library of Linux is told, unless the environment says otherwise: to give back memory that is free.

The buffers of a segment are large, and those of tantivy are made in several threads, each of which would keep its own.
"""
_staying: list[subprocess.Popen[bytes]] = []
"""Index processes that were started here, and that other crawls need still."""


class StartedWorker:
    """An index process that was started here: it ends when nobody hands anything over any more."""

    def __init__(self, config: str) -> None:
        """Start it. Raises `IndexStoreError` if the system starts none."""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the object
        self.others = 0
        """Other crawls that hand segments to it."""
        _staying[:] = [one for one in _staying if one.poll() is None]
        command = [sys.executable, "-m", "ultracrawl.index.writing.worker", config]
        try:
            self._worker = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                bufsize=0,
                env={**_ALLOCATOR, **os.environ},
            )
        except OSError as error:
            self._errors.close()
            why = error.strerror or error
            raise IndexStoreError(f"the index process cannot be started: {why}") from error
        assert self._worker.stdin is not None
        assert self._worker.stdout is not None
        self._input, self._output = self._worker.stdin, self._worker.stdout
        os.set_blocking(self._output.fileno(), False)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._worker.pid

    @property
    def has_ended(self) -> bool:
        """Whether it is gone."""
        return self._worker.poll() is not None

    @property
    def is_owned_elsewhere(self) -> bool:
        """Whether it ended because another process owns the index."""
        return self._worker.returncode == OWNED_ELSEWHERE_EXIT_CODE

    def send_line(self, line: bytes) -> None:
        """Send an order; that it is gone is noticed by who looks for answers."""
        with suppress(BrokenPipeError):
            self._input.write(line + b"\n")

    def receive(self) -> bytes:
        """Return what has come."""
        received = b""
        while data := self._output.read(65536):
            received += data
        return received

    def exit_reason(self) -> str:
        """Return why it ended, in one line."""
        code = self._worker.returncode
        how = f"killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _LAST_BYTES))
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"the index process was {how}" + (f": {lines[-1]}" if lines else "")

    def close(self, timeout: float) -> None:
        """Hand over nothing more; if no other crawl needs it, it ends, or is killed after `timeout` seconds."""
        self._input.close()
        if self.others and not self.has_ended:
            _staying.append(self._worker)
        else:
            try:
                self._worker.wait(self._wait_for_end(timeout))
            except subprocess.TimeoutExpired:
                self._worker.kill()
                self._worker.wait()
        self._output.close()
        self._errors.close()

    def _wait_for_end(self, timeout: float) -> float:
        """Wait until its output ends, which is when it does; returns what is left of the seconds.

        `Popen.wait` alone looks again and again, after up to 50 ms each time.
        """
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            if not select.select([self._output], [], [], left)[0] or not self._output.read(65536):
                break
        return max(0.0, left)


class JoinedWorker:
    """The index process of another crawl."""

    others = 0
    pid = 0
    is_owned_elsewhere = False

    def __init__(self, joined: socket.socket) -> None:
        self._socket = joined
        self.has_ended = False

    def send_line(self, line: bytes) -> None:
        """Send an order."""
        self._socket.setblocking(True)
        with suppress(OSError):
            self._socket.sendall(line + b"\n")

    def receive(self) -> bytes:
        """Return what has come."""
        self._socket.setblocking(False)
        received = b""
        while not self.has_ended:
            try:
                data = self._socket.recv(65536)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            self.has_ended = not data
            received += data
        return received

    def exit_reason(self) -> str:
        """Return why it ended, in one line."""
        return "the index process, which another crawl had started, has ended"

    def close(self, timeout: float) -> None:
        """Hand over nothing more."""
        self._socket.close()
