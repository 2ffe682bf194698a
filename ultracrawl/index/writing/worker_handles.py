"""Handles of an index process: one that was started here, or one of another crawl."""

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
"""Exit code of an index process if another process owns its index."""
_STDERR_TAIL = 2000
_MALLOC_SETTINGS = {
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": "1048576",
    "MALLOC_TRIM_THRESHOLD_": "4194304",
}
"""glibc malloc settings, unless set in the environment, that return free memory to the system.

The buffers of a segment are large, and tantivy allocates in several threads, each with an arena of its own.
"""
_left_running: list[subprocess.Popen[bytes]] = []
"""Index processes that were started here and that other crawls still need."""


class StartedWorker:
    """An index process that was started here; it ends when no crawl is connected."""

    def __init__(self, config: str) -> None:
        """Start the process. Raises `IndexStoreError` if that fails."""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the object
        self.other_crawls = 0
        """Number of other crawls that use the process."""
        _left_running[:] = [one for one in _left_running if one.poll() is None]
        command = [sys.executable, "-m", "ultracrawl.index.writing.worker", config]
        try:
            self._worker = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                bufsize=0,
                env={**_MALLOC_SETTINGS, **os.environ},
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
        """The process id."""
        return self._worker.pid

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return self._worker.poll() is not None

    @property
    def is_owned_elsewhere(self) -> bool:
        """Whether it ended because another process owns the index."""
        return self._worker.returncode == OWNED_ELSEWHERE_EXIT_CODE

    def send_line(self, line: bytes) -> None:
        """Send a line; a process that has ended is detected by `has_ended`."""
        with suppress(BrokenPipeError):
            self._input.write(line + b"\n")

    def receive(self) -> bytes:
        """Return the output received so far."""
        received = b""
        while data := self._output.read(65536):
            received += data
        return received

    def wait(self) -> None:
        """Wait for output, or the end of the process."""
        select.select([self._output], [], [])

    def exit_reason(self) -> str:
        """Return why the process ended, in one line."""
        code = self._worker.returncode
        how = f"killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _STDERR_TAIL))
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"the index process was {how}" + (f": {lines[-1]}" if lines else "")

    def close(self, timeout: float) -> None:
        """Close the input; a process that no other crawl needs is killed if it runs on for `timeout` seconds."""
        self._input.close()
        if self.other_crawls and not self.has_ended:
            _left_running.append(self._worker)
        else:
            try:
                self._worker.wait(self._wait_for_end(timeout))
            except subprocess.TimeoutExpired:
                self._worker.kill()
                self._worker.wait()
        self._output.close()
        self._errors.close()

    def _wait_for_end(self, timeout: float) -> float:
        """Wait until its output is closed, which is at its end; return the remaining seconds.

        `Popen.wait` with a timeout polls at intervals of up to 50 ms.
        """
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            if not select.select([self._output], [], [], left)[0] or not self._output.read(65536):
                break
        return max(0.0, left)


class JoinedWorker:
    """A connection to the index process of another crawl."""

    other_crawls = 0
    pid = 0
    is_owned_elsewhere = False

    def __init__(self, joined: socket.socket) -> None:
        self._socket = joined
        self.has_ended = False

    def send_line(self, line: bytes) -> None:
        """Send a line."""
        self._socket.setblocking(True)
        with suppress(OSError):
            self._socket.sendall(line + b"\n")

    def receive(self) -> bytes:
        """Return the output received so far."""
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

    def wait(self) -> None:
        """Wait for output, or the end of the process."""
        select.select([self._socket], [], [])

    def exit_reason(self) -> str:
        """Return why it ended, in one line."""
        return "the index process, which another crawl had started, has ended"

    def close(self, timeout: float) -> None:
        """Close the connection."""
        self._socket.close()
